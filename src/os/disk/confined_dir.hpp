/// A folder that is opened once. Files below it are found and opened in a way that never leaves it.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "os/disk/file_descriptor.hpp"

namespace hondana::disk {

/// Calls openat2(2) and retries after interruptions. `resolve`: its `RESOLVE_…` flags.
/// Returns the descriptor, which the caller must close, or -1 and sets errno. ENOSYS: the kernel is older than Linux 5.6.
/// Containers may return EPERM instead.
[[nodiscard]] int open_resolved(int folder, const std::string& path, int flags, std::uint64_t resolve) noexcept;

/// Opens `path`, which must be relative to `folder` and not contain `..`, without following symbolic links.
/// With O_PATH, a link in the last segment is opened itself. On failure, the result is not open and errno has the reason;
/// for links it is ELOOP or ENOTDIR. Works with and without openat2.
[[nodiscard]] handle open_without_links(int folder, const std::string& path, int flags);

/// Opens the folder at an absolute path with O_PATH, without following links. On failure, as above.
[[nodiscard]] handle open_folder_without_links(std::string_view path);

/// Why a path could not be resolved.
enum class lookup_error_kind {
  missing,       ///< Nothing exists there, a link is broken, a folder on the path is a file, or the path is invalid.
  outside,       ///< A link leaves the folder.
  loop,          ///< The path leads through more than 40 links, or through one where none is followed.
  forbidden,     ///< The operating system denies access.
  kernel_data,   ///< It is on a pseudo file system such as procfs or sysfs.
  system_error,  ///< Any other failure, such as an I/O error or too many open files.
};

/// Why a lookup failed.
struct lookup_error {
  lookup_error_kind kind = lookup_error_kind::missing;
  int error = 0;  ///< The errno; 0 if there is none.
};

/// Converts an errno of open, stat, readlink or readdir.
[[nodiscard]] lookup_error to_lookup_error(int error) noexcept;
/// Whether nothing that may be served is at a path. False if access to it is denied, and for failures, which do not show that
/// nothing is there: I/O errors, and a lack of descriptors or memory.
[[nodiscard]] constexpr bool is_absence(lookup_error_kind kind) noexcept {
  return kind != lookup_error_kind::forbidden && kind != lookup_error_kind::system_error;
}

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

/// A regular file that is open for reading.
struct opened_file {
  handle file{};
  struct stat attributes{};  ///< When it was opened.
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
  explicit confined_dir(handle folder, std::vector<std::string> root_paths = {}, bool portable = false);

  /// Resolves a path and follows its links. Errors: all of `lookup_error_kind`; `missing` also for a path that is not plain.
  [[nodiscard]] tl::expected<resolved_path, lookup_error> resolve(std::string_view path) const;

  /// Opens a regular file for reading. Errors: `missing` if it is not a regular file, or another file has replaced it. Never
  /// opens a FIFO, socket or device.
  [[nodiscard]] tl::expected<handle, lookup_error> open_file(const resolved_path& file) const;

  /// Opens a regular file for reading by its path, which may not lead through links. Errors: `missing` if the path is empty or
  /// not plain, or there is not a regular file; `loop` or `missing` for links; `forbidden`; `system_error`. Does not wait for
  /// the writer of a FIFO.
  [[nodiscard]] tl::expected<opened_file, lookup_error> open_file(std::string_view path) const;
  /// Whether anything, even a link, exists at a path that does not lead through links. True if that cannot be determined. False
  /// if the path is empty or not plain.
  [[nodiscard]] bool may_exist(std::string_view path) const;

  /// Opens the folder itself for listing. On failure, the result is not open and errno has the reason.
  [[nodiscard]] handle open_folder() const noexcept;
  /// Opens a resolved folder for listing.
  [[nodiscard]] tl::expected<handle, lookup_error> open_folder(const resolved_path& folder) const;

  [[nodiscard]] int descriptor() const noexcept { return folder_.get(); }
  [[nodiscard]] bool is_portable() const noexcept { return portable_; }
  /// Whether a file or folder found below is on a pseudo file system of the kernel. False for everything on the device of the
  /// confined folder.
  [[nodiscard]] bool is_kernel_data(int descriptor, const struct stat& attributes) const noexcept;

 private:
  /// Resolves a path without links. Sets `has_links` if it has some; then the result has no meaning.
  [[nodiscard]] tl::expected<resolved_path, lookup_error> resolve_by_kernel(std::string_view path, bool& has_links) const;
  [[nodiscard]] tl::expected<resolved_path, lookup_error> resolve_by_steps(std::string_view path) const;
  /// As `disk::open_without_links`.
  [[nodiscard]] handle open_without_links(const std::string& path, int flags) const;

  handle folder_;
  std::vector<std::string> root_paths_;
  dev_t device_ = 0;
  bool portable_;
};

}  // namespace hondana::disk
