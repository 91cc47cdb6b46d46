/// A served folder, which is opened again when it is replaced, and the server's own files in it.
#pragma once

#include <unistd.h>

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "os/disk/confined_dir.hpp"
#include "os/disk/private_file.hpp"

namespace hondana::disk {

/// A folder that is opened once, and again when its path names another folder. Links in its own path are followed; only the
/// paths below it are confined. Threads: any.
class served_dir {
 public:
  /// The folder that the path names at one moment.
  struct opened {
    confined_dir dir;
    own_files own;  ///< The server's own files below it, which are never served.

    /// As `confined_dir::open_file`. The server's own files, under any name, are `missing`.
    [[nodiscard]] tl::expected<opened_file, lookup_error> open_file(std::string_view path) const;
  };

  /// Opens a folder as a path only (O_PATH). So a source that the sandbox would not let read can still be created, to report
  /// what it needs. `own_files`: absolute paths, with links resolved, of the server's own files. They, and their locks, older
  /// versions and copies, are never served. `access`: how this user must be able to use the folder (`faccessat`). Errors: an
  /// errno; EACCES without that access.
  [[nodiscard]] static tl::expected<served_dir, int> open(std::string path, std::vector<std::string> own_files,
                                                          int access = R_OK | X_OK);

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// Returns the folder that the path names now. Callers may use it as long as they hold the pointer, even after another
  /// folder was opened. Errors: as `open`, if the path names another folder, or none.
  [[nodiscard]] tl::expected<std::shared_ptr<const opened>, int> current() const;

 private:
  struct state {
    std::mutex mutex;
    std::shared_ptr<const opened> current;
  };
  served_dir(std::string path, std::vector<std::string> own_files, int access);
  [[nodiscard]] tl::expected<std::shared_ptr<const opened>, int> open_now() const;

  std::string path_;
  std::vector<std::string> own_files_;
  int access_;
  std::unique_ptr<state> state_;
};

}  // namespace hondana::disk
