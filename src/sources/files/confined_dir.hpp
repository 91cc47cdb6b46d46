/// A folder that is opened once, and finds and opens files below it without ever leaving it.
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

/// Why a path could not be followed to its end.
enum class obstacle {
  missing,      ///< Nothing there, a link that leads nowhere, or a file where a folder is needed.
  outside,      ///< A link leaves the folder.
  loop,         ///< More than 40 links.
  forbidden,    ///< The operating system refuses this user.
  kernel_data,  ///< On a file system whose files are no files (procfs, sysfs and the like).
  trouble,      ///< Anything else, such as an I/O error or too many open files.
};

struct not_found {
  obstacle why = obstacle::missing;
  int error = 0;  ///< The errno behind it; 0 where there is none.
};

/// What an errno of open, stat or readlink means for a path.
[[nodiscard]] not_found obstacle_of(int error) noexcept;

/// Something found beneath the folder.
struct located {
  disk::handle at;                 ///< O_PATH: a handle on the thing itself, which has not been opened.
  struct stat facts{};             ///< Of the thing itself, never of a link.
  std::string path;                ///< Where it really is, relative to the folder, free of links; empty for the folder.
  std::vector<std::string> links;  ///< Every link on the way, by where each really is.
  /// For each link, the path that was still to be followed when it was met: the first is the path asked for. What comes before
  /// the link is free of links; what comes after it may have `..` in it.
  std::vector<std::string> spellings;
};

/// Whether `path` has only real names: not absolute, no empty, `.` or `..` segment, no NUL. Empty is the folder itself.
[[nodiscard]] bool is_plain_path(std::string_view path) noexcept;

/// A folder opened once. Everything is resolved beneath its handle by the kernel, or, on kernels without `openat2`, segment
/// by segment without following links; links are followed here, one at a time and at most 40, and end where they leave.
///
/// Threads: any, at once.
class beneath {
 public:
  /// `folder` is an O_PATH handle on a directory. `spellings` are absolute paths that name it, so that absolute links into
  /// it can be followed. `portable` does without `openat2`.
  beneath(disk::handle folder, std::vector<std::string> spellings, bool portable);

  /// Finds what a plain path leads to, following links as far as they stay beneath the folder.
  [[nodiscard]] tl::expected<located, not_found> locate(std::string_view path) const;

  /// Opens a regular file for reading. The result is the very file that was located, or an error; a FIFO, socket or device
  /// is never opened.
  [[nodiscard]] tl::expected<disk::handle, not_found> open_file(const located& what) const;

  /// Opens a located folder for listing.
  [[nodiscard]] tl::expected<disk::handle, not_found> open_folder(const located& what) const;

  [[nodiscard]] int descriptor() const noexcept { return folder_.get(); }
  [[nodiscard]] bool is_portable() const noexcept { return portable_; }
  /// Whether something found below lies on a file system of the kernel's own making. The folder itself never does.
  [[nodiscard]] bool is_kernel_data(int descriptor, const struct stat& facts) const noexcept;

 private:
  [[nodiscard]] tl::expected<located, not_found> locate_by_kernel(std::string_view path, bool& has_links) const;
  [[nodiscard]] tl::expected<located, not_found> locate_by_steps(std::string_view path) const;

  disk::handle folder_;
  std::vector<std::string> spellings_;
  dev_t device_ = 0;
  bool portable_;
};

/// Whether this user may list the folder, and its files are files; errno says why not, or is 0 for one of the kernel's own.
[[nodiscard]] bool is_servable(int folder) noexcept;

/// Holds one folder open at a time. Threads: any.
class top {
 public:
  enum class news { none, gone, barred, back };

  /// `path` is absolute and free of links; `folder` is what it named a moment ago. The rest is as for `beneath`.
  top(std::string path, disk::handle folder, std::vector<std::string> spellings, bool portable);

  /// What is open. It may be used for as long as it is held, even when another has taken its place since.
  [[nodiscard]] std::shared_ptr<const beneath> now() const;

  /// Looks whether the path still names what is open, and opens what it names instead; no link is followed to it.
  /// `gone`: from now on there is nothing that can be served, and what was open stays so. `barred`: the same although there is
  /// another, whose mode allows it to be opened: a sandbox does not. `back`: now there is again, or it is another. Of several
  /// threads that look at once one is told.
  [[nodiscard]] news look_again();
  /// As of the last look.
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
