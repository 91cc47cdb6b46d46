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

/// Whether a text may be an id or the beginning of one: 4 to 40 hexadecimal digits.
[[nodiscard]] bool is_abbreviation(std::string_view text) noexcept;

/// Ids that begin with `prefix`, in order, at most `max_ids`. Errors: source_unavailable.
[[nodiscard]] result<std::vector<git_oid>> find_ids_by_prefix(git_odb* odb, std::string_view prefix, std::size_t max_ids);

/// A step from a commit to an ancestor.
struct ancestry_step {
  std::size_t parent = 1;  ///< Which parent; 0: the commit itself.
  std::size_t times = 1;
};

/// A revision, split into its parts.
struct parsed_revision {
  std::string base;  ///< An id, its beginning, the name of a reference, or HEAD.
  std::vector<ancestry_step> steps;
};

/// Errors: as `check_revision`.
[[nodiscard]] result<parsed_revision> parse_revision(std::string_view text, std::string_view argument);

/// The commit that a revision names now.
struct revision {
  git_oid commit{};
  git_oid tree{};
  /// It names this commit forever, because it is a full object id.
  bool is_fixed = false;
};

/// Resolves a revision to a commit. Accepted: an id (whole, or at least four digits of it), the name of a reference, short or
/// full, and `HEAD`. Each may be followed by any of `~N`, `^N` and `^{commit}`. Rejected: options (`-…`), reflogs and times
/// (`@{…}`), ranges (`a..b`), messages (`:/…`, `^{/…}`), paths (`rev:path`), more than 1024 bytes.
/// `argument`: the name of the variable, which every error mentions. Errors: invalid_argument, also for unknown names, and for
/// an ambiguous abbreviation, with some candidates. resource_not_found for unknown ids, and for ids of other objects.
[[nodiscard]] result<revision> resolve_revision(git_repository* repo, std::string_view text, std::string_view argument);

/// The same without a repository: whether a text may be a revision at all.
[[nodiscard]] result<void> check_revision(std::string_view text, std::string_view argument);

}  // namespace hondana::git
