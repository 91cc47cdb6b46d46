/// Finds references by name and lists their names, without opening special files in their place.
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

/// Whether a reference can be looked up safely. Screening checks a repository for special files. This checks again before each
/// use, because libgit2 would wait forever for the writer of a FIFO that was put there since. A link leads to the screened
/// target, or to another regular file. Cost: one or two `stat` calls.
[[nodiscard]] bool may_look_up(git_repository* repo, const std::string& name);

/// The same for all references below `folder`, "refs" or "refs/heads", and for `packed-refs`. Cost: O(loose references there),
/// without a `stat` for each. Errors: source_unavailable, naming the entry that is not a file.
[[nodiscard]] result<void> check_references(git_repository* repo, std::string folder);

/// Why a name does not lead to an object.
enum class reference_error {
  invalid,   ///< No reference can have this name.
  circular,  ///< References form a cycle, or a chain of more than five, which is git's limit.
  broken,    ///< The entry there is not a reference.
};

/// The end of a chain of references.
struct resolved_reference {
  std::string name;           ///< Of the last reference in the chain.
  std::optional<git_oid> id;  ///< Nothing: that reference does not exist.
};

/// Follows a full name, `HEAD` or below `refs/`, through symbolic references, all of which must be below `refs/`.
[[nodiscard]] tl::expected<resolved_reference, reference_error> resolve_reference(git_repository* repo, std::string name);

struct names_page {
  std::vector<std::string> names;  ///< By full name, bytewise.
  bool is_last = true;
};

/// The first `limit` names after `start_after` that begin with one of `prefixes`, each of which ends with a slash. Cost:
/// O(references there), a comparison for each. Errors: source_unavailable.
[[nodiscard]] result<names_page> list_names(git_repository* repo, std::initializer_list<const char*> prefixes,
                                            const std::string& start_after, std::size_t limit);

}  // namespace hondana::git
