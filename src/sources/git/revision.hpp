/// Parses revisions such as `main~2` or an abbreviated id, and resolves them to commits.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

#include "sources/git/libgit2.hpp"

namespace hondana::git {

inline constexpr std::size_t min_abbreviation_digits = 4;

/// Whether a text may be an id or the beginning of an id: 4 to 40 hexadecimal digits of any case.
[[nodiscard]] bool is_abbreviation(std::string_view text) noexcept;

/// Finds the ids of objects that begin with `prefix`, in order, at most `max_ids`. Errors: source_unavailable.
[[nodiscard]] result<std::vector<git_oid>> find_ids_by_prefix(git_odb* odb, std::string_view prefix, std::size_t max_ids);

/// A step from a commit to an ancestor: `^N` or `~N`.
struct ancestry_step {
  std::size_t parent = 1;  ///< Number of the parent, from 1. 0: stay at the commit.
  std::size_t times = 1;   ///< How often this step is repeated.
};

/// A revision, split into its parts.
struct parsed_revision {
  std::string base;  ///< An id, the beginning of an id, the name of a reference, or HEAD.
  std::vector<ancestry_step> steps;
};

/// Splits a revision, without a repository. `argument`: the name of the URI's variable, for errors. Errors: invalid_argument
/// for forms that `resolve_revision` rejects.
[[nodiscard]] result<parsed_revision> parse_revision(std::string_view text, std::string_view argument);

/// The commit that a revision names now.
struct revision {
  git_oid commit{};
  git_oid tree{};
  bool is_fixed = false;  ///< The text always names this commit: its base is a whole object id, and no history is replaced.
};

/// Resolves a revision to a commit. Accepted: an id or at least its first four digits, the short or full name of a reference,
/// and `HEAD`. At most 64 of `~N`, `^N` and `^{commit}` may follow.
/// Rejected: options (`-…`), reflogs and times (`@{…}`), ranges (`a..b`), messages (`:/…`, `^{/…}`), paths (`rev:path`), more
/// than 1024 bytes.
/// `argument`: the name of the URI's variable, which every error mentions. Errors: invalid_argument, also for unknown names,
/// and for an ambiguous abbreviation, with some candidates; resource_not_found for unknown ids, other objects than commits, and
/// missing ancestors; source_unavailable for broken references and objects.
[[nodiscard]] result<revision> resolve_revision(git_repository* repo, std::string_view text, std::string_view argument);

/// Like `resolve_revision`, but also accepts a tree, or a tag of a tree, without steps. `revision::commit` is then zero.
[[nodiscard]] result<revision> resolve_tree(git_repository* repo, std::string_view text, std::string_view argument);

/// Like `parse_revision`, only for the error.
[[nodiscard]] result<void> check_revision(std::string_view text, std::string_view argument);

}  // namespace hondana::git
