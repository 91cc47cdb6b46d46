/// Branches, tags, stashes, linked work trees, remotes and HEAD of a repository.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/error.hpp>

#include "sources/git/libgit2.hpp"

namespace hondana::git {

/// A person and a time, as recorded.
struct signature {
  std::string name;       ///< UTF-8, as `text_encoding.hpp` makes it.
  std::string email;      ///< The same.
  std::int64_t time = 0;  ///< Seconds since 1970.
  int offset = 0;         ///< Minutes east of UTC.

  bool operator==(const signature&) const = default;
};

/// A branch. Names of references are bytes, as in the repository; most are UTF-8.
struct branch {
  std::string name;  ///< Without `refs/heads/` or `refs/remotes/`.
  std::string full_name;
  bool is_remote = false;
  bool is_head = false;
  git_oid target{};
  std::string upstream;                                             ///< Short name; empty: none.
  std::optional<std::pair<std::size_t, std::size_t>> ahead_behind;  ///< Relative to its upstream; absent above the budget.
  std::string summary;                                              ///< Of the commit; empty if that cannot be read.
  signature author;                                                 ///< The same.
};

struct tag {
  std::string name;
  std::string full_name;
  git_oid target{};  ///< The object behind all tags.
  std::string kind;  ///< Of that object: "commit", "tree", "blob"; empty: it cannot be read.
  bool is_annotated = false;
  std::string message;  ///< Of the tag itself.
  std::optional<signature> tagger;
};

struct stash {
  std::size_t index = 0;
  git_oid commit{};
  std::string message;
  std::int64_t time = 0;
};

/// A work tree, either linked or the main one.
struct linked_work_tree {
  std::string name;    ///< "" for the main one.
  std::string branch;  ///< Short name; empty: detached.
  git_oid head{};      ///< All zero: no commit yet, or it cannot be read.
  bool is_locked = false;
  bool is_present = false;  ///< Its folder exists inside the roots. The path of the folder is never shown.
  bool is_outside = false;  ///< Its folder is not inside the roots, and was not searched for.
};

struct remote {
  std::string name;
  std::string url;  ///< Without user information and query.
};

struct head_state {
  std::string branch;             ///< Short name; empty: detached.
  std::optional<git_oid> commit;  ///< Absent: no commit yet.
  std::string operation;          ///< The operation in progress: "merge", "rebase", …; empty: none.
};

/// A page of references. Functions that return one take `start_after`, the full name to begin after: `next` of the page before.
template <class T>
struct reference_page {
  std::vector<T> items;
  std::optional<std::string> next;  ///< Absent at the end.
};

/// By full name, bytewise. Broken references are left out, so a page may be short. Cost: O(references) comparisons, and an
/// object or two for each reference on the page. For `ahead_behind`, at most 20 000 commits a page.
[[nodiscard]] result<reference_page<branch>> branches(git_repository* repo, const std::string& start_after, std::size_t limit);
[[nodiscard]] result<reference_page<tag>> tags(git_repository* repo, const std::string& start_after, std::size_t limit);
/// Newest first, as `git stash list`. Errors: response_too_large for a log of more than 16 MiB.
[[nodiscard]] result<std::vector<stash>> stashes(git_repository* repo, std::size_t limit);
/// The main one first, unless the repository is bare; then the others by name, at most a thousand. Whether their folders exist
/// is checked below `roots` only.
[[nodiscard]] result<std::vector<linked_work_tree>> linked_work_trees(git_repository* repo,
                                                                      const std::vector<std::string>& roots);
/// By name.
[[nodiscard]] result<std::vector<remote>> remotes(git_repository* repo);
/// Errors: source_unavailable for a HEAD that cannot be resolved.
[[nodiscard]] result<head_state> head_of(git_repository* repo);

/// A URL without the parts that may be secret: user, password, query, fragment.
[[nodiscard]] std::string strip_credentials(std::string_view url);
/// The same for an address that git fetches from. Paths of this machine and `file:` URLs become "a local repository".
[[nodiscard]] std::string display_url(std::string_view url);

}  // namespace hondana::git
