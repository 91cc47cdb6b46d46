/// The folder of a root, which may be deleted or replaced while it is served.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "os/disk/confined_dir.hpp"
#include "os/disk/file_descriptor.hpp"

namespace hondana::files {

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
  /// `disk::confined_dir`.
  root_dir(std::string path, disk::handle folder, std::vector<std::string> root_paths, bool portable);

  /// The open folder. The caller can use it as long as it holds the pointer, even after `recheck` has opened another one.
  [[nodiscard]] std::shared_ptr<const disk::confined_dir> current() const;

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
  std::shared_ptr<const disk::confined_dir> current_;
  std::atomic<dir_change> last_change_{dir_change::restored};  // never `none`
};

}  // namespace hondana::files
