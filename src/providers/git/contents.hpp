/// What lies in the folders of a repository that libgit2 is going to read.
#pragma once

#include <hondana/error.hpp>

#include "providers/git/enclosure.hpp"
#include "providers/git/place.hpp"

namespace hondana::git {

/// Whether all that libgit2 could open there is a file or a folder, or a link to a file inside the roots: it follows links,
/// would wait for the writer of a FIFO, and reads most of them at once, however large. Errors: invalid_argument, naming what is
/// not so below the git folder; unsupported beyond `limits.entries` and `limits.packs`; source_unavailable for folders that
/// cannot be listed. Cost: O(files of references, packs and loose objects), a look at the inode of each.
[[nodiscard]] result<void> check_contents(const enclosure& inside, const place& at, const screening_limits& limits);

}  // namespace hondana::git
