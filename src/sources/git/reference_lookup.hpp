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

/// Whether libgit2 can look up a reference safely: the reference and `packed-refs` are regular files, folders or missing. Call
/// it before each lookup, because libgit2 would wait forever for the writer of a FIFO that was created after the screening.
/// `name`: the full name. Cost: two or three `stat` calls.
[[nodiscard]] bool may_look_up(git_repository* repo, const std::string& name);

/// Checks all references below `folder`, such as "refs/heads", and `packed-refs`, like `may_look_up`. Cost: O(loose references
/// there), without a `stat` for each. Errors: source_unavailable, naming the entry that is not a regular file or cannot be
/// listed.
[[nodiscard]] result<void> check_references(git_repository* repo, std::string folder);

/// Why a name does not lead to an object.
enum class reference_error {
  invalid,   ///< No reference can have this name.
  circular,  ///< Symbolic references form a cycle, or a chain of more than five, git's limit.
  broken,    ///< The file of a reference is malformed, unreadable, or points outside of `refs/`.
};

/// The end of a chain of references.
struct resolved_reference {
  std::string name;           ///< The full name of the last reference in the chain.
  std::optional<git_oid> id;  ///< Its object. nullopt: the last reference does not exist.
};

/// Follows a reference through symbolic references. `name`: `HEAD`, or a full name below `refs/`.
[[nodiscard]] tl::expected<resolved_reference, reference_error> resolve_reference(git_repository* repo, std::string name);

struct names_page {
  std::vector<std::string> names;  ///< Full names in byte order.
  bool is_last = true;
};

/// Lists the first `limit` references after the full name `start_after` that begin with one of `prefixes`. Prefixes must end in
/// a slash. Cost: O(references there), a comparison for each. Errors: source_unavailable.
[[nodiscard]] result<names_page> list_names(git_repository* repo, std::initializer_list<const char*> prefixes,
                                            const std::string& start_after, std::size_t limit);

}  // namespace hondana::git
