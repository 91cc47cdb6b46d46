/// A confined folder of configuration files, which no link may leave.
#include "sources/config_files/config_folder.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "os/disk/confined_dir.hpp"
#include "os/disk/dir_walk.hpp"
#include "os/disk/file_descriptor.hpp"
#include "os/disk/whole_file.hpp"
#include "protocol/model/caller_checks.hpp"
#include "sources/config_files/file_rules.hpp"

namespace hondana::config_files {
namespace {

constexpr std::size_t max_depth = 32;
constexpr std::size_t max_entries = 100'000;
constexpr int max_tries = 4;

std::string error_message(int error) { return std::error_code(error, std::generic_category()).message(); }

/// Calls `on_enter_folder` with the folder that a path is in.
void notify_parent_folder(const disk::confined_dir& dir, const std::string& path, const folder_callback& on_enter_folder) {
  if (!on_enter_folder) return;
  const std::string parent(parent_folder(path));
  const auto folder =
      disk::open_without_links(dir.descriptor(), parent.empty() ? "." : parent, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (folder.is_open()) on_enter_folder(parent, folder.get());
}

/// The state of a walk.
class folder_scan final : public disk::dir_visitor {
 public:
  folder_scan(const request_context& context, const folder_callback& on_enter_folder,
              const std::function<bool(config_folder::folder_entry)>& visit,
              const std::function<void(std::string, std::string)>& on_rejected, const disk::own_files& own_files)
      : context_(context), on_enter_folder_(on_enter_folder), visit_(visit), on_rejected_(on_rejected), own_files_(own_files) {}

  void enter_folder(const std::string& path, int descriptor) override {
    if (on_enter_folder_) on_enter_folder_(path, descriptor);
  }
  void leave_folder(int descriptor) override {
    struct stat attributes{};
    if (::fstat(descriptor, &attributes) == 0) last_change_ = std::max(last_change_, disk::stamp_of(attributes).changed);
  }
  disk::walk_action select(const dirent& /*entry*/) override {
    interruption_ = check_cancellation(context_);
    return interruption_ ? disk::walk_action::descend : disk::walk_action::stop;
  }
  disk::walk_action visit(const disk::walk_entry& entry) override {
    if (++entry_count_ > max_entries) {
      on_rejected_(entry.path, "this entry and those after it are beyond the first " + std::to_string(max_entries) + " names");
      return disk::walk_action::stop;
    }
    if (own_files_.has_name(entry.path) || own_files_.is_hard_link(entry.attributes)) {
      on_rejected_(entry.path, std::string(disk::own_files::reason));
      return disk::walk_action::skip;
    }
    const auto mode = entry.attributes.st_mode;
    const bool is_folder = S_ISDIR(mode);
    if (!visit_({entry.path, is_folder, S_ISLNK(mode), S_ISREG(mode), disk::stamp_of(entry.attributes)}) || !is_folder)
      return disk::walk_action::skip;
    if (entry.depth < max_depth) return disk::walk_action::descend;
    on_rejected_(entry.path, "it is nested deeper than " + std::to_string(max_depth) + " folders");
    return disk::walk_action::skip;
  }
  void on_denied(const std::string& path, std::string reason) override { on_rejected_(path, std::move(reason)); }

  /// The latest ctime of all folders. Errors: cancelled and timed_out, if that ended the walk.
  [[nodiscard]] result<std::int64_t> finish() const {
    return interruption_.map([this] { return last_change_; });
  }

 private:
  const request_context& context_;
  const folder_callback& on_enter_folder_;
  const std::function<bool(config_folder::folder_entry)>& visit_;
  const std::function<void(std::string, std::string)>& on_rejected_;
  const disk::own_files& own_files_;
  result<void> interruption_;
  std::int64_t last_change_ = 0;
  std::size_t entry_count_ = 0;
};

}  // namespace

tl::unexpected<failure> system_failure(const disk::lookup_error& error, std::string_view name) {
  const std::string subject = name.empty() ? std::string("A configuration folder") : '"' + std::string(name) + '"';
  const auto detail = error_message(error.error);
  switch (error.kind) {
    case disk::lookup_error_kind::missing:
    case disk::lookup_error_kind::kernel_data:
      return fail(errc::resource_not_found, subject + " does not exist in this set.", detail);
    case disk::lookup_error_kind::loop:
    case disk::lookup_error_kind::outside:
      return fail(errc::resource_not_found,
                  subject + " is a link that is broken or leads out of its folder. Name its target in the set's paths.",
                  detail);
    case disk::lookup_error_kind::forbidden:
      return fail(errc::access_denied, subject + " cannot be read: the operating system denied access. Check its permissions.",
                  detail);
    case disk::lookup_error_kind::system_error:
      break;
  }
  return fail(errc::source_unavailable, subject + " cannot be read: the disk or network behind it fails. Retry later.", detail);
}

tl::unexpected<failure> system_failure(int error, std::string_view name) {
  return system_failure(disk::to_lookup_error(error), name);
}

result<std::shared_ptr<const config_folder>> config_folder::open(const std::string& path, std::vector<std::string> own_files) {
  auto dir = disk::served_dir::open(path, std::move(own_files));
  if (dir) return std::shared_ptr<const config_folder>(new config_folder(std::move(*dir)));
  return fail(errc::source_unavailable, "The configuration folder \"" + path + "\" cannot be opened: " +
                                            error_message(dir.error()) + ". Check its path and permissions.");
}

result<std::shared_ptr<const disk::served_dir::opened>> config_folder::current() const {
  return dir_.current().map_error([this](int error) {
    return failure{errc::source_unavailable,
                   "A folder of this configuration set is gone or not accessible. Retry when it is available.",
                   path() + ": " + error_message(error)};
  });
}

result<opened_file> config_folder::open_file(const std::string& relative_path, const folder_callback& on_enter_folder) const {
  if (!disk::is_plain_path(relative_path)) return system_failure(ENOENT, relative_path);
  HONDANA_TRY(const auto folder, current());
  opened_file opened{{}, {}, relative_path, false};
  notify_parent_folder(folder->dir, relative_path, on_enter_folder);
  // Links may change between the calls, so a resolved path is opened without following any.
  auto file = folder->dir.open_file(relative_path);
  const auto has_link = [&file] {
    return !file && (file.error().kind == disk::lookup_error_kind::loop || file.error().error == ENOTDIR);
  };
  for (int tries = 0; has_link() && tries < max_tries; ++tries) {
    const auto resolved = folder->dir.resolve(relative_path);
    if (!resolved) return system_failure(resolved.error(), relative_path);
    if (resolved->path.empty()) return system_failure(EXDEV, relative_path);
    opened.real_path = resolved->path;
    opened.is_below_link = !resolved->links.empty() && resolved->links.front() != relative_path;
    notify_parent_folder(folder->dir, opened.real_path, on_enter_folder);
    file = folder->dir.open_file(opened.real_path);
  }
  if (!file) return system_failure(file.error(), relative_path);
  if (folder->own.has_name(relative_path) || folder->own.has_name(opened.real_path) ||
      folder->own.is_hard_link(file->attributes))
    return system_failure(ENOENT, relative_path);
  opened.file = std::move(file->file);
  opened.state = disk::stamp_of(file->attributes);
  return opened;
}

result<std::int64_t> config_folder::enter_root(const folder_callback& on_enter_folder) const {
  HONDANA_TRY(const auto folder, current());
  if (on_enter_folder) on_enter_folder({}, folder->dir.descriptor());
  struct stat attributes{};
  if (::fstat(folder->dir.descriptor(), &attributes) != 0) return system_failure(errno, {});
  return disk::stamp_of(attributes).changed;
}

result<std::int64_t> config_folder::walk(const request_context& context, const folder_callback& on_enter_folder,
                                         const std::function<bool(folder_entry)>& visit,
                                         const std::function<void(std::string, std::string)>& on_rejected) const {
  HONDANA_TRY(const auto folder, current());
  folder_scan scan(context, on_enter_folder, visit, on_rejected, folder->own);
  const auto walked = disk::walk(folder->dir.open_folder(), scan);
  if (walked) return scan.finish();
  // An error for one folder is an error of the whole source here.
  return fail(
      errc::source_unavailable, "A folder of this configuration set cannot be read. Retry later.",
      path() + (walked.error().path.empty() ? "" : "/") + walked.error().path + ": " + error_message(walked.error().error));
}

namespace {

constexpr int max_attempts = 3;

/// Reads the current content and state. False if the file changed in between.
result<bool> read_once(const opened_file& file, std::string_view name, file_text& content) {
  auto whole = disk::read_whole(file.file.get(), max_file_bytes);
  if (!whole) return system_failure(whole.error(), name);
  if (whole->is_too_large()) {
    return fail(errc::response_too_large,
                '"' + std::string(name) +
                    "\" is larger than 8 MiB, the limit for configuration files. Serve it with a source of type files.");
  }
  content.state = whole->state;
  content.bytes = std::move(whole->bytes);
  return whole->is_complete();
}

}  // namespace

result<file_text> read_text(const opened_file& file, std::string_view name) {
  file_text content;
  for (int attempt = 0; attempt < max_attempts; ++attempt) {
    const auto start_time = disk::wall_clock();
    HONDANA_TRY(const auto is_consistent, read_once(file, name, content));
    if (!is_consistent) continue;
    // Compare with the time before the read: the thread may be delayed after it for longer than a clock tick.
    content.is_racy = is_racy(content.state, start_time);
    if (!content.is_racy) return content;
    file_text second;
    HONDANA_TRY(const auto is_same, read_once(file, name, second));
    if (is_same && second.bytes == content.bytes) return content;
  }
  return fail(errc::content_changed, '"' + std::string(name) + "\" changed while it was being read. Read it again.");
}

}  // namespace hondana::config_files
