/// The ignore files of the git work tree around a root.
#pragma once

#include <string>
#include <vector>

#include "base/ignore/stack.hpp"

namespace hondana::files {

/// What git obeys for a folder besides the ignore files in it. Read once, when the root is opened.
struct surroundings {
  /// The `.gitignore` files of the work tree above the root, and before them its `info/exclude`; the weakest first.
  std::vector<ignore::outer_rules> outer;
  /// `info/exclude` of a root that is itself the top of a work tree whose git directory is elsewhere; null otherwise.
  ignore::list_pointer exclude;
};

/// Looks from a root, an absolute path free of links, up to the top of the work tree that holds it, if one does.
///
/// As git does, it takes a folder for the top when it has a `.git` that is a git directory or a file that names one. A root
/// that is ignored itself is not looked at differently: who serves it wants it served. A `.gitignore` that is a link does not
/// count; one that cannot be read leaves out all.
[[nodiscard]] surroundings surroundings_of(const std::string& root);

/// Compiles an ignore file. Errors are a list that is not complete and says why.
[[nodiscard]] ignore::list_pointer compile_ignore_file(int file, std::string source);

}  // namespace hondana::files
