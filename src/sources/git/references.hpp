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
  std::string name;       ///< Converted by `to_utf8`.
  std::string email;      ///< Converted by `to_utf8`.
  std::int64_t time = 0;  ///< Seconds since 1970.
  int offset = 0;         ///< Minutes east of UTC.

  bool operator==(const signature&) const = default;
};

/// A branch. Names of references are bytes as in the repository, which need not be UTF-8.
struct branch {
  std::string name;  ///< Without `refs/heads/` or `refs/remotes/`.
  std::string full_name;
  bool is_remote = false;  ///< A remote-tracking branch, below `refs/remotes/`.
  bool is_head = false;    ///< HEAD points to this branch.
  git_oid target{};        ///< The commit.
  std::string upstream;    ///< Its short name. Empty: none.
  /// Commits that only this branch has, and commits that only its upstream has. nullopt: no upstream, or not computed.
  std::optional<std::pair<std::size_t, std::size_t>> ahead_behind;
  std::string summary;  ///< Of the commit. Empty if the commit cannot be read.
  signature author;     ///< Of the commit. Empty if the commit cannot be read.
};

struct tag {
  std::string name;  ///< Without `refs/tags/`.
  std::string full_name;
  git_oid target{};  ///< The first object that is not a tag (`peel_tags`).
  std::string kind;  ///< The kind of `target`: "commit", "tree" or "blob". Empty: the object cannot be read.
  bool is_annotated = false;
  std::string message;              ///< Of an annotated tag.
  std::optional<signature> tagger;  ///< Of an annotated tag.
};

struct stash {
  std::size_t index = 0;  ///< As in `stash@{0}`, the newest.
  git_oid commit{};
  std::string message;
  std::int64_t time = 0;  ///< Seconds since 1970.
};

/// A work tree: the main one, or a linked one.
struct linked_work_tree {
  std::string name;  ///< Empty for the main work tree.
  std::string
      branch;      ///< Short name, or the full name of a reference that is not a branch. Empty: HEAD is detached or unreadable.
  git_oid head{};  ///< The commit. All zero: none yet, or HEAD cannot be read.
  bool is_locked = false;
  bool is_present = false;  ///< The folder exists inside the roots. Its path is never shown.
  bool is_outside = false;  ///< The folder is outside the roots. Whether it exists is not checked.
};

struct remote {
  std::string name;
  std::string url;  ///< From `display_url`.
};

struct head_state {
  std::string branch;  ///< Short name, or the full name of a reference that is not a branch. Empty: HEAD is detached.
  std::optional<git_oid> commit;  ///< nullopt: no commit yet.
  std::string operation;          ///< The operation in progress, such as "merge" or "rebase". Empty: none.
};

/// A page of branches or tags.
template <class T>
struct reference_page {
  std::vector<T> items;
  std::optional<std::string> next;  ///< The `start_after` of the next page. nullopt: this is the last page.
};

// The next two functions return a page in the byte order of full names, after the full name `start_after`; empty: from the
// first. Broken references are left out, so a page may be short. Cost: O(references) comparisons, and an object or two for each
// reference on the page. Errors: source_unavailable.
/// For `branch::ahead_behind`, reads at most 20 000 commits for a page.
[[nodiscard]] result<reference_page<branch>> branches(git_repository* repo, const std::string& start_after, std::size_t limit);
[[nodiscard]] result<reference_page<tag>> tags(git_repository* repo, const std::string& start_after, std::size_t limit);
/// Lists at most `limit` stashes, newest first, as `git stash list`. Errors: response_too_large if the file of the list has
/// more than 16 MiB; source_unavailable.
[[nodiscard]] result<std::vector<stash>> stashes(git_repository* repo, std::size_t limit);
/// Lists the main work tree first, unless the repository is bare, and then at most a thousand linked ones by name. Checks only
/// below `roots` whether folders exist. Errors: source_unavailable.
[[nodiscard]] result<std::vector<linked_work_tree>> linked_work_trees(git_repository* repo,
                                                                      const std::vector<std::string>& roots);
/// Lists the remotes by name. Errors: source_unavailable.
[[nodiscard]] result<std::vector<remote>> remotes(git_repository* repo);
/// Errors: source_unavailable for a HEAD that cannot be resolved.
[[nodiscard]] result<head_state> head_of(git_repository* repo);

/// Removes the parts of a URL that may be secret: user, password, query and fragment.
[[nodiscard]] std::string strip_credentials(std::string_view url);
/// Like `strip_credentials`, for the URL of a remote. Paths and `file:` URLs become "a local repository".
[[nodiscard]] std::string display_url(std::string_view url);

}  // namespace hondana::git
