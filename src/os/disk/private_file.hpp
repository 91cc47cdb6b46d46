/// Private files of the server: it reads them only if other users cannot change them, and replaces them atomically.
#pragma once

#include <sys/stat.h>

#include <chrono>
#include <cstddef>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

#include "os/disk/file_descriptor.hpp"
#include "os/disk/file_stamp.hpp"

namespace hondana::disk {

/// The content of a private file.
struct private_text {
  std::string bytes;
  stamp state;  ///< Of the file before it was read.
};

/// `current_user`: the current user and root. `anyone_if_root`: also any other user, if the current user is root.
enum class accepted_owners : bool { current_user, anyone_if_root };

/// Reads a private file of at most `max_bytes` bytes. Follows symbolic links.
/// `owners` must accept its owner. Its group may at most read it (0640), and other users must have no access.
/// Errors: resource_not_found; access_denied, whose text names the `chmod` or `chown` that helps; response_too_large;
/// source_unavailable.
[[nodiscard]] result<private_text> read_private(const std::string& path, std::size_t max_bytes,
                                                accepted_owners owners = accepted_owners::current_user);

/// Creates a folder and its missing parents with mode 0700. Does nothing if it exists. Errors: source_unavailable.
[[nodiscard]] result<void> make_private_folder(const std::string& path);

/// Locks `path` exclusively until the handle is closed, against other processes and threads. Waits without limit.
/// The lock is on the file `path`.lock, which is never deleted. Creates its folder (0700) if it is missing.
/// Errors: source_unavailable.
[[nodiscard]] result<handle> acquire_lock(const std::string& path);

/// Locks one of many subjects exclusively until the handle is closed, against other processes and threads.
/// Locks of different subjects are independent, except that two subjects can collide. The locks are on the file `path`.turns.
/// Creates its folder (0700) if it is missing.
/// Errors: timed_out if the lock is not available within `timeout`; cancelled (`stop`); source_unavailable.
[[nodiscard]] result<handle> acquire_lock(const std::string& path, std::string_view subject, std::chrono::milliseconds timeout,
                                          const std::stop_token& stop);

/// Replaces the content of `path` atomically: readers get either the old or the new bytes. Creates a missing file (0600).
/// The caller must hold the lock `acquire_lock(path)`. Follows symbolic links.
/// An existing file keeps its group and mode, without forbidden access (`read_private`), and its owner if root writes.
/// If the group cannot be preserved, the new group gets no access.
/// Errors: source_unavailable, also if the content was replaced but may not survive a power failure.
[[nodiscard]] result<void> replace_private(const std::string& path, std::string_view bytes);

/// The server's own files within a served folder, which must not be served. Immutable. Threads: any.
class own_files {
 public:
  /// Why an own file is not served, as a message for people.
  static constexpr std::string_view reason = "a file of the server itself, named in its configuration";

  /// No files.
  own_files() = default;
  /// `paths`: the own files, also those outside of the folder. `root`: the served folder. All are absolute, with links
  /// resolved.
  own_files(std::vector<std::string> paths, std::string_view root);

  /// Whether a path is one of the own files, has the name of a companion file of one, or is below such a path.
  /// Companion files are the locks, old versions and copies that this program, editors and log rotation create.
  /// `relative_path`: relative to `root`.
  [[nodiscard]] bool has_name(std::string_view relative_path) const noexcept;
  /// Whether the file with these attributes is a hard link to an own file. Reads the attributes of the own files, unless the
  /// file has only one link.
  [[nodiscard]] bool is_hard_link(const struct stat& attributes) const noexcept;

 private:
  struct relative_file {
    std::string folder;  // below the root, with a trailing slash; empty: the root
    std::string name;
  };
  std::vector<std::string> paths_;
  std::vector<relative_file> relative_files_;
};

}  // namespace hondana::disk
