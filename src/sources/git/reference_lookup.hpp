/// Finds references by name and lists their names, without opening special files that stand in their place.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include <hondana/error.hpp>

#include "sources/git/libgit2.hpp"

namespace hondana::git {

/// A repository is looked through for special files when it is screened; these look again before each use, at what has been put
/// there since: libgit2 would wait for the writer of a FIFO, for good. Links lead where they were screened to lead, or to what
/// is a file as well. Cost: an inode or two.
[[nodiscard]] bool may_look_up(git_repository* in, const std::string& name);

/// The same for all references below `folder`, "refs" or "refs/heads", and for `packed-refs`. Cost: O(loose references there),
/// without a look at their inodes. Errors: source_unavailable, naming what is no file.
[[nodiscard]] result<void> check_references(git_repository* in, std::string folder);

/// Why a name leads to no object.
enum class lost {
  invalid,   ///< No reference can be called so.
  circular,  ///< References lead to one another, or through more than five, as far as git follows them.
  broken,    ///< What is there is no reference.
};

/// Where a name led in the end.
struct followed_name {
  std::string name;           ///< Of the last reference on the way.
  std::optional<git_oid> id;  ///< Nothing: there is no such reference.
};

/// Follows a full name, `HEAD` or below `refs/`, through symbolic references, all of which must be below `refs/`.
[[nodiscard]] tl::expected<followed_name, lost> follow_reference(git_repository* in, std::string name);

struct names_page {
  std::vector<std::string> names;  ///< By full name, bytewise.
  bool is_last = true;
};

/// The first `limit` names behind `after` of those that begin with one of `prefixes`, each of which ends with a slash. Cost:
/// O(references there), a comparison for each. Errors: source_unavailable.
[[nodiscard]] result<names_page> names_behind(git_repository* in, std::initializer_list<const char*> prefixes,
                                              const std::string& after, std::size_t limit);

}  // namespace hondana::git
