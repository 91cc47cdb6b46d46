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
  missing,     ///< Nothing exists there, as far as the path is inside.
  outside,     ///< It leaves the roots. Whether anything exists there is not revealed.
  not_a_file,  ///< It is not a regular file.
  not_a_folder,
  too_large,
  unreadable,
};

/// Text for messages: "…" + " leads out of the served folders".
[[nodiscard]] std::string_view message_of(path_error error) noexcept;

/// The roots, opened once. The kernel resolves paths below them. Some paths leave them and come back, as absolute links do.
/// These are accepted only if a root leads to their real path without any link. Immutable. Threads: any.
class confined_roots {
 public:
  /// Absolute paths. A root that cannot be opened contains nothing.
  explicit confined_roots(const std::vector<std::string>& roots);

  /// The real path of a folder or a regular file: absolute and free of links. `path` is absolute; it may contain links and
  /// `..`.
  [[nodiscard]] tl::expected<std::string, path_error> resolve_folder(const std::string& path) const;
  [[nodiscard]] tl::expected<std::string, path_error> resolve_file(const std::string& path) const;
  /// All bytes of a regular file. Anything else is never opened.
  [[nodiscard]] tl::expected<std::string, path_error> read(const std::string& path, std::size_t max_bytes) const;

 private:
  struct root {
    std::vector<std::string> paths;  // the first is free of links
    disk::handle folder;
  };
  struct resolved_path {
    std::string path;
    disk::handle handle;  // O_PATH
  };
  [[nodiscard]] tl::expected<resolved_path, path_error> resolve(const std::string& path) const;
  /// Why the kernel cannot resolve a path below the root that it names. Nothing if it can, or if the path leads out of the
  /// root.
  [[nodiscard]] std::optional<path_error> resolution_error(const std::string& path) const;
  [[nodiscard]] disk::handle open_without_links(const std::string& path, int flags) const;

  std::vector<root> roots_;
  bool lacks_descriptors_ = false;  // for some of the roots
};

}  // namespace hondana::git
