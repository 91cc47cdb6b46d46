/// Files that the server keeps for itself, by their names and by what they are.
#pragma once

#include <sys/stat.h>

#include <string>
#include <string_view>
#include <vector>

namespace hondana::disk {

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
