/// Comparing two trees by their ids.
#pragma once

#include <optional>
#include <vector>

#include <hondana/error.hpp>

#include "sources/git/changes.hpp"
#include "sources/git/rendering.hpp"

namespace hondana::git {

/// From one tree to another (nothing: the empty one), about the path that is asked for. Errors: of `compare`;
/// source_unavailable for trees that are missing or damaged; the trouble of ignore files, which are looked for in every folder.
[[nodiscard]] result<std::vector<change>> compare_trees(const asking& what, const std::optional<git_oid>& from,
                                                        const git_oid& to);

}  // namespace hondana::git
