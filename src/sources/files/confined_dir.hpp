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
  missing,       ///< Nothing exists there, a link is broken, a folder on the path is a file, or the path is invalid.
  outside,       ///< A link leaves the folder.
  loop,          ///< The path leads through more than 40 links.
  forbidden,     ///< The operating system denies access.
  kernel_data,   ///< It is on a pseudo file system such as procfs or sysfs.
  system_error,  ///< Any other failure, such as an I/O error or too many open files.
};

/// Why a lookup failed.
struct lookup_error {
  lookup_error_kind kind = lookup_error_kind::missing;
  int error = 0;  ///< The errno; 0 if there is none.
};

/// Converts an errno of open, stat or readlink.
[[nodiscard]] lookup_error to_lookup_error(int error) noexcept;

/// The result of `confined_dir::resolve`.
struct resolved_path {
  disk::handle handle;             ///< An O_PATH handle of the file or folder, which has not been opened for reading.
  struct stat attributes{};        ///< Of the file or folder, never of a link.
  std::string path;                ///< Its path relative to the confined folder, free of links; empty: that folder itself.
  std::vector<std::string> links;  ///< The path of each link that was followed, free of other links.
  /// For each of `links`, its path and the segments that were still to be resolved after it, which may include `..`. The first
  /// element is the requested path.
  std::vector<std::string> traversed_paths;
};

/// Whether `path` has only real names: it is relative, without NUL and without empty, `.` and `..` segments. Empty is the
/// folder itself.
[[nodiscard]] bool is_plain_path(std::string_view path) noexcept;

/// A folder opened once. The kernel resolves paths below its handle (`openat2`). This class resolves paths with links itself,
/// segment by segment; without `openat2`, all paths. At most 40 links are followed, and a link that leaves the folder is an
/// error.
///
/// Threads: any, concurrently.
class confined_dir {
 public:
  /// `folder`: an O_PATH handle of a folder. `root_paths`: absolute paths that name it, so that absolute links into it can be
  /// followed. `portable`: do not use `openat2`.
  confined_dir(disk::handle folder, std::vector<std::string> root_paths, bool portable);

  /// Resolves a path and follows its links. Errors: all of `lookup_error_kind`; `missing` also for a path that is not plain.
  [[nodiscard]] tl::expected<resolved_path, lookup_error> resolve(std::string_view path) const;

  /// Opens a regular file for reading. Errors: `missing` if it is not a regular file, or another file has replaced it. Never
  /// opens a FIFO, socket or device.
  [[nodiscard]] tl::expected<disk::handle, lookup_error> open_file(const resolved_path& file) const;

  /// Opens a resolved folder for listing.
  [[nodiscard]] tl::expected<disk::handle, lookup_error> open_folder(const resolved_path& folder) const;

  [[nodiscard]] int descriptor() const noexcept { return folder_.get(); }
  [[nodiscard]] bool is_portable() const noexcept { return portable_; }
  /// Whether a file or folder found below is on a pseudo file system of the kernel. False for everything on the device of the
  /// confined folder.
  [[nodiscard]] bool is_kernel_data(int descriptor, const struct stat& attributes) const noexcept;

 private:
  /// Resolves a path without links. Sets `has_links` if it has some; then the result has no meaning.
  [[nodiscard]] tl::expected<resolved_path, lookup_error> resolve_by_kernel(std::string_view path, bool& has_links) const;
  [[nodiscard]] tl::expected<resolved_path, lookup_error> resolve_by_steps(std::string_view path) const;

  disk::handle folder_;
  std::vector<std::string> root_paths_;
  dev_t device_ = 0;
  bool portable_;
};

/// Whether this user may list the folder, and it is not on a pseudo file system. If false, errno is the reason; 0: it is on a
/// pseudo file system. `folder`: an open handle.
[[nodiscard]] bool is_servable(int folder) noexcept;

/// A path whose folder may be deleted or replaced, and the folder that it last named, which is open. Threads: any.
class root_dir {
 public:
  /// The result of a check.
  enum class dir_change {
    none,     ///< Nothing changed, or too few descriptors or too little memory to check.
    removed,  ///< The path names no folder that can be served. The previous folder stays open.
    blocked,  ///< The path names a new folder whose mode permits opening it, but the sandbox does not.
    restored  ///< A folder can be served again, or another one has been opened.
  };

  /// `path`: absolute and free of links. `folder`: a handle of the folder that it names. The other parameters: as for
  /// `confined_dir`.
  root_dir(std::string path, disk::handle folder, std::vector<std::string> root_paths, bool portable);

  /// The open folder. The caller can use it as long as it holds the pointer, even after `recheck` has opened another one.
  [[nodiscard]] std::shared_ptr<const confined_dir> current() const;

  /// Checks whether the path still names the open folder. If not, opens the folder that it names now, without following links.
  /// Of several callers, only one gets each change; the others get `none`.
  [[nodiscard]] dir_change recheck();
  /// Whether the path named no folder that could be opened at the last check: it was removed or blocked.
  [[nodiscard]] bool is_removed() const noexcept { return last_change_ != dir_change::restored; }
  /// Whether the last check found a folder that the sandbox blocks.
  [[nodiscard]] bool is_blocked() const noexcept { return last_change_ == dir_change::blocked; }

 private:
  /// Stores the state. Returns `none` if it is the previous one, otherwise `change`.
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
