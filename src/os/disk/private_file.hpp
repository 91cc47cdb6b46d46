/// Files of the server itself: read only if other users cannot change them, and replaced atomically.
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

struct private_text {
  std::string bytes;
  stamp state;
};

/// The accepted owners of a file: the current user and root, or anyone if the current user is root.
enum class accepted_owners : bool { current_user, anyone_if_root };

/// Reads a private file of at most `max_bytes` bytes. Its group may have read access (0640), so that a service can read it.
/// Other users must have no access, and only the owner may write.
/// Errors: resource_not_found; access_denied, whose text names the `chmod` or `chown` that helps; response_too_large;
/// source_unavailable.
[[nodiscard]] result<private_text> read_private(const std::string& path, std::size_t max_bytes,
                                                accepted_owners owners = accepted_owners::current_user);

/// Creates a folder and its missing parents with mode 0700. Errors: source_unavailable.
[[nodiscard]] result<void> make_private_folder(const std::string& path);

/// Takes an exclusive lock for `path` until the handle is closed. Waits without limit.
/// The lock is on the file `path`.lock, which is never deleted. Creates the folder (0700) if it is missing. Errors:
/// source_unavailable.
[[nodiscard]] result<handle> acquire_lock(const std::string& path);

/// Takes the lock of one `subject` among many, on the file `path`.turns. It may be held for a long time.
/// Errors: timed_out when the lock is not available within `timeout`; cancelled; source_unavailable.
[[nodiscard]] result<handle> acquire_lock(const std::string& path, std::string_view subject, std::chrono::milliseconds timeout,
                                          const std::stop_token& stop);

/// Replaces `path` atomically: readers get either the old or the new bytes. The caller must hold the lock of `acquire_lock`.
/// A new file has mode 0600. An existing file keeps its mode and group, and its owner if root writes. If the group cannot be
/// preserved, it loses its access. Errors: source_unavailable.
[[nodiscard]] result<void> replace_private(const std::string& path, std::string_view bytes);

/// The server's own files within a served folder, which are never served. Immutable. Threads: any.
class own_files {
 public:
  /// Why such a file is excluded, as a message for people.
  static constexpr std::string_view reason = "a file of the server itself, named in its configuration";

  own_files() = default;
  /// `paths`: absolute, with links resolved. `root`: the served folder, with links resolved.
  own_files(std::vector<std::string> paths, std::string_view root);

  /// Whether a path below the root is one of the files, or has the name of one of their companion files.
  /// Companions are the locks, old versions and copies that this program, editors and log rotation create.
  [[nodiscard]] bool has_name(std::string_view relative_path) const noexcept;
  /// Whether the file is a hard link to one of them. Examines each file, unless `attributes` has only one link.
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
