/// A folder that is opened once. Files below it are found and opened in a way that never leaves it.
#pragma once

#include <sys/stat.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "os/disk/file_descriptor.hpp"

namespace hondana::files {

/// Why a path could not be resolved.
enum class lookup_error_kind {
  missing,       ///< Nothing exists there, a link is broken, or a folder is needed where there is a file.
  outside,       ///< A link leaves the folder.
  loop,          ///< More than 40 links.
  forbidden,     ///< The operating system denies access.
  kernel_data,   ///< On a pseudo file system such as procfs or sysfs.
  system_error,  ///< Any other failure, such as an I/O error or too many open files.
};

/// Why a lookup failed.
struct lookup_error {
  lookup_error_kind kind = lookup_error_kind::missing;
  int error = 0;  ///< The errno; 0 if there is none.
};

/// What an errno of open, stat or readlink means for a path.
[[nodiscard]] lookup_error to_lookup_error(int error) noexcept;

/// A resolved path below the folder.
struct resolved_path {
  disk::handle handle;             ///< O_PATH handle of the file itself, which has not been opened.
  struct stat attributes{};        ///< Of the file itself, never of a link.
  std::string path;                ///< Its real path relative to the folder, free of links; empty for the folder.
  std::vector<std::string> links;  ///< The real path of each link that was followed.
  /// For each link, its real path and the segments that remained after it. The first is the requested path. The path before the
  /// link is free of links; the segments after it may include `..`.
  std::vector<std::string> traversed_paths;
};

/// Whether `path` has only real names: it is relative, without NUL and without empty, `.` and `..` segments. Empty is the
/// folder itself.
[[nodiscard]] bool is_plain_path(std::string_view path) noexcept;

/// A folder opened once. The kernel resolves paths below its handle (`openat2`). Paths with links, and all paths on kernels
/// without `openat2`, are resolved here segment by segment. At most 40 links are followed, and a link that leaves the folder is
/// an error.
///
/// Threads: any, concurrently.
class confined_dir {
 public:
  /// `folder`: an O_PATH handle of a directory. `root_paths`: absolute paths that name it, so that absolute links into it can
  /// be followed. `portable`: do not use `openat2`.
  confined_dir(disk::handle folder, std::vector<std::string> root_paths, bool portable);

  /// Resolves a plain path. Follows links as far as they stay below the folder.
  [[nodiscard]] tl::expected<resolved_path, lookup_error> resolve(std::string_view path) const;

  /// Opens a regular file for reading. The result is exactly the file that was resolved, or an error. A FIFO, socket or device
  /// is never opened.
  [[nodiscard]] tl::expected<disk::handle, lookup_error> open_file(const resolved_path& file) const;

  /// Opens a resolved folder for listing.
  [[nodiscard]] tl::expected<disk::handle, lookup_error> open_folder(const resolved_path& folder) const;

  [[nodiscard]] int descriptor() const noexcept { return folder_.get(); }
  [[nodiscard]] bool is_portable() const noexcept { return portable_; }
  /// Whether a file found below is on a pseudo file system of the kernel. The folder itself never is.
  [[nodiscard]] bool is_kernel_data(int descriptor, const struct stat& attributes) const noexcept;

 private:
  [[nodiscard]] tl::expected<resolved_path, lookup_error> resolve_by_kernel(std::string_view path, bool& has_links) const;
  [[nodiscard]] tl::expected<resolved_path, lookup_error> resolve_by_steps(std::string_view path) const;

  disk::handle folder_;
  std::vector<std::string> root_paths_;
  dev_t device_ = 0;
  bool portable_;
};

/// Whether this user may list the folder, and it is not on a pseudo file system. If not, errno is the reason, or 0 for a pseudo
/// file system.
[[nodiscard]] bool is_servable(int folder) noexcept;

/// Follows a path whose folder may be deleted or replaced, and holds one such folder open at a time. Threads: any.
class root_dir {
 public:
  enum class dir_change { none, removed, blocked, restored };

  /// `path` is absolute and free of links. `folder` is a handle of the folder it named a moment ago. The rest is as for
  /// `confined_dir`.
  root_dir(std::string path, disk::handle folder, std::vector<std::string> root_paths, bool portable);

  /// The open folder. It can be used as long as the pointer is held, even after another has replaced it.
  [[nodiscard]] std::shared_ptr<const confined_dir> current() const;

  /// Checks whether the path still names the open folder. If not, opens the folder that it names now, without following links.
  /// `none`: no change. `removed`: the path names no folder that can be served; the open one stays open. `blocked`: there is a
  /// new folder whose mode permits opening it, but the sandbox does not. `restored`: a folder can be served again, or another
  /// one has been opened. Each change is reported to one of several concurrent callers.
  [[nodiscard]] dir_change recheck();
  /// As of the last check.
  [[nodiscard]] bool is_removed() const noexcept { return last_change_ != dir_change::restored; }
  [[nodiscard]] bool is_blocked() const noexcept { return last_change_ == dir_change::blocked; }

 private:
  [[nodiscard]] dir_change record(dir_change change);

  const std::string path_;
  const std::vector<std::string> root_paths_;
  const bool portable_;
  std::mutex recheck_mutex_;
  mutable std::mutex mutex_;
  std::shared_ptr<const confined_dir> current_;
  std::atomic<dir_change> last_change_{dir_change::restored};  // never `none`
};

}  // namespace hondana::files
