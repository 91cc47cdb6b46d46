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
enum class obstacle {
  missing,      ///< Nothing exists there, a link is broken, or a folder is needed where there is a file.
  outside,      ///< A link leaves the folder.
  loop,         ///< More than 40 links.
  forbidden,    ///< The operating system denies access.
  kernel_data,  ///< On a pseudo file system such as procfs or sysfs.
  trouble,      ///< Any other failure, such as an I/O error or too many open files.
};

/// Why a lookup failed.
struct not_found {
  obstacle why = obstacle::missing;
  int error = 0;  ///< The errno; 0 if there is none.
};

/// What an errno of open, stat or readlink means for a path.
[[nodiscard]] not_found obstacle_of(int error) noexcept;

/// A resolved path below the folder.
struct located {
  disk::handle at;                 ///< O_PATH handle of the file itself, which has not been opened.
  struct stat facts{};             ///< Of the file itself, never of a link.
  std::string path;                ///< Its real path relative to the folder, free of links; empty for the folder.
  std::vector<std::string> links;  ///< The real path of each link that was followed.
  /// For each link, its real path and the segments that remained after it. The first is the requested path. The path before the
  /// link is free of links; the segments after it may include `..`.
  std::vector<std::string> spellings;
};

/// Whether `path` has only real names: it is relative, without NUL and without empty, `.` and `..` segments. Empty is the
/// folder itself.
[[nodiscard]] bool is_plain_path(std::string_view path) noexcept;

/// A folder opened once. The kernel resolves paths below its handle (`openat2`). Paths with links, and all paths on kernels
/// without `openat2`, are resolved here segment by segment. At most 40 links are followed, and a link that leaves the folder is
/// an error.
///
/// Threads: any, concurrently.
class beneath {
 public:
  /// `folder`: an O_PATH handle of a directory. `spellings`: absolute paths that name it, so that absolute links into it can be
  /// followed. `portable`: do not use `openat2`.
  beneath(disk::handle folder, std::vector<std::string> spellings, bool portable);

  /// Resolves a plain path. Follows links as far as they stay below the folder.
  [[nodiscard]] tl::expected<located, not_found> locate(std::string_view path) const;

  /// Opens a regular file for reading. The result is exactly the file that was located, or an error. A FIFO, socket or device
  /// is never opened.
  [[nodiscard]] tl::expected<disk::handle, not_found> open_file(const located& what) const;

  /// Opens a located folder for listing.
  [[nodiscard]] tl::expected<disk::handle, not_found> open_folder(const located& what) const;

  [[nodiscard]] int descriptor() const noexcept { return folder_.get(); }
  [[nodiscard]] bool is_portable() const noexcept { return portable_; }
  /// Whether a file found below is on a pseudo file system of the kernel. The folder itself never is.
  [[nodiscard]] bool is_kernel_data(int descriptor, const struct stat& facts) const noexcept;

 private:
  [[nodiscard]] tl::expected<located, not_found> locate_by_kernel(std::string_view path, bool& has_links) const;
  [[nodiscard]] tl::expected<located, not_found> locate_by_steps(std::string_view path) const;

  disk::handle folder_;
  std::vector<std::string> spellings_;
  dev_t device_ = 0;
  bool portable_;
};

/// Whether this user may list the folder, and it is not on a pseudo file system. If not, errno is the reason, or 0 for a pseudo
/// file system.
[[nodiscard]] bool is_servable(int folder) noexcept;

/// Follows a path whose folder may be deleted or replaced, and holds one such folder open at a time. Threads: any.
class top {
 public:
  enum class news { none, gone, barred, back };

  /// `path` is absolute and free of links. `folder` is a handle of the folder it named a moment ago. The rest is as for
  /// `beneath`.
  top(std::string path, disk::handle folder, std::vector<std::string> spellings, bool portable);

  /// The open folder. It can be used as long as the pointer is held, even after another has replaced it.
  [[nodiscard]] std::shared_ptr<const beneath> now() const;

  /// Checks whether the path still names the open folder. If not, opens the folder that it names now, without following links.
  /// `none`: no change. `gone`: the path names no folder that can be served; the open one stays open. `barred`: there is a new
  /// folder whose mode permits opening it, but the sandbox does not. `back`: a folder can be served again, or another one has
  /// been opened. Each change is reported to one of several concurrent callers.
  [[nodiscard]] news look_again();
  /// As of the last check.
  [[nodiscard]] bool is_gone() const noexcept { return last_ != news::back; }
  [[nodiscard]] bool is_barred() const noexcept { return last_ == news::barred; }

 private:
  [[nodiscard]] news found(news what);

  const std::string path_;
  const std::vector<std::string> spellings_;
  const bool portable_;
  std::mutex looking_;
  mutable std::mutex mutex_;
  std::shared_ptr<const beneath> now_;
  std::atomic<news> last_{news::back};  // never `none`
};

}  // namespace hondana::files
