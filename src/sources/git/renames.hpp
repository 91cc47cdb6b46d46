/// Which files that came are files that went, under another name.
#pragma once

#include <vector>

#include <hondana/error.hpp>

#include "sources/git/changes.hpp"
#include "sources/git/side_content.hpp"

namespace hondana::git {

/// Makes renames of additions and deletions in `changes`, which are in the order of their paths: first of equal contents, then
/// of files whose names (without folders) are found once on either side and that are 75 % alike, then of the most alike that
/// are at least 50 % so, unless pairs are more than a million. Each stays where the addition was. Copies are never found.
/// Errors: cancelled; those of contents.
[[nodiscard]] result<void> find_renames(std::vector<change>& changes, side_contents& from, const compare_options& options);

}  // namespace hondana::git
