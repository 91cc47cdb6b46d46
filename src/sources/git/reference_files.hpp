/// Whether libgit2 may open what lies where references are.
#pragma once

#include <string>

#include <hondana/error.hpp>

#include "sources/git/library.hpp"

namespace hondana::git {

/// A repository is looked through for special files when it is screened; these look again before each use, at what has been put
/// there since: libgit2 would wait for the writer of a FIFO, for good. Links lead where they were screened to lead, or to what
/// is a file as well. Cost: an inode or two.
[[nodiscard]] bool may_look_up(git_repository* in, const std::string& name);

/// The same for all references below `folder`, "refs" or "refs/heads", and for `packed-refs`. Cost: O(loose references there),
/// without a look at their inodes. Errors: source_unavailable, naming what is no file.
[[nodiscard]] result<void> check_references(git_repository* in, std::string folder);

}  // namespace hondana::git
