/// Files of the server itself: read only when no other user can change them, replaced whole, and recognized.
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

/// Whose files are read: our user's and root's, or anybody's where root looks after what is another's.
enum class owners : bool { ours, anybody_for_root };

/// Its group may read it (0640), so that a service can; nobody else may, and only its owner may write it. Errors:
/// resource_not_found; access_denied, saying which `chmod` or `chown` helps; response_too_large; source_unavailable.
[[nodiscard]] result<private_text> read_private(const std::string& path, std::size_t most_bytes, owners whose = owners::ours);

/// Makes a folder and those above it as far as they are missing, with mode 0700. Errors: source_unavailable.
[[nodiscard]] result<void> make_private_folder(const std::string& path);

/// Keeps others who ask for the same lock out until it is closed: a file beside `path`, which stays. Waits for it, and makes
/// the folder (0700) if need be. Errors: source_unavailable.
[[nodiscard]] result<handle> lock_beside(const std::string& path);

/// The same for one `subject` of many, by another file, so that it may be held for long. Errors: timed_out when others hold it
/// for longer than `most`; cancelled; source_unavailable.
[[nodiscard]] result<handle> lock_beside(const std::string& path, std::string_view subject, std::chrono::milliseconds most,
                                         const std::stop_token& stop);

/// Puts a file with these bytes in the place of `path`: whoever reads it finds the old ones or the new ones. A new one has
/// mode 0600, one that was there keeps its own, its group and, where root writes, its owner; a group that cannot be kept is let
/// see it no more. The caller holds `lock_beside`. Errors: source_unavailable.
[[nodiscard]] result<void> replace_private(const std::string& path, std::string_view bytes);

/// Immutable. Threads: any.
class own_files {
 public:
  /// Why one is left out, for people.
  static constexpr std::string_view reason = "a file of the server itself, named in its configuration";

  own_files() = default;
  /// `paths`: absolute, links resolved. `root`: the folder, without links, that is asked about.
  own_files(std::vector<std::string> paths, std::string_view root);

  /// Whether a path below the root is one of them, or is called as the locks, older files and copies are that this program,
  /// editors and rotation leave beside it.
  [[nodiscard]] bool has_name(std::string_view below) const noexcept;
  /// Whether this is one of them under another name: a hard link. Looks at each, unless there is but one name.
  [[nodiscard]] bool is_one(const struct stat& facts) const noexcept;

 private:
  struct named {
    std::string folder;  // below the root, with a slash behind it; empty: the root
    std::string name;
  };
  std::vector<std::string> paths_;
  std::vector<named> below_;
};

}  // namespace hondana::disk
