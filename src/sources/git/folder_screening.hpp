/// Checks the files that libgit2 will read in the folders of a repository: alternates, links and special files.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <hondana/error.hpp>

#include "sources/git/confined_roots.hpp"
#include "sources/git/repository_location.hpp"

namespace hondana::git {

/// The objects' folder of a repository and those it borrows from by `info/alternates`, theirs included, each once. Alternates
/// that are not there are left out, as git does. Errors: invalid_argument for those outside, too many and too deep;
/// resource_not_found when there is no folder of its own.
[[nodiscard]] result<std::vector<std::string>> object_folders_of(const enclosure& inside, const std::string& common_folder,
                                                                 const screening_limits& limits);

/// How many packs may be open: those of one repository, and those of all that wait for their next call. A quarter of the
/// descriptors that this process may have, 64 at least.
[[nodiscard]] std::size_t most_open_packs() noexcept;

/// How many packs there are, where all that libgit2 could open there is a file or a folder, or a link to a file inside the
/// roots: it follows links, would wait for the writer of a FIFO, and reads most of them at once, however large. Errors:
/// invalid_argument, naming what is not so below the git folder; unsupported beyond `limits.entries` and `limits.packs`;
/// source_unavailable for folders that cannot be listed. Cost: O(files of references, packs and loose objects), a look at the
/// inode of each.
[[nodiscard]] result<std::size_t> check_contents(const enclosure& inside, const place& at, const screening_limits& limits);

}  // namespace hondana::git
