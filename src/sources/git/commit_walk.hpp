/// Walks from a commit to its ancestors in the order of `git log`, with cursors to resume from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include <hondana/error.hpp>

#include "base/bytes/digest.hpp"
#include "sources/git/commit_store.hpp"
#include "sources/git/libgit2.hpp"

namespace hondana::git {

/// A commit that has been passed, and its time.
struct passed_commit {
  std::uint64_t time = 0;
  git_oid id{};
  bool operator==(const passed_commit& other) const noexcept {
    return time == other.time && git_oid_equal(&id, &other.id) != 0;
  }
};

/// Where a walk was left.
struct walk_state {
  std::uint64_t passed = 0;       ///< How many commits.
  std::vector<git_oid> frontier;  ///< Those that wait, in their order. Empty: too many; the walk begins anew and counts.
  /// Those passed that could come up again as somebody's parent: all that are older than `known_below`.
  std::vector<passed_commit> recent;
  std::uint64_t known_below = std::numeric_limits<std::uint64_t>::max();
  bool has_passed_end = false;  ///< A commit without parents, or with a parent that is left out.

  /// So many that a cursor fits into a URI.
  static constexpr std::size_t widest_frontier = 128;
  static constexpr std::size_t most_recent = 32;
};

inline constexpr std::string_view foreign_cursor =
    "the argument `cursor` does not belong to this log; omit it to start at the beginning";

/// Every commit comes once: the newest of those that wait is next, and of equally new ones the one that has waited longest, and
/// its parents are added to them then, as git does it without --topo-order and the like. A parent that is newer than its child
/// (a clock was wrong) comes when its first child has come.
///
/// A walk that goes on where another was left gives exactly what that one would have given. It needs no more than the state for
/// it as long as every parent is older than all commits passed before, or `recent` tells whether it was among them; at the
/// first of which neither is known, it walks from the start again to where it is, once.
class walk {
 public:
  struct limits {
    /// Older commits are left out with all that is reached through them only, as `git log --since` does.
    std::optional<std::int64_t> since{};
    /// Asked now and then; true ends it with `cancelled`.
    std::function<bool()> is_stopped{};
  };

  /// `in` must outlive this.
  walk(const commit_store& in, const git_oid& from, limits with);

  /// Must be called before all else. Errors: those of the store.
  [[nodiscard]] result<void> begin();
  /// The same for going on; the state may be anybody's work. Errors: invalid_argument where it cannot be one of this walk.
  [[nodiscard]] result<void> go_on(const walk_state& at);

  /// Nothing at the end. Errors: source_unavailable for a missing or broken parent, with the commit that names it, and
  /// cancelled; then it stays where it is.
  [[nodiscard]] result<std::optional<commit_node>> next();

  [[nodiscard]] bool is_over() const noexcept { return queue_.empty(); }
  [[nodiscard]] walk_state state() const;

 private:
  struct waiting {
    commit_node node;
    std::uint64_t order = 0;
  };
  struct comes_later {
    bool operator()(const waiting& a, const waiting& b) const noexcept {
      return a.node.time != b.node.time ? a.node.time < b.node.time : a.order > b.order;
    }
  };

  void clear();
  void add(commit_node node);
  void pass(const commit_node& node);
  [[nodiscard]] bool is_too_old(const commit_node& node) const noexcept;
  [[nodiscard]] result<std::vector<commit_node>> parents_of(const commit_node& node) const;
  [[nodiscard]] bool add_all(std::vector<commit_node> parents);
  /// From the start to where it is; the commit passed last.
  [[nodiscard]] result<git_oid> walk_again();

  const commit_store& in_;
  const git_oid from_;
  const limits limits_;
  std::vector<waiting> queue_;  // a heap by `comes_later`
  std::unordered_set<git_oid, oid_hash, oid_equal> seen_;
  std::vector<passed_commit> recent_;
  std::uint64_t recent_below_ = std::numeric_limits<std::uint64_t>::max();  // recent_ has all that passed and are older
  std::uint64_t known_below_ = std::numeric_limits<std::uint64_t>::max();   // seen_ has all that passed and are older
  std::uint64_t passed_ = 0;
  std::uint64_t order_ = 0;
  bool has_passed_end_ = false;
};

/// `log` is the digest of all that makes the walk what it is; `note` is for who walks, at most 4 KiB.
[[nodiscard]] std::string cursor_of(const walk_state& at, const bytes::digest& log, std::string_view note = {});

struct parsed_cursor {
  walk_state at;
  std::string note;
};
/// Nothing for what `cursor_of` does not write, and for another log's. It tells mistakes from cursors; who forges one sees
/// commits of the repository that exist, in an order of their own, and no more.
[[nodiscard]] std::optional<parsed_cursor> parse_cursor(std::string_view text, const bytes::digest& log);

/// Begins a walk, or goes on where `cursor` says unless it is empty; its note. Errors: invalid_argument for what is no cursor
/// of this log; those of the walk.
[[nodiscard]] result<std::string> begin_walk(walk& through, std::string_view cursor, const bytes::digest& log);

}  // namespace hondana::git
