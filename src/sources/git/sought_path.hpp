/// Which path is looked for in trees when a caller asks about one.
#pragma once

#include <string>
#include <string_view>

#include "sources/git/library.hpp"
#include "sources/git/rendering.hpp"

namespace hondana::git {

/// The path of `what`, without empty names; or, where the caller may not know what is there, one that nothing can have, so that
/// the answer is the one for a path that is not there. `tree` is that of the revision `rev`: what is not in it may have been a
/// file or a folder, and both must be shown. Empty for an empty path.
[[nodiscard]] std::string sought_path(const asking& what, std::string_view rev, const git_oid& tree);

}  // namespace hondana::git
