/// Checks the files that libgit2 will read in the folders of a repository: alternates, links and special files.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <hondana/error.hpp>

#include "sources/git/confined_roots.hpp"
#include "sources/git/repository_location.hpp"

namespace hondana::git {

/// Returns the object folder of a repository, and those that `info/alternates` names, recursively. Each comes once. Leaves out
/// alternates that do not exist, as git does.
/// Errors: invalid_argument for alternates that are outside the roots, too many, or more than five levels deep;
/// resource_not_found if the repository has no object folder of its own.
[[nodiscard]] result<std::vector<std::string>> find_object_folders(const confined_roots& roots,
                                                                   const std::string& common_folder,
                                                                   const screening_limits& limits);

/// Maximum number of packs: in one repository, and in all repositories with idle handles together. It is a quarter of the
/// descriptors that this process may have, but at least 64.
[[nodiscard]] std::size_t max_open_packs() noexcept;

/// Checks all files that libgit2 could open, and returns the number of packs. Each entry must be a regular file within its size
/// limit, a folder, or a link to such a file inside the roots. Reason: libgit2 follows links, waits for the writer of a FIFO,
/// and reads most files at once. Errors: invalid_argument, naming the entry below the git folder; unsupported above
/// `limits.entries` and `limits.packs`; source_unavailable for folders that cannot be listed. Cost: O(files of references,
/// packs and loose objects), at most one `stat` for each.
[[nodiscard]] result<std::size_t> check_contents(const confined_roots& roots, const repository_location& location,
                                                 const screening_limits& limits);

}  // namespace hondana::git
