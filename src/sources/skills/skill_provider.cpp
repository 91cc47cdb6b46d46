/// The provider of skills held in memory, which a program may add and remove.

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>

#include <hondana/skill_provider.hpp>

#include "sources/skills/skill_collection.hpp"
#include "sources/skills/skill_paths.hpp"
#include "text/secrets/redactor.hpp"
#include "text/secrets/scanner.hpp"

namespace hondana::inline v0 {
namespace {

/// A file with its digest and metadata. Bytes are shared, so that a change of the set does not copy them.
struct stored_file {
  shared_bytes bytes;
  std::shared_ptr<const skills::file_summary> summary;
  metadata redaction_metadata;
};

/// By path below the skill's folder.
using stored_files = std::map<std::string, stored_file>;

/// Whether a path has no NUL and no segment that is empty, `.` or `..`.
bool is_normalized_path(std::string_view path) {
  if (path.empty() || path.find('\0') != std::string_view::npos) return false;
  for (;;) {
    const auto slash = path.find('/');
    const auto name = path.substr(0, slash);
    if (name.empty() || name == "." || name == "..") return false;
    if (slash == std::string_view::npos) return true;
    path.remove_prefix(slash + 1);
  }
}

}  // namespace

struct skill_provider::state {
  std::string name;
  std::string prefix;

  std::mutex change_mutex;                           // held during a whole change; locked before `mutex`
  std::map<std::string, stored_files> added_skills;  // by path of the skill

  mutable std::mutex mutex;
  std::map<std::string, stored_file> files_by_path;  // by path, including the prefix
  std::shared_ptr<const skills::collection> collection;
  std::shared_ptr<change_listener> listener;

  [[nodiscard]] std::string with_prefix(const std::string& path) const { return prefix.empty() ? path : prefix + '/' + path; }

  [[nodiscard]] std::shared_ptr<const skills::collection> current() const {
    const std::lock_guard lock(mutex);
    return collection;
  }

  /// Builds a new collection of skills. Replaces the present one only if every skill can be served. Errors: invalid_argument.
  result<void> replace(std::map<std::string, stored_files> next) {
    std::vector<skills::candidate_file> candidates;
    std::map<std::string, stored_file> new_files;
    for (const auto& [skill, files] : next) {
      for (const auto& [below, file] : files) {
        const auto path = with_prefix(skill + '/' + below);
        if (!new_files.emplace(path, file).second) {
          return fail(errc::invalid_argument, "The file " + path + " is in two skills. Remove it from one of them.");
        }
        candidates.push_back({path, file.bytes->size(), {}});
      }
    }
    auto built = skills::collection::build(
        prefix, std::move(candidates),
        [&new_files](const skills::candidate_file& file) -> result<std::shared_ptr<const skills::file_summary>> {
          return new_files.at(file.path).summary;
        });
    if (!built) return tl::unexpected(std::move(built.error()));
    if (const auto& out = (*built)->omitted(); !out.empty()) {
      return fail(errc::invalid_argument, "The skill " + out.front().path + " cannot be served: " + out.front().reason + '.');
    }
    added_skills = std::move(next);
    std::unique_lock lock(mutex);
    files_by_path.swap(new_files);
    const auto previous = std::exchange(collection, *built);
    const auto observer = listener;
    lock.unlock();
    if (observer) (*built)->notify_changes_since(*previous, *observer);
    return {};
  }
};

skill_provider::skill_provider(std::string name, std::string prefix) : state_(std::make_unique<state>()) {
  state_->name = std::move(name);
  state_->prefix = std::move(prefix);
  state_->collection = *skills::collection::build(
      state_->prefix, {}, [](const skills::candidate_file&) -> result<std::shared_ptr<const skills::file_summary>> {
        return fail(errc::resource_not_found, "Unknown file.");
      });
}

skill_provider::~skill_provider() = default;

result<void> skill_provider::add(const std::string& path, files content) {
  if (!is_normalized_path(path)) {
    return fail(errc::invalid_argument, "The path of a skill cannot be \"" + path + "\". Write names separated by /.");
  }
  stored_files stored;
  for (auto& [below, bytes] : content) {
    if (!is_normalized_path(below)) {
      return fail(errc::invalid_argument, "The skill " + path + " cannot have a file \"" + below +
                                              "\". Write its path below the skill's folder, with names separated by /.");
    }
    auto redactions = secrets::redaction_metadata(secrets::redactor(secrets::policy_of(below), bytes).mask(bytes));
    auto summary = std::make_shared<const skills::file_summary>(skills::summarize(below, bytes));
    if (!stored
             .emplace(below, stored_file{std::make_shared<const std::string>(std::move(bytes)), std::move(summary),
                                         std::move(redactions)})
             .second) {
      return fail(errc::invalid_argument, "The skill " + path + " has the file " + below + " twice.");
    }
  }
  if (!stored.contains(std::string(skills::skill_file_name))) {
    return fail(errc::invalid_argument, "The skill " + path + " has no SKILL.md. Add one.");
  }
  const std::lock_guard change_lock(state_->change_mutex);
  auto next = state_->added_skills;
  next.insert_or_assign(path, std::move(stored));
  return state_->replace(std::move(next));
}

bool skill_provider::remove(const std::string& path) {
  const std::lock_guard change_lock(state_->change_mutex);
  auto next = state_->added_skills;
  return next.erase(path) != 0 && state_->replace(std::move(next)).has_value();
}

std::string skill_provider::name() const { return state_->name; }

std::vector<std::string> skill_provider::claims() const { return {skills::uri_prefix(state_->prefix)}; }

scheme_documentation skill_provider::documentation() const { return skills::describe_scheme(); }

result<list_result> skill_provider::list(const list_request& request) { return state_->current()->list(request); }

result<read_result> skill_provider::read(const read_request& request) {
  std::unique_lock lock(state_->mutex);
  const auto now = state_->collection;
  const auto* path = now->path_of(request.uri);
  const auto file = path == nullptr ? stored_file() : state_->files_by_path.at(*path);
  lock.unlock();
  if (path == nullptr && now->is_folder(request.uri)) return now->read_folder(request);
  if (path == nullptr) return skills::file_not_found(request.uri);
  resource_content item;
  item.name = skills::last_name(*path);
  item.mime_type = skills::type_of(*path);
  item.data = file.bytes;
  item.metadata = file.redaction_metadata;
  read_result answer;
  answer.version = file.summary->digest;
  answer.contents.push_back(std::move(item));
  return answer;
}

provider_traits skill_provider::traits() const noexcept { return {.masking = secret_masking::by_source}; }

result<resource> skill_provider::describe(const describe_request& request) { return state_->current()->describe(request); }

result<list_result> skill_provider::children(const children_request& request) { return state_->current()->children(request); }

result<skills_result> skill_provider::skills(const list_request& request) { return state_->current()->skills(request); }

result<skill> skill_provider::find_skill(const skill_request& request) { return state_->current()->find_skill(request); }

void skill_provider::set_listener(std::shared_ptr<change_listener> listener) {
  const std::lock_guard lock(state_->mutex);
  state_->listener = std::move(listener);
}

}  // namespace hondana::inline v0
