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

/// A person and a moment, as recorded.
struct signature {
  std::string name;       ///< UTF-8, as `text_encoding.hpp` makes it.
  std::string email;      ///< The same.
  std::int64_t time = 0;  ///< Seconds since 1970.
  int offset = 0;         ///< Minutes east of UTC.

  bool operator==(const signature&) const = default;
};

/// Names of references are bytes, as the repository has them; most are UTF-8.
struct branch {
  std::string name;  ///< Without `refs/heads/` or `refs/remotes/`.
  std::string full_name;
  bool is_remote = false;
  bool is_head = false;
  git_oid target{};
  std::string upstream;                                             ///< Short name; empty: none.
  std::optional<std::pair<std::size_t, std::size_t>> ahead_behind;  ///< Of its upstream; nothing beyond the budget.
  std::string summary;                                              ///< Of the commit; empty where that cannot be read.
  signature author;                                                 ///< The same.
};

struct tag {
  std::string name;
  std::string full_name;
  git_oid target{};  ///< What it leads to in the end.
  std::string kind;  ///< Of that: "commit", "tree", "blob"; empty: it cannot be read.
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

/// A work tree, whether linked or the main one.
struct linked_work_tree {
  std::string name;    ///< "" for the main one.
  std::string branch;  ///< Short name; empty: detached.
  git_oid head{};      ///< All zero: no commit yet, or it cannot be read.
  bool is_locked = false;
  bool is_present = false;  ///< Its folder is there, inside the roots; the folder itself is told to nobody.
  bool is_outside = false;  ///< Its folder is not inside the roots, and was not looked for.
};

struct remote {
  std::string name;
  std::string url;  ///< Without user information and query.
};

struct head_state {
  std::string branch;             ///< Short name; empty: detached.
  std::optional<git_oid> commit;  ///< Nothing: no commit yet.
  std::string operation;          ///< What is under way: "merge", "rebase", …; empty: nothing.
};

/// A page of references; `after` is the full name to begin behind, as of the last of the page before.
template <class T>
struct reference_page {
  std::vector<T> items;
  std::optional<std::string> next;  ///< Absent at the end.
};

/// By full name, bytewise; those that are broken are left out, so that a page may be short. Cost: O(references) comparisons,
/// and an object or two for each on the page only; what branches are ahead and behind, 20 000 commits a page.
[[nodiscard]] result<reference_page<branch>> branches(git_repository* in, const std::string& after, std::size_t limit);
[[nodiscard]] result<reference_page<tag>> tags(git_repository* in, const std::string& after, std::size_t limit);
/// Newest first, as `git stash list`. Errors: response_too_large for a log of more than 16 MiB.
[[nodiscard]] result<std::vector<stash>> stashes(git_repository* in, std::size_t limit);
/// The main one first, unless the repository is bare; then the others by name, a thousand at most. Whether their folders are
/// there is looked up beneath `roots` only.
[[nodiscard]] result<std::vector<linked_work_tree>> linked_work_trees(git_repository* in,
                                                                      const std::vector<std::string>& roots);
/// By name.
[[nodiscard]] result<std::vector<remote>> remotes(git_repository* in);
/// Errors: source_unavailable for a HEAD that leads nowhere.
[[nodiscard]] result<head_state> head_of(git_repository* in);

/// A URL without what could be a secret: user, password, query, fragment.
[[nodiscard]] std::string without_credentials(std::string_view url);
/// The same of what git fetches from, but for paths of this machine and `file:` URLs, which are "a local repository".
[[nodiscard]] std::string told_address(std::string_view url);

}  // namespace hondana::git
