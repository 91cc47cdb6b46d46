/// Revisions as people write them.
#pragma once

#include <string>
#include <string_view>

#include <hondana/error.hpp>

#include "sources/git/library.hpp"

namespace hondana::git {

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
