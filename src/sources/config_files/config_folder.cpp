/// A confined folder of configuration files, which no link may leave.
#include "sources/config_files/config_folder.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <tl/expected.hpp>

#include "os/disk/confined_dir.hpp"
#include "os/disk/descriptor_limit.hpp"
#include "os/disk/file_descriptor.hpp"
#include "os/disk/opened_folder.hpp"
#include "protocol/model/caller_checks.hpp"
#include "sources/config_files/file_rules.hpp"

namespace hondana::config_files {

/// Resolves the links in a path to a path without links. The error is an errno: EXDEV for a link that is absolute or leaves the
/// folder at any step; ELOOP for too many links. Links may change afterwards, so the result must be opened without following
/// links.
[[nodiscard]] tl::expected<std::string, int> resolve_links(int folder, const std::string& path);

namespace {

constexpr std::size_t max_links = 16;
constexpr std::size_t max_segments = 256;

/// Prepends the names of a path to the stack of names that are still to be resolved. The last element is the next name.
bool push_segments(std::vector<std::string>& pending, std::string_view path) {
  std::vector<std::string_view> names;
  while (!path.empty()) {
    const auto slash = path.find('/');
    if (const auto name = path.substr(0, slash); !name.empty() && name != ".") names.push_back(name);
    path.remove_prefix(slash == std::string_view::npos ? path.size() : slash + 1);
  }
  for (auto name = names.rbegin(); name != names.rend(); ++name) pending.emplace_back(*name);
  return pending.size() <= max_segments;
}

}  // namespace

tl::expected<std::string, int> resolve_links(int folder, const std::string& path) {
  std::vector<std::string> pending;
  if (!push_segments(pending, path)) return tl::unexpected(ENAMETOOLONG);
  std::string resolved;
  std::size_t links = 0;
  while (!pending.empty()) {
    const auto name = std::move(pending.back());
    pending.pop_back();
    if (name == "..") {
      if (resolved.empty()) return tl::unexpected(EXDEV);
      const auto slash = resolved.rfind('/');
      resolved.resize(slash == std::string::npos ? 0 : slash);
      continue;
    }
    auto next = resolved.empty() ? name : resolved + '/' + name;
    const auto handle = disk::open_without_links(folder, next, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    struct stat attributes{};
    if (!handle.is_open() || ::fstat(handle.get(), &attributes) != 0) return tl::unexpected(errno);
    if (!S_ISLNK(attributes.st_mode)) {
      resolved = std::move(next);
      continue;
    }
    if (++links > max_links) return tl::unexpected(ELOOP);
    std::array<char, PATH_MAX> target{};
    const auto length = ::readlinkat(handle.get(), "", target.data(), target.size());
    if (length < 0) return tl::unexpected(errno);
    const std::string_view target_path(target.data(), static_cast<std::size_t>(length));
    if (target_path.starts_with('/')) return tl::unexpected(EXDEV);
    if (!push_segments(pending, target_path)) return tl::unexpected(ENAMETOOLONG);
  }
  return resolved;
}

namespace {

constexpr std::size_t max_depth = 32;
constexpr std::size_t max_entries = 100'000;
constexpr int max_tries = 4;
constexpr int folder_flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
// O_NONBLOCK: the name may meanwhile be a pipe's, and opening must not wait for a writer.
constexpr int file_flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;

std::string error_message(int error) { return std::error_code(error, std::generic_category()).message(); }

/// Opens the folder as a path only (O_PATH). So a source that the sandbox would not let read can still be created, to report
/// what it needs.
disk::handle open_root(const std::string& path) {
  disk::handle folder(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (folder.is_open() && ::faccessat(folder.get(), ".", R_OK | X_OK, AT_EACCESS) != 0) return {};
  return folder;
}

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

/// Calls `on_enter_folder` with the folder that a path is in.
void notify_parent_folder(int root, const std::string& path, const folder_callback& on_enter_folder) {
  if (!on_enter_folder) return;
  const std::string parent(parent_folder(path));
  const auto folder = disk::open_without_links(root, parent.empty() ? "." : parent, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (folder.is_open()) on_enter_folder(parent, folder.get());
}

/// Whether a folder in the path is a link, or no longer exists.
bool is_below_link(int root, const std::string& path) {
  const std::string parent(parent_folder(path));
  return !parent.empty() && !disk::open_without_links(root, parent, O_PATH | O_DIRECTORY | O_CLOEXEC).is_open();
}

/// The state of a walk.
struct folder_walker {
  const request_context& context;
  const folder_callback& on_enter_folder;
  const std::function<bool(config_folder::folder_entry)>& visit;
  const std::function<void(std::string, std::string)>& on_rejected;
  const disk::own_files& own_files;
  std::int64_t last_change = 0;
  std::size_t entry_count = 0;

  result<void> walk_folder(disk::handle folder, const std::string& prefix, std::size_t depth) {
    const auto names = disk::open_folder_stream(std::move(folder));
    if (!names) return system_failure(errno, prefix);
    const int descriptor = ::dirfd(names.get());
    if (on_enter_folder) on_enter_folder(prefix.substr(0, prefix.size() - (prefix.empty() ? 0 : 1)), descriptor);
    for (;;) {
      HONDANA_TRY(check_cancellation(context));
      errno = 0;
      const auto* dirent = ::readdir(names.get());
      if (dirent == nullptr && errno != 0) return system_failure(errno, prefix);
      if (dirent == nullptr || entry_count > max_entries) break;
      const std::string_view name(dirent->d_name);
      if (name == "." || name == "..") continue;
      HONDANA_TRY(examine(descriptor, prefix, dirent->d_name, depth));
    }
    struct stat attributes{};
    if (::fstat(descriptor, &attributes) == 0) last_change = std::max(last_change, disk::stamp_of(attributes).changed);
    return {};
  }

  result<void> examine(int descriptor, const std::string& prefix, const char* name, std::size_t depth) {
    config_folder::folder_entry entry{prefix + name};
    if (++entry_count > max_entries) {
      on_rejected(entry.path, "this entry and those after it are beyond the first " + std::to_string(max_entries) + " names");
      return {};
    }
    struct stat attributes{};
    if (::fstatat(descriptor, name, &attributes, AT_SYMLINK_NOFOLLOW) != 0) {
      return omit(entry.path, "it cannot be accessed: ");
    }
    entry.is_folder = S_ISDIR(attributes.st_mode);
    entry.is_link = S_ISLNK(attributes.st_mode);
    entry.is_file = S_ISREG(attributes.st_mode);
    entry.state = disk::stamp_of(attributes);
    if (own_files.has_name(entry.path) || own_files.is_hard_link(attributes)) {
      on_rejected(std::move(entry.path), std::string(disk::own_files::reason));
      return {};
    }
    auto path = entry.path;
    const bool is_folder = entry.is_folder;
    if (!visit(std::move(entry)) || !is_folder) return {};
    if (depth == max_depth) {
      on_rejected(std::move(path), "it is nested deeper than " + std::to_string(max_depth) + " folders");
      return {};
    }
    disk::handle inner(::openat(descriptor, name, folder_flags));
    if (inner.is_open()) return walk_folder(std::move(inner), path + '/', depth + 1);
    if (errno == ENOTDIR || errno == ELOOP) return {};  // it was just replaced
    return omit(std::move(path), "it cannot be opened: ");
  }

  /// Handles a failed system call. Missing permission leaves the entry out; temporary errors end the walk.
  result<void> omit(std::string path, const char* reason) {
    const int error = errno;
    if (error == ENOENT) return {};  // it was just removed
    if (error != EACCES && error != EPERM) return system_failure(error, path);
    on_rejected(std::move(path), reason + error_message(error));
    return {};
  }
};

}  // namespace

tl::unexpected<failure> system_failure(int error, std::string_view name) {
  const std::string subject = name.empty() ? std::string("A configuration folder") : '"' + std::string(name) + '"';
  switch (error) {
    case ENOENT:
    case ENOTDIR:
    case ENAMETOOLONG:
    case ENXIO:
      return fail(errc::resource_not_found, subject + " does not exist in this set.", error_message(error));
    case ELOOP:
    case EXDEV:
      return fail(errc::resource_not_found,
                  subject + " is a link that is broken or leads out of its folder. Name its target in the set's paths.",
                  error_message(error));
    case EACCES:
    case EPERM:
      return fail(errc::access_denied, subject + " cannot be read: the operating system denied access. Check its permissions.",
                  error_message(error));
    default:
      return fail(errc::source_unavailable, subject + " cannot be read: the disk or network behind it fails. Retry later.",
                  error_message(error));
  }
}

config_folder::config_folder(std::string path, std::vector<std::string> own_files, disk::handle root)
    : path_(std::move(path)), own_files_(std::move(own_files)) {
  current_ = make_open_folder(std::move(root));
}

std::shared_ptr<const config_folder::open_folder> config_folder::make_open_folder(disk::handle root) const {
  std::error_code error;
  const auto real_path = std::filesystem::canonical(path_, error);
  return std::make_shared<const open_folder>(open_folder{std::move(root), {own_files_, error ? path_ : real_path.string()}});
}

result<std::shared_ptr<const config_folder>> config_folder::open(const std::string& path, std::vector<std::string> own_files) {
  auto root = open_root(path);
  if (root.is_open())
    return std::shared_ptr<const config_folder>(new config_folder(path, std::move(own_files), std::move(root)));
  return fail(errc::source_unavailable, "The configuration folder \"" + path + "\" cannot be opened: " + error_message(errno) +
                                            ". Check its path and permissions.");
}

result<std::shared_ptr<const config_folder::open_folder>> config_folder::current() const {
  const std::lock_guard lock(mutex_);
  if (disk::is_in_place(current_->handle.get(), path_)) return current_;
  auto reopened = open_root(path_);
  if (!reopened.is_open()) {
    return fail(errc::source_unavailable,
                "A folder of this configuration set is gone or not accessible. Retry when it is available.",
                path_ + ": " + error_message(errno));
  }
  current_ = make_open_folder(std::move(reopened));
  return current_;
}

result<opened_file> config_folder::open_file(const std::string& relative_path, const folder_callback& on_enter_folder) const {
  if (!is_plain_path(relative_path)) return system_failure(ENOENT, relative_path);
  HONDANA_TRY(const auto folder, current());
  const int root = folder->handle.get();
  opened_file opened{{}, {}, relative_path, false};
  notify_parent_folder(root, relative_path, on_enter_folder);
  for (int tries = 0;; ++tries) {
    opened.file = disk::open_without_links(root, opened.real_path, file_flags);
    if (opened.file.is_open()) break;
    if ((errno != ELOOP && errno != ENOTDIR) || tries == max_tries) return system_failure(errno, relative_path);
    auto resolved = resolve_links(root, relative_path);
    if (!resolved) return system_failure(resolved.error(), relative_path);
    opened.real_path = std::move(*resolved);
    if (opened.real_path.empty()) return system_failure(EXDEV, relative_path);
    notify_parent_folder(root, opened.real_path, on_enter_folder);
  }
  struct stat attributes{};
  if (::fstat(opened.file.get(), &attributes) != 0) return system_failure(errno, relative_path);
  if (!S_ISREG(attributes.st_mode) || folder->own_files.has_name(relative_path) ||
      folder->own_files.has_name(opened.real_path) || folder->own_files.is_hard_link(attributes)) {
    return system_failure(ENOENT, relative_path);
  }
  opened.state = disk::stamp_of(attributes);
  opened.is_below_link = opened.real_path != relative_path && is_below_link(root, relative_path);
  return opened;
}

result<std::int64_t> config_folder::enter_root(const folder_callback& on_enter_folder) const {
  HONDANA_TRY(const auto folder, current());
  if (on_enter_folder) on_enter_folder({}, folder->handle.get());
  struct stat attributes{};
  if (::fstat(folder->handle.get(), &attributes) != 0) return system_failure(errno, {});
  return disk::stamp_of(attributes).changed;
}

result<std::int64_t> config_folder::walk(const request_context& context, const folder_callback& on_enter_folder,
                                         const std::function<bool(folder_entry)>& visit,
                                         const std::function<void(std::string, std::string)>& on_rejected) const {
  HONDANA_TRY(const auto folder, current());
  // A separate descriptor, since the walk changes its position.
  disk::handle reopened(::openat(folder->handle.get(), ".", folder_flags));
  if (!reopened.is_open()) {
    return fail(errc::source_unavailable, "A folder of this configuration set cannot be read. Retry later.",
                path_ + ": " + error_message(errno));
  }
  folder_walker walker{context, on_enter_folder, visit, on_rejected, folder->own_files};
  if (auto status = walker.walk_folder(std::move(reopened), {}, 1); !status) {
    auto error = std::move(status.error());
    // An error for one file is an error of the whole source here.
    if (error.code == errc::resource_not_found || error.code == errc::access_denied) error.code = errc::source_unavailable;
    return tl::unexpected(std::move(error));
  }
  return walker.last_change;
}

namespace {

constexpr int max_attempts = 3;

/// Reads the current content and state. False if the file changed in between.
result<bool> read_once(const opened_file& file, std::string_view name, file_text& content) {
  struct stat start_attributes{};
  struct stat end_attributes{};
  if (::fstat(file.file.get(), &start_attributes) != 0) return system_failure(errno, name);
  content.state = disk::stamp_of(start_attributes);
  if (content.state.size > max_file_bytes) {
    return fail(errc::response_too_large,
                '"' + std::string(name) +
                    "\" is larger than 8 MiB, the limit for configuration files. Serve it with a source of type files.");
  }
  content.bytes.assign(content.state.size, '\0');
  const auto count = disk::read_at(file.file.get(), content.bytes.data(), content.bytes.size(), 0);
  if (!count) return system_failure(count.error(), name);
  if (::fstat(file.file.get(), &end_attributes) != 0) return system_failure(errno, name);
  return *count == content.bytes.size() && disk::stamp_of(end_attributes) == content.state;
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
