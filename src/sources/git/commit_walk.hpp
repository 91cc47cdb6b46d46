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

/// A commit that the walk has returned, and its time.
struct visited_commit {
  std::uint64_t time = 0;
  git_oid id{};
  bool operator==(const visited_commit& other) const noexcept {
    return time == other.time && git_oid_equal(&id, &other.id) != 0;
  }
};

/// The position of a walk that was interrupted.
struct walk_state {
  std::uint64_t visited_count = 0;  ///< How many commits were returned.
  std::vector<git_oid> frontier;    ///< The waiting commits, in order. Empty: too many; the walk starts again and counts.
  /// The returned commits that could come up again as parents: all that are older than `complete_before`.
  std::vector<visited_commit> recent;
  std::uint64_t complete_before = std::numeric_limits<std::uint64_t>::max();
  bool has_reached_end = false;  ///< A commit was returned that has no parents, or a parent that is left out.

  /// Few enough that a cursor fits into a URI.
  static constexpr std::size_t max_frontier = 128;
  static constexpr std::size_t max_recent = 32;
};

inline constexpr std::string_view foreign_cursor_message =
    "the argument `cursor` does not belong to this log; omit it to start at the beginning";

/// Walks history in the order of git without --topo-order and similar options. Each commit comes once. The next one is the
/// newest of those that wait, and of equally new ones the one that has waited longest. Then its parents begin to wait. A parent
/// that is newer than its child, because a clock was wrong, comes after its first child.
///
/// A resumed walk returns exactly what the interrupted one would have returned. Usually the saved state suffices for that: a
/// parent is older than all commits returned before, or `recent` tells whether it was among them. At the first parent for which
/// neither is known, the walk goes from the start to its position again, once.
class commit_walk {
 public:
  struct options {
    /// Leaves out older commits, and everything that is reached only through them, as `git log --since` does.
    std::optional<std::int64_t> since{};
    /// Called periodically; true ends the walk with `cancelled`.
    std::function<bool()> is_stopped{};
  };

  /// `store` must outlive this.
  commit_walk(const commit_store& store, const git_oid& start, options walk_options);

  /// Starts the walk. This or `resume` must be called first. Errors: those of the store.
  [[nodiscard]] result<void> begin();
  /// Resumes a walk. The state may be forged. Errors: invalid_argument if it cannot belong to this walk.
  [[nodiscard]] result<void> resume(const walk_state& saved);

  /// The next commit; nothing at the end. Errors: source_unavailable for a missing or broken parent, naming its child;
  /// cancelled. After an error the position is unchanged.
  [[nodiscard]] result<std::optional<commit_node>> next();

  [[nodiscard]] bool is_finished() const noexcept { return queue_.empty(); }
  [[nodiscard]] walk_state state() const;

 private:
  struct queued_commit {
    commit_node node;
    std::uint64_t order = 0;
  };
  struct queue_order {
    bool operator()(const queued_commit& a, const queued_commit& b) const noexcept {
      return a.node.time != b.node.time ? a.node.time < b.node.time : a.order > b.order;
    }
  };

  void clear();
  void enqueue(commit_node node);
  void mark_visited(const commit_node& node);
  [[nodiscard]] bool is_too_old(const commit_node& node) const noexcept;
  [[nodiscard]] result<std::vector<commit_node>> read_parents(const commit_node& node) const;
  [[nodiscard]] bool enqueue_parents(std::vector<commit_node> parents);
  /// Walks from the start to the present position. Returns the last commit.
  [[nodiscard]] result<git_oid> replay();

  const commit_store& store_;
  const git_oid start_;
  const options options_;
  std::vector<queued_commit> queue_;  // a heap by `queue_order`
  std::unordered_set<git_oid, oid_hash, oid_equal> seen_;
  std::vector<visited_commit> recent_;
  std::uint64_t recent_complete_before_ =
      std::numeric_limits<std::uint64_t>::max();                                    // `recent_` has all older returned commits
  std::uint64_t seen_complete_before_ = std::numeric_limits<std::uint64_t>::max();  // `seen_` has all older returned commits
  std::uint64_t visited_count_ = 0;
  std::uint64_t next_order_ = 0;
  bool has_reached_end_ = false;
};

/// `log_digest`: a digest of everything that determines the walk. `note`: data of the caller, at most 4 KiB.
[[nodiscard]] std::string encode_cursor(const walk_state& state, const bytes::digest& log_digest, std::string_view note = {});

struct parsed_cursor {
  walk_state state;
  std::string note;
};
/// Parses a cursor. Nothing if `encode_cursor` did not write it, or if it is another log's. This detects mistakes, not forgery:
/// a forged cursor shows existing commits of the repository in another order, and nothing else.
[[nodiscard]] std::optional<parsed_cursor> parse_cursor(std::string_view text, const bytes::digest& log_digest);

/// Starts a walk or, unless `cursor` is empty, resumes it there. Returns the cursor's note. Errors: invalid_argument for a
/// string that is not a cursor of this log; those of the walk.
[[nodiscard]] result<std::string> resume_walk(commit_walk& walk, std::string_view cursor, const bytes::digest& log_digest);

}  // namespace hondana::git
