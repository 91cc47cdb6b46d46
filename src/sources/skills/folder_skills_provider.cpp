/// The provider that serves folders of skills: its calls, the contents of files, and its configuration.
#include "sources/skills/folder_skills_provider.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>

#include <hondana/clock.hpp>
#include <hondana/provider.hpp>
#include <hondana/uri.hpp>

#include "base/bytes/prepared_content.hpp"
#include "base/bytes/sha256.hpp"
#include "sources/config/section.hpp"
#include "sources/skills/skill_folder.hpp"
#include "sources/skills/skill_paths.hpp"
#include "text/secrets/masking_reader.hpp"
#include "text/secrets/scanner.hpp"

namespace hondana::skills {

/// Reads up to 1 MiB at once. A larger file becomes a reader, whose consumer makes two passes and compares them.
/// Errors: response_too_large, content_changed, source_unavailable.
[[nodiscard]] result<content> content_of(opened_file file, std::string_view path, const read_request& request);

namespace {

constexpr std::uint64_t whole_bytes = 1u << 20;

tl::unexpected<failure> changed() {
  return fail(errc::content_changed, "The file changed while it was being read. Read it again.");
}

/// Reads a file up to the size that it had when it was opened.
class file_reader final : public byte_reader {
 public:
  explicit file_reader(opened_file file) noexcept : file_(std::move(file)) {}

  [[nodiscard]] std::uint64_t size() const noexcept override { return file_.state.size; }
  [[nodiscard]] result<std::size_t> read(std::span<char> into) override {
    const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(into.size(), size() - done_));
    HONDANA_TRY(const auto count, read_at(file_.file.get(), into.first(wanted), done_));
    if (count < wanted) return changed();
    done_ += count;
    return count;
  }
  [[nodiscard]] result<void> rewind() override {
    done_ = 0;
    return {};
  }

 private:
  opened_file file_;
  std::uint64_t done_ = 0;
};

/// Reads the whole file once. Errors: content_changed when its stamp differs afterwards, source_unavailable.
result<std::string> read_whole(const opened_file& file) {
  std::string bytes(file.state.size, '\0');
  HONDANA_TRY(const auto count, read_at(file.file.get(), bytes, 0));
  struct stat after{};
  if (count < bytes.size() || ::fstat(file.file.get(), &after) != 0 || disk::stamp_of(after) != file.state) return changed();
  return bytes;
}

}  // namespace

result<content> content_of(opened_file file, std::string_view path, const read_request& request) {
  if (file.state.size > request.max_bytes) {
    return tl::unexpected(bytes::too_large(request.asked_uri, file.state.size, request.max_bytes, false));
  }
  content item;
  item.name = last_name(path);
  item.mimeType = type_of(path);
  if (file.state.size > whole_bytes) {
    const bool masks = file.masks;
    std::shared_ptr<byte_reader> reader = std::make_shared<file_reader>(std::move(file));
    if (masks) reader = std::make_shared<secrets::masking_reader>(std::move(reader), secrets::policy_of(path));
    item.data = std::move(reader);
    return item;
  }
  auto bytes = read_whole(file);
  // A change in the same clock tick does not show in the stamp. A second read must return the same bytes.
  if (bytes && is_racy(file.state, disk::wall_clock())) {
    HONDANA_TRY(const auto again, read_whole(file));
    if (again != *bytes) return changed();
  }
  if (!bytes) return tl::unexpected(std::move(bytes.error()));
  if (file.masks) item.metadata = secrets::facts_of(secrets::redactor(secrets::policy_of(path), *bytes).mask(*bytes));
  item.data = std::make_shared<const std::string>(std::move(*bytes));
  return item;
}

result<std::shared_ptr<provider>> configure(config::section& from, const std::function<void(std::string_view)>& log) {
  const auto path = from.string("path");
  if (!path) return tl::unexpected(path.error());
  auto paths = from.strings("paths");
  if (!paths) return tl::unexpected(std::move(paths.error()));
  if (*path) paths->push_back(**path);
  if (paths->empty()) return tl::unexpected(from.wrong("path", "missing; name the folder that contains the skills"));
  for (auto& one : *paths) one = from.path_from(one);
  HONDANA_TRY(const auto prefix, from.string("prefix"));
  HONDANA_TRY(const auto watches, from.boolean("watch"));
  HONDANA_TRY(const auto redact, from.boolean("redact"));
  HONDANA_TRY(from.finish());
  HONDANA_TRY(auto opened, folder_skills::open(prefix.value_or(""), *paths, log, watches.value_or(true), redact.value_or(true),
                                               from.kept_back()));
  return std::shared_ptr<provider>(std::move(opened));
}

namespace {

/// How long `describe` trusts the last scan for a folder. Clients that were just notified of a change call it.
constexpr std::chrono::milliseconds told_lately{100};

std::string numbered(std::size_t count, const char* what) { return std::to_string(count) + ' ' + what; }

tl::unexpected<failure> no_such_file() { return fail(errc::resource_not_found, "No skill has this file."); }

}  // namespace

folder_skills::folder_skills(const std::string& prefix, std::vector<folder> folders, std::function<void(std::string_view)> log,
                             bool watches, bool masks)
    : claim_(claim_of(prefix)), shelf_(std::make_shared<shelf>(prefix, std::move(folders), log, masks)) {
  if (!watches) return;
  std::vector<std::string> paths;
  for (const auto& one : shelf_->folders()) paths.push_back(one.path());
  watch::lookout_options with;
  with.what = "the skills";
  with.log = std::move(log);
  const auto look = [of = std::weak_ptr(shelf_)](const call& by, const watch::lookout::trees&) {
    const auto there = of.lock();
    return !there || there->refreshed(by).has_value();  // the next caller gets the error
  };
  watching_ = std::make_unique<watch::lookout>(std::move(paths), look, std::move(with));
  // Captures only the coverer, not the watcher: a thread that is in a walk must not become the watcher's last owner.
  shelf_->cover_with(watching_->coverer());
}

folder_skills::~folder_skills() { shelf_->be_silent(); }

result<std::shared_ptr<folder_skills>> folder_skills::open(const std::string& prefix, const std::vector<std::string>& paths,
                                                           std::function<void(std::string_view)> log, bool watches, bool masks,
                                                           const std::vector<std::string>& kept_back) {
  const auto canonical = canonical_uri(claim_of(prefix));
  const bool is_slug_first = prefix.empty() || is_slug(prefix.substr(0, prefix.find('/')));
  if (!canonical || *canonical != claim_of(prefix) || !is_slug_first || prefix.ends_with('/') ||
      prefix.find("//") != std::string::npos) {
    return fail(errc::invalid_argument, "The prefix \"" + prefix +
                                            "\" cannot begin the path of a skill. Write names separated by single slashes, "
                                            "such as acme/billing; the first may contain only a-z, 0-9 and -.");
  }
  if (paths.empty()) return fail(errc::invalid_argument, "No folder of skills was given. Give the path of one.");
  std::vector<folder> folders;
  for (const auto& path : paths) {
    HONDANA_TRY(auto one, folder::open(path, kept_back));
    folders.push_back(std::move(one));
  }
  return std::shared_ptr<folder_skills>(new folder_skills(prefix, std::move(folders), std::move(log), watches, masks));
}

result<list_result> folder_skills::list(const list_request& request) {
  return refreshed(request).map([&request](const auto& now) { return now->list(request); });
}

result<list_result> folder_skills::children(const children_request& request) {
  return refreshed(request).and_then([&request](const auto& now) { return now->children(request); });
}

result<skills_result> folder_skills::skills(const list_request& request) {
  return refreshed(request).map([&request](const auto& now) { return now->skills(request); });
}

result<skill> folder_skills::find_skill(const skill_request& request) {
  return refreshed(request).and_then([&request](const auto& now) { return now->find_skill(request); });
}

result<reading> folder_skills::read(const read_request& request) {
  auto known = shelf_->latest();
  const std::string* path = known ? known->path_of(request.uri) : nullptr;
  if (path == nullptr) {
    // Requests for unknown names may be many, and a scan for each would be expensive.
    if (known && !is_there(*known, request.uri)) return no_such_file();
    HONDANA_TRY(auto now, refreshed(request));
    known = std::move(now);
    path = known->path_of(request.uri);
  }
  if (path == nullptr && known->is_folder(request.uri)) return known->read_folder(request);
  if (path == nullptr) return no_such_file();
  HONDANA_TRY(auto file, shelf_->open_file(*path));
  const auto state = file.state;
  HONDANA_TRY(auto item, content_of(std::move(file), *path, request));
  reading answer;
  if (const auto* whole = std::get_if<shared_bytes>(&item.data)) {
    bytes::sha256 digest;
    digest.feed(**whole);
    answer.version = digest.finish();
  } else {
    answer.version = digest_of(*path, state, request);
    if (!answer.version.empty() && answer.version == request.if_version) return reading{{}, std::move(answer.version)};
  }
  answer.contents.push_back(std::move(item));
  return answer;
}

bool folder_skills::is_there(const collection& known, const std::string& uri) const {
  if (known.path_of(uri) != nullptr || known.is_folder(uri)) return true;
  constexpr std::string_view scheme = "skill://";
  if (!uri.starts_with(scheme)) return false;
  const auto path = percent_decode(std::string_view(uri).substr(scheme.size()));
  return path && shelf_->may_hold(*path);
}

bool folder_skills::is_as_known(const collection& known, const resource& entry) const {
  const auto* path = known.path_of(entry.uri);
  if (path == nullptr) return monotonic_clock::now() - shelf_->looked_at_last() < told_lately;
  const auto file = shelf_->open_file(*path);
  return file && shelf_->digest_of(*path, file->state) == entry.version;
}

result<resource> folder_skills::describe(const describe_request& request) {
  if (const auto known = shelf_->latest()) {
    if (!is_there(*known, request.uri)) return no_such_file();
    auto entry = known->describe(request);
    if (entry && is_as_known(*known, *entry)) return entry;
  }
  return refreshed(request).and_then([&request](const auto& now) { return now->describe(request); });
}

std::string folder_skills::digest_of(const std::string& path, const disk::stamp& state, const call& by) {
  auto digest = shelf_->digest_of(path, state);
  if (!digest.empty() || is_racy(state, disk::wall_clock())) return digest;
  // The file was digested too soon after a change, or has changed since. Read it again.
  return refreshed(by) ? shelf_->digest_of(path, state) : digest;
}

result<void> folder_skills::survey(const call& request, const std::function<void(const survey_item&)>& each) {
  return refreshed(request).map([&each](const auto& now) { now->survey(each); });
}

void folder_skills::watch(std::shared_ptr<change_listener> to) {
  has_listener_ = to != nullptr;
  shelf_->watch(std::move(to));
}

void folder_skills::attach(const std::string&) {
  if (watching_ && has_listener_) watching_->start();
}

void folder_skills::attach_list() {
  if (!watching_ || !has_listener_) return;
  shelf_->attach_list();
  watching_->start();
}

result<std::shared_ptr<const collection>> folder_skills::refreshed(const call& by) {
  if (watching_ && has_listener_) watching_->start();
  return shelf_->refreshed(by);
}

hondana::masking folder_skills::masking() const noexcept { return shelf_->masks() ? masking::by_source : masking::none; }

hondana::needs folder_skills::needs() const {
  hondana::needs all;
  for (const auto& one : shelf_->folders()) all.folders.push_back({one.path(), false});
  return all;
}

hondana::health folder_skills::health() const {
  const auto now = shelf_->latest();
  if (!now) return {true, "not read yet"};
  std::size_t missing = 0;
  for (const auto& one : now->what_is_left_out()) missing += one.is_skill ? 1 : 0;
  return {true, numbered(now->size(), "skills") + (missing == 0 ? "" : ", " + numbered(missing, "left out"))};
}

}  // namespace hondana::skills
