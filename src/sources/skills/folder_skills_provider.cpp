/// The provider that serves folders of skills: its calls, the contents of files, and its configuration.
#include "sources/skills/folder_skills_provider.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>

#include <hondana/capabilities.hpp>
#include <hondana/clock.hpp>
#include <hondana/provider.hpp>
#include <hondana/uri.hpp>

#include "base/bytes/prepared_content.hpp"
#include "base/bytes/sha256.hpp"
#include "os/disk/whole_file.hpp"
#include "sources/config/section.hpp"
#include "sources/skills/skill_folder.hpp"
#include "sources/skills/skill_paths.hpp"
#include "text/secrets/masking_reader.hpp"
#include "text/secrets/scanner.hpp"

namespace hondana::skills {

/// Reads up to 1 MiB at once. A larger file becomes a reader, whose consumer makes two passes and compares them.
/// Errors: response_too_large, content_changed, source_unavailable.
[[nodiscard]] result<resource_content> read_content(opened_file file, std::string_view path, const read_request& request);

namespace {

constexpr std::uint64_t max_buffered_bytes = 1u << 20;

tl::unexpected<failure> changed_error() {
  return fail(errc::content_changed, "The file changed while it was being read. Read it again.");
}

/// Reads a file up to the size that it had when it was opened.
class file_reader final : public byte_reader {
 public:
  explicit file_reader(opened_file file) noexcept : file_(std::move(file)) {}

  [[nodiscard]] std::uint64_t size() const noexcept override { return file_.stamp.size; }
  [[nodiscard]] result<std::size_t> read(std::span<char> buffer) override {
    const auto expected = static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), size() - offset_));
    HONDANA_TRY(const auto count, read_at(file_.file.get(), buffer.first(expected), offset_));
    if (count < expected) return changed_error();
    offset_ += count;
    return count;
  }
  [[nodiscard]] result<void> rewind() override {
    offset_ = 0;
    return {};
  }

 private:
  opened_file file_;
  std::uint64_t offset_ = 0;
};

/// Reads the whole file once. Errors: content_changed when its stamp differs afterwards, source_unavailable.
result<std::string> read_all(const opened_file& file) {
  auto whole = disk::read_whole(file.file.get(), file.stamp.size);
  if (!whole) return read_failure(whole.error());
  if (!whole->is_complete() || whole->state != file.stamp) return changed_error();
  return std::move(whole->bytes);
}

}  // namespace

result<resource_content> read_content(opened_file file, std::string_view path, const read_request& request) {
  if (file.stamp.size > request.max_bytes) {
    return tl::unexpected(bytes::too_large_error(request.requested_uri, file.stamp.size, request.max_bytes, false));
  }
  resource_content item;
  item.name = last_name(path);
  item.mime_type = type_of(path);
  if (file.stamp.size > max_buffered_bytes) {
    const bool masks = file.masks;
    std::shared_ptr<byte_reader> reader = std::make_shared<file_reader>(std::move(file));
    if (masks) reader = std::make_shared<secrets::masking_reader>(std::move(reader), secrets::policy_of(path));
    item.data = std::move(reader);
    return item;
  }
  auto bytes = read_all(file);
  // A change in the same clock tick does not show in the stamp. A second read must return the same bytes.
  if (bytes && is_racy(file.stamp, disk::wall_clock())) {
    HONDANA_TRY(const auto second, read_all(file));
    if (second != *bytes) return changed_error();
  }
  if (!bytes) return tl::unexpected(std::move(bytes.error()));
  if (file.masks) item.metadata = secrets::redaction_metadata(secrets::redactor(secrets::policy_of(path), *bytes).mask(*bytes));
  item.data = std::make_shared<const std::string>(std::move(*bytes));
  return item;
}

result<std::shared_ptr<provider>> configure(config::section& section, const std::function<void(std::string_view)>& log) {
  const auto path = section.string("path");
  if (!path) return tl::unexpected(path.error());
  auto paths = section.strings("paths");
  if (!paths) return tl::unexpected(std::move(paths.error()));
  if (*path) paths->push_back(**path);
  if (paths->empty()) return tl::unexpected(section.error_at("path", "missing; name the folder that contains the skills"));
  for (auto& folder_path : *paths) folder_path = section.resolve_path(folder_path);
  HONDANA_TRY(const auto prefix, section.string("prefix"));
  HONDANA_TRY(const auto watches, section.boolean("watch"));
  HONDANA_TRY(const auto redact, section.boolean("redact"));
  HONDANA_TRY(section.finish());
  HONDANA_TRY(auto opened, folder_skills_provider::open(prefix.value_or(""), *paths, log, watches.value_or(true),
                                                        redact.value_or(true), section.own_files()));
  return std::shared_ptr<provider>(std::move(opened));
}

namespace {

/// How long `describe` trusts the last scan for a folder. Clients that were just notified of a change call it.
constexpr std::chrono::milliseconds freshness_ttl{100};

std::string count_text(std::size_t count, const char* noun) { return std::to_string(count) + ' ' + noun; }

}  // namespace

folder_skills_provider::folder_skills_provider(const std::string& prefix, std::vector<folder> folders,
                                               std::function<void(std::string_view)> log, bool watches, bool masks)
    : uri_prefix_(uri_prefix(prefix)), cache_(std::make_shared<collection_cache>(prefix, std::move(folders), log, masks)) {
  if (!watches) return;
  std::vector<std::string> paths;
  for (const auto& folder : cache_->folders()) paths.push_back(folder.path());
  watch::watcher_options watcher_options;
  watcher_options.subject = "the skills";
  watcher_options.log = std::move(log);
  const auto rescan = [weak_cache = std::weak_ptr(cache_)](const request_context& request,
                                                           const watch::folder_watcher::trees&) {
    const auto locked = weak_cache.lock();
    return !locked || locked->refresh(request).has_value();  // the next caller gets the error
  };
  watcher_ = std::make_unique<watch::folder_watcher>(std::move(paths), rescan, std::move(watcher_options));
  // Passes a handle, not the watcher itself: a thread that is in a walk must not become the watcher's last owner.
  cache_->set_folder_listener(watcher_->folder_adder());
}

folder_skills_provider::~folder_skills_provider() { cache_->disable_log(); }

result<std::shared_ptr<folder_skills_provider>> folder_skills_provider::open(const std::string& prefix,
                                                                             const std::vector<std::string>& paths,
                                                                             std::function<void(std::string_view)> log,
                                                                             bool watches, bool masks,
                                                                             const std::vector<std::string>& own_files) {
  const auto canonical = canonical_uri(uri_prefix(prefix));
  const bool is_slug_first = prefix.empty() || is_slug(prefix.substr(0, prefix.find('/')));
  if (!canonical || *canonical != uri_prefix(prefix) || !is_slug_first || prefix.ends_with('/') ||
      prefix.find("//") != std::string::npos) {
    return fail(errc::invalid_argument, "The prefix \"" + prefix +
                                            "\" cannot begin the path of a skill. Write names separated by single slashes, "
                                            "such as acme/billing; the first may contain only a-z, 0-9 and -.");
  }
  if (paths.empty()) return fail(errc::invalid_argument, "No folder of skills was given. Give the path of one.");
  std::vector<folder> folders;
  for (const auto& path : paths) {
    HONDANA_TRY(auto opened, folder::open(path, own_files));
    folders.push_back(std::move(opened));
  }
  return std::shared_ptr<folder_skills_provider>(
      new folder_skills_provider(prefix, std::move(folders), std::move(log), watches, masks));
}

result<list_result> folder_skills_provider::list(const list_request& request) {
  return refresh(request).map([&request](const auto& collection) { return collection->list(request); });
}

result<list_result> folder_skills_provider::children(const children_request& request) {
  return refresh(request).and_then([&request](const auto& collection) { return collection->children(request); });
}

result<skills_result> folder_skills_provider::skills(const list_request& request) {
  return refresh(request).map([&request](const auto& collection) { return collection->skills(request); });
}

result<skill> folder_skills_provider::find_skill(const skill_request& request) {
  return refresh(request).and_then([&request](const auto& collection) { return collection->find_skill(request); });
}

result<read_result> folder_skills_provider::read(const read_request& request) {
  auto known = cache_->latest();
  const std::string* path = known ? known->path_of(request.uri) : nullptr;
  if (path == nullptr) {
    // Requests for unknown names may be many, and a scan for each would be expensive.
    if (known && !exists(*known, request.uri)) return file_not_found(request.uri);
    HONDANA_TRY(auto newest, refresh(request));
    known = std::move(newest);
    path = known->path_of(request.uri);
  }
  if (path == nullptr && known->is_folder(request.uri)) return known->read_folder(request);
  if (path == nullptr) return file_not_found(request.uri);
  HONDANA_TRY(auto file, cache_->open_file(*path));
  const auto stamp = file.stamp;
  HONDANA_TRY(auto item, read_content(std::move(file), *path, request));
  read_result answer;
  if (const auto* loaded = std::get_if<shared_bytes>(&item.data)) {
    bytes::sha256 digest;
    digest.update(**loaded);
    answer.version = digest.finish();
  } else {
    answer.version = digest_of(*path, stamp, request);
    if (!answer.version.empty() && answer.version == request.cached_version) return read_result{{}, std::move(answer.version)};
  }
  answer.contents.push_back(std::move(item));
  return answer;
}

bool folder_skills_provider::exists(const collection& collection, const std::string& uri) const {
  if (collection.path_of(uri) != nullptr || collection.is_folder(uri)) return true;
  constexpr std::string_view scheme = "skill://";
  if (!uri.starts_with(scheme)) return false;
  const auto path = percent_decode(std::string_view(uri).substr(scheme.size()));
  return path && cache_->may_contain(*path);
}

bool folder_skills_provider::is_current(const collection& collection, const resource& entry) const {
  const auto* path = collection.path_of(entry.uri);
  if (path == nullptr) return monotonic_clock::now() - cache_->last_checked_at() < freshness_ttl;
  const auto file = cache_->open_file(*path);
  return file && cache_->digest_of(*path, file->stamp) == entry.version;
}

result<resource> folder_skills_provider::describe(const describe_request& request) {
  if (const auto known = cache_->latest()) {
    if (!exists(*known, request.uri)) return file_not_found(request.uri);
    auto entry = known->describe(request);
    if (entry && is_current(*known, *entry)) return entry;
  }
  return refresh(request).and_then([&request](const auto& collection) { return collection->describe(request); });
}

std::string folder_skills_provider::digest_of(const std::string& path, const disk::stamp& stamp,
                                              const request_context& request) {
  auto digest = cache_->digest_of(path, stamp);
  if (!digest.empty() || is_racy(stamp, disk::wall_clock())) return digest;
  // The file was digested too soon after a change, or has changed since. Read it again.
  return refresh(request) ? cache_->digest_of(path, stamp) : digest;
}

result<void> folder_skills_provider::inventory(const request_context& request,
                                               const std::function<void(const inventory_item&)>& visitor) {
  return refresh(request).map([&visitor](const auto& collection) { collection->inventory(visitor); });
}

void folder_skills_provider::set_listener(std::shared_ptr<change_listener> listener) {
  has_listener_ = listener != nullptr;
  cache_->set_listener(std::move(listener));
}

void folder_skills_provider::watch(const std::string&) {
  if (watcher_ && has_listener_) watcher_->start();
}

void folder_skills_provider::watch_list() {
  if (!watcher_ || !has_listener_) return;
  cache_->watch_list();
  watcher_->start();
}

result<std::shared_ptr<const collection>> folder_skills_provider::refresh(const request_context& request) {
  if (watcher_ && has_listener_) watcher_->start();
  return cache_->refresh(request);
}

provider_traits folder_skills_provider::traits() const noexcept {
  return {.masking = cache_->masks() ? secret_masking::by_source : secret_masking::none};
}

hondana::system_requirements folder_skills_provider::requirements() const {
  hondana::system_requirements requirements;
  for (const auto& folder : cache_->folders()) requirements.folders.push_back({folder.path(), false});
  return requirements;
}

hondana::provider_health folder_skills_provider::health() const {
  const auto now = cache_->latest();
  if (!now) return {true, "not read yet"};
  std::size_t missing = 0;
  for (const auto& entry : now->omitted()) missing += entry.is_skill ? 1 : 0;
  return {true, count_text(now->size(), "skills") + (missing == 0 ? "" : ", " + count_text(missing, "left out"))};
}

}  // namespace hondana::skills
