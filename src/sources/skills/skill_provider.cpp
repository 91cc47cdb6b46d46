/// The provider of skills held in memory, which a program may add and remove.

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>

#include <hondana/skills.hpp>

#include "sources/skills/skill_collection.hpp"
#include "sources/skills/skill_paths.hpp"
#include "text/secrets/redactor.hpp"
#include "text/secrets/scanner.hpp"

namespace hondana::inline v0 {
namespace {

/// A file with its digest and metadata. Bytes are shared, so that a change of the set does not copy them.
struct kept_file {
  shared_bytes bytes;
  std::shared_ptr<const skills::looked_at> known;
  metadata facts;
};

/// By path below the skill's folder.
using kept_files = std::map<std::string, kept_file>;

/// Whether a path has no NUL and no segment that is empty, `.` or `..`.
bool is_plain_path(std::string_view path) {
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

  std::mutex changing;                      // held during a whole change; locked before `mutex`
  std::map<std::string, kept_files> added;  // by path of the skill

  mutable std::mutex mutex;
  std::map<std::string, kept_file> by_path;  // by path, including the prefix
  std::shared_ptr<const skills::collection> arranged;
  std::shared_ptr<change_listener> listener;

  [[nodiscard]] std::string with_prefix(const std::string& path) const { return prefix.empty() ? path : prefix + '/' + path; }

  [[nodiscard]] std::shared_ptr<const skills::collection> current() const {
    const std::lock_guard lock(mutex);
    return arranged;
  }

  /// Arranges a new set of skills. Replaces the present one only if every skill can be served. Errors: invalid_argument.
  result<void> exchange(std::map<std::string, kept_files> next) {
    std::vector<skills::found_file> found;
    std::map<std::string, kept_file> all;
    for (const auto& [skill, files] : next) {
      for (const auto& [below, file] : files) {
        const auto path = with_prefix(skill + '/' + below);
        if (!all.emplace(path, file).second) {
          return fail(errc::invalid_argument, "The file " + path + " is in two skills. Remove it from one of them.");
        }
        found.push_back({path, file.bytes->size(), {}});
      }
    }
    auto made = skills::collection::arrange(
        prefix, std::move(found), [&all](const skills::found_file& file) -> result<std::shared_ptr<const skills::looked_at>> {
          return all.at(file.path).known;
        });
    if (!made) return tl::unexpected(std::move(made.error()));
    if (const auto& out = (*made)->what_is_left_out(); !out.empty()) {
      return fail(errc::invalid_argument, "The skill " + out.front().path + " cannot be served: " + out.front().reason + '.');
    }
    added = std::move(next);
    std::unique_lock lock(mutex);
    by_path.swap(all);
    const auto before = std::exchange(arranged, *made);
    const auto to = listener;
    lock.unlock();
    if (to) (*made)->tell_changes_since(*before, *to);
    return {};
  }
};

skill_provider::skill_provider(std::string name, std::string prefix) : state_(std::make_unique<state>()) {
  state_->name = std::move(name);
  state_->prefix = std::move(prefix);
  state_->arranged = *skills::collection::arrange(
      state_->prefix, {}, [](const skills::found_file&) -> result<std::shared_ptr<const skills::looked_at>> {
        return fail(errc::resource_not_found, "Unknown file.");
      });
}

skill_provider::~skill_provider() = default;

result<void> skill_provider::add(const std::string& path, files content) {
  if (!is_plain_path(path)) {
    return fail(errc::invalid_argument, "The path of a skill cannot be \"" + path + "\". Write names separated by /.");
  }
  kept_files kept;
  for (auto& [below, bytes] : content) {
    if (!is_plain_path(below)) {
      return fail(errc::invalid_argument, "The skill " + path + " cannot have a file \"" + below +
                                              "\". Write its path below the skill's folder, with names separated by /.");
    }
    auto facts = secrets::facts_of(secrets::redactor(secrets::policy_of(below), bytes).mask(bytes));
    auto known = std::make_shared<const skills::looked_at>(skills::look_at(below, bytes));
    if (!kept.emplace(below,
                      kept_file{std::make_shared<const std::string>(std::move(bytes)), std::move(known), std::move(facts)})
             .second) {
      return fail(errc::invalid_argument, "The skill " + path + " has the file " + below + " twice.");
    }
  }
  if (!kept.contains(std::string(skills::skill_file_name))) {
    return fail(errc::invalid_argument, "The skill " + path + " has no SKILL.md. Add one.");
  }
  const std::lock_guard one_change(state_->changing);
  auto next = state_->added;
  next.insert_or_assign(path, std::move(kept));
  return state_->exchange(std::move(next));
}

bool skill_provider::remove(const std::string& path) {
  const std::lock_guard one_change(state_->changing);
  auto next = state_->added;
  return next.erase(path) != 0 && state_->exchange(std::move(next)).has_value();
}

std::string skill_provider::name() const { return state_->name; }

std::vector<std::string> skill_provider::claims() const { return {skills::claim_of(state_->prefix)}; }

scheme_documentation skill_provider::documentation() const { return skills::describe(); }

result<list_result> skill_provider::list(const list_request& request) { return state_->current()->list(request); }

result<reading> skill_provider::read(const read_request& request) {
  std::unique_lock lock(state_->mutex);
  const auto now = state_->arranged;
  const auto* path = now->path_of(request.uri);
  const auto found = path == nullptr ? kept_file() : state_->by_path.at(*path);
  lock.unlock();
  if (path == nullptr && now->is_folder(request.uri)) return now->read_folder(request);
  if (path == nullptr) return fail(errc::resource_not_found, "No skill has this file.");
  content item;
  item.name = skills::last_name(*path);
  item.mimeType = skills::type_of(*path);
  item.data = found.bytes;
  item.metadata = found.facts;
  reading answer;
  answer.version = found.known->digest;
  answer.contents.push_back(std::move(item));
  return answer;
}

hondana::masking skill_provider::masking() const noexcept { return masking::by_source; }

result<resource> skill_provider::describe(const describe_request& request) { return state_->current()->describe(request); }

bool skill_provider::lists_folders() const noexcept { return true; }

result<list_result> skill_provider::children(const children_request& request) { return state_->current()->children(request); }

bool skill_provider::has_skills() const noexcept { return true; }

result<skills_result> skill_provider::skills(const list_request& request) { return state_->current()->skills(request); }

result<skill> skill_provider::find_skill(const skill_request& request) { return state_->current()->find_skill(request); }

void skill_provider::watch(std::shared_ptr<change_listener> to) {
  const std::lock_guard lock(state_->mutex);
  state_->listener = std::move(to);
}

}  // namespace hondana::inline v0
