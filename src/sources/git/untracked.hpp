/// Files of a work tree that nobody has added.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

#include "base/ignore/stack.hpp"
#include "sources/git/changes.hpp"
#include "sources/git/work_tree.hpp"

namespace hondana::git {

/// What the index has, bytewise.
struct tracked_paths {
  std::vector<std::string_view> all;         ///< Submodules, too.
  std::vector<std::string_view> submodules;  ///< Nothing is looked for in their folders.
};

struct untracked_paths {
  std::vector<std::string> all;
  /// With a slash behind them.
  std::vector<std::string> unreadable_folders;
};

/// As `git ls-files --others --exclude-standard --directory --no-empty-directory` lists them, but for the user's own ignore
/// file, and with what is in a folder that stands where the index has a file. `exclude`: `info/exclude`, or null. Errors:
/// response_too_large, cancelled; source_unavailable where the operating system cannot read now.
[[nodiscard]] result<untracked_paths> find_untracked(const work_tree& files, const tracked_paths& tracked,
                                                     ignore::list_pointer exclude, const compare_options& options);

}  // namespace hondana::git
