/// Commits that are shown in place of others (`git replace`), and parents that are shown in place of recorded ones (grafts).
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sources/git/libgit2.hpp"

namespace hondana::git {

/// The overrides of one repository. Immutable. Threads: any.
struct history_overrides {
  struct id_order {
    bool operator()(const git_oid& a, const git_oid& b) const noexcept { return git_oid_cmp(&a, &b) < 0; }
  };

  std::map<git_oid, git_oid, id_order> replacements;          ///< From `refs/replace/`.
  std::map<git_oid, std::vector<git_oid>, id_order> grafted;  ///< From `info/grafts`: commits and their parents.
  std::string stamp;                                          ///< A digest of both. Empty: there are none.

  /// Follows replacements from an object to the one that git shows in its place, at most five, git's limit.
  [[nodiscard]] git_oid actual_id(git_oid id) const;
};

/// Reads the overrides, as far as core.useReplaceRefs allows them. Results are cached until `refs/replace`, `packed-refs` or
/// `info/grafts` change. Uses at most 100 000 replacements, and `info/grafts` of at most 16 MiB; ignores malformed lines, and
/// references that cannot be listed. Never null. Threads: any.
[[nodiscard]] std::shared_ptr<const history_overrides> read_history_overrides(git_repository* repo);

}  // namespace hondana::git
