/// Resolves absolute paths and links without leaving the served folders.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "os/disk/file_descriptor.hpp"

namespace hondana::git {

/// Why a path could not be resolved.
enum class path_error {
  missing,     ///< Nothing exists there, and the path is inside the roots.
  outside,     ///< The real path is outside the roots. Something may or may not exist there.
  not_a_file,  ///< It is not a regular file.
  not_a_folder,
  too_large,
  unreadable,  ///< Access is denied, or no descriptors are left.
};

/// The end of a sentence that begins with the path: "leads out of the served folders".
[[nodiscard]] std::string_view message_of(path_error error) noexcept;

/// Root folders, opened once. Accepts a path only if its real path is below a root. Immutable. Threads: any.
class confined_roots {
 public:
  /// `roots`: absolute paths. Ignores roots that cannot be opened.
  explicit confined_roots(const std::vector<std::string>& roots);

  /// Whether a path is in a root, as configured or by its real path. `path`: absolute, without `..`; links are not resolved.
  [[nodiscard]] bool contains(const std::string& path) const;
  /// Returns the real path of a folder: absolute and without links. `path`: absolute; may contain links and `..`.
  [[nodiscard]] tl::expected<std::string, path_error> resolve_folder(const std::string& path) const;
  /// Like `resolve_folder`, for a regular file.
  [[nodiscard]] tl::expected<std::string, path_error> resolve_file(const std::string& path) const;
  /// Reads a regular file of at most `max_bytes` bytes. Does not open files of other types.
  [[nodiscard]] tl::expected<std::string, path_error> read(const std::string& path, std::size_t max_bytes) const;

 private:
  struct root {
    std::vector<std::string> paths;  // the real path and, if it differs, the configured path
    disk::handle folder;
  };
  struct resolved_path {
    std::string path;
    disk::handle handle;  // O_PATH
  };
  [[nodiscard]] tl::expected<resolved_path, path_error> resolve(const std::string& path) const;
  /// Why a path below a root cannot be resolved. nullopt: it can, or it leads out of the root.
  [[nodiscard]] std::optional<path_error> resolution_error(const std::string& path) const;
  /// Opens a real path below a root. Not open: it is outside, contains a link, or cannot be opened.
  [[nodiscard]] disk::handle open_without_links(const std::string& path, int flags) const;

  std::vector<root> roots_;
  bool lacks_descriptors_ = false;  // some roots could not be opened for lack of descriptors
};

}  // namespace hondana::git
