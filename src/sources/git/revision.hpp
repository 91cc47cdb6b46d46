/// Parses revisions such as `main~2` or an abbreviated id, and resolves them to commits.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

#include "sources/git/libgit2.hpp"

namespace hondana::git {

inline constexpr std::size_t shortest_abbreviation = 4;

/// Whether it could be an id or the beginning of one: 4 to 40 hexadecimal digits.
[[nodiscard]] bool is_abbreviation(std::string_view text) noexcept;

/// Ids that begin with these digits, in their order, and no more than `most`. Errors: source_unavailable.
[[nodiscard]] result<std::vector<git_oid>> ids_beginning(git_odb* in, std::string_view digits, std::size_t most);

/// A way from a commit to one before it.
struct ancestry_step {
  std::size_t parent = 1;  ///< Which parent; 0: the commit itself.
  std::size_t times = 1;
};

struct revision_words {
  std::string base;  ///< An id, its beginning, a reference's name or HEAD.
  std::vector<ancestry_step> steps;
};

/// Errors: as `check_revision`.
[[nodiscard]] result<revision_words> parse_revision(std::string_view text, std::string_view argument);

/// What a revision means now.
struct revision {
  git_oid commit{};
  git_oid tree{};
  /// Whether it will always mean this: it is a full object id.
  bool is_fixed = false;
};

/// A commit by its id (whole, or at least four digits of it), by a reference's name, short or full, by `HEAD`, each followed by
/// any of `~N`, `^N` and `^{commit}`. Not taken: options (`-…`), reflogs and times (`@{…}`), ranges (`a..b`), messages (`:/…`,
/// `^{/…}`), paths (`rev:path`), more than 1024 bytes. `argument` is the name of the variable, said in every error. Errors:
/// invalid_argument, also for names of nothing; resource_not_found for ids of nothing and of other objects; an
/// abbreviation of several is invalid_argument and names some.
[[nodiscard]] result<revision> resolve(git_repository* in, std::string_view text, std::string_view argument);

/// The same without asking a repository: whether it could be a revision at all.
[[nodiscard]] result<void> check_revision(std::string_view text, std::string_view argument);

}  // namespace hondana::git
