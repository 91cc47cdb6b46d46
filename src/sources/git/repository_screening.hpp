/// Checks the files that libgit2 will read in the folders of a repository: alternates, links and special files.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <hondana/error.hpp>

#include "sources/git/confined_roots.hpp"
#include "sources/git/repository_location.hpp"

namespace hondana::git {

/// The object folder of a repository, and those that it borrows from by `info/alternates`, including theirs. Each comes once.
/// Alternates that do not exist are left out, as in git.
/// Errors: invalid_argument for alternates that are outside, too many or too deep. resource_not_found if the repository has no
/// object folder of its own.
[[nodiscard]] result<std::vector<std::string>> find_object_folders(const confined_roots& roots,
                                                                   const std::string& common_folder,
                                                                   const screening_limits& limits);

/// How many packs may be open in one repository, and in all repositories with idle handles together. A quarter of the
/// descriptors that this process may have, but at least 64.
[[nodiscard]] std::size_t max_open_packs() noexcept;

/// Checks everything that libgit2 could open, and returns the number of packs. Each entry must be a file, a folder, or a link
/// to a file inside the roots. The reason: libgit2 follows links, would wait for the writer of a FIFO, and reads most files at
/// once, however large.
/// Errors: invalid_argument, naming the entry below the git folder; unsupported above `limits.entries` and `limits.packs`;
/// source_unavailable for folders that cannot be listed.
/// Cost: O(files of references, packs and loose objects), one look at the inode of each.
[[nodiscard]] result<std::size_t> check_contents(const confined_roots& roots, const repository_location& location,
                                                 const screening_limits& limits);

}  // namespace hondana::git
