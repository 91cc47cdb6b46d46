/// Follows absolute paths and links without leaving the served folders.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "os/disk/file_descriptor.hpp"

namespace hondana::git {

/// Why a path did not lead to what was wanted.
enum class astray {
  missing,    ///< Nothing is there, as far as the way lies inside.
  outside,    ///< It leaves the roots; whether anything is there is not said.
  no_file,    ///< No regular file.
  no_folder,  ///< No folder.
  too_large,
  unreadable,
};

/// For sentences: "…" + " leads out of the served folders".
[[nodiscard]] std::string_view text_of(astray why) noexcept;

/// The roots, opened once. The kernel resolves beneath them; a way that leaves them and comes back, as absolute links do, is
/// taken only when what it ends at is reached from a root without any link. Immutable. Threads: any.
class enclosure {
 public:
  /// Absolute paths; those that cannot be opened enclose nothing.
  explicit enclosure(const std::vector<std::string>& roots);

  /// Where a folder, or a regular file, really is: absolute and free of links. `path` is absolute; it may have links and `..`.
  [[nodiscard]] tl::expected<std::string, astray> folder(const std::string& path) const;
  [[nodiscard]] tl::expected<std::string, astray> file(const std::string& path) const;
  /// All bytes of a regular file. What is no regular file is never opened.
  [[nodiscard]] tl::expected<std::string, astray> read(const std::string& path, std::size_t most) const;

 private:
  struct root {
    std::vector<std::string> spellings;  // the first is free of links
    disk::handle folder;
  };
  struct landing {
    std::string path;
    disk::handle at;  // O_PATH
  };
  [[nodiscard]] tl::expected<landing, astray> follow(const std::string& path) const;
  /// What keeps the kernel from following a path beneath a root that it is spelled below; nothing: none, or the way leads out.
  [[nodiscard]] std::optional<astray> obstacle_inside(const std::string& path) const;
  [[nodiscard]] disk::handle open_without_links(const std::string& path, int flags) const;

  std::vector<root> roots_;
  bool lacks_descriptors_ = false;  // to open all roots
};

}  // namespace hondana::git
