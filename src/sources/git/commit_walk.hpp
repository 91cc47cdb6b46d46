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
  std::uint64_t visited_count = 0;  ///< Number of commits that were returned.
  /// The commits that wait to be returned, in order. Empty: there are more than `max_frontier` or none; `resume` then repeats
  /// the walk up to this position.
  std::vector<git_oid> frontier;
  /// Returned commits that could come up again as parents. Contains all those older than `complete_before`.
  std::vector<visited_commit> recent;
  std::uint64_t complete_before = std::numeric_limits<std::uint64_t>::max();  ///< As `commit_node::time`.
  bool has_reached_end = false;  ///< A returned commit has no parents, or a parent older than `since`.

  // Limits so that a cursor fits into a URI.
  static constexpr std::size_t max_frontier = 128;
  static constexpr std::size_t max_recent = 32;
};

inline constexpr std::string_view foreign_cursor_message =
    "the argument `cursor` does not belong to this log; omit it to start at the beginning";

/// Walks history in the order of `git log` without --topo-order and similar options. Returns each commit once. The next commit
/// is the newest of those that wait; of equally new ones, the one that has waited longest. After it was returned, its parents
/// wait. So a parent that is newer than its child, because a clock was wrong, comes after its first child.
///
/// A resumed walk returns exactly what the interrupted one would have returned. Usually the saved state says whether a parent
/// was returned before. At the first parent for which it does not, the walk repeats itself from the start to its position,
/// once.
class commit_walk {
 public:
  struct options {
    /// Seconds since 1970. Leaves out older commits, and all that are reached only through them, as `git log --since` does.
    std::optional<std::int64_t> since{};
    /// Called periodically; true ends the walk with the error cancelled. May be empty.
    std::function<bool()> is_stopped{};
  };

  /// `store` must outlive the walk.
  commit_walk(const commit_store& store, const git_oid& start, options walk_options);

  /// Starts the walk. Call `begin` or `resume` before all other functions. Errors: those of `commit_store::read`.
  [[nodiscard]] result<void> begin();
  /// Resumes a walk. `saved` may come from a forged cursor. Errors: invalid_argument if it cannot belong to this walk; those of
  /// `next`.
  [[nodiscard]] result<void> resume(const walk_state& saved);

  /// Returns the next commit. nullopt: the walk is at its end. Errors: source_unavailable, naming the commit whose parent is
  /// missing or broken: the position is unchanged. After other errors (cancelled, invalid_argument), the walk is unusable.
  [[nodiscard]] result<std::optional<commit_node>> next();

  /// Whether `next` would return nullopt.
  [[nodiscard]] bool is_finished() const noexcept { return queue_.empty(); }
  /// Returns the position, for `resume`.
  [[nodiscard]] walk_state state() const;

 private:
  struct queued_commit {
    commit_node node;
    std::uint64_t order = 0;  ///< Lower for commits that have waited longer.
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
  /// Reads the parents that are not in `seen_`.
  [[nodiscard]] result<std::vector<commit_node>> read_parents(const commit_node& node) const;
  /// Returns false if it is unknown whether one of the parents was returned before.
  [[nodiscard]] bool enqueue_parents(std::vector<commit_node> parents);
  /// Repeats the walk from the start up to `visited_count_` commits. Returns the last one.
  [[nodiscard]] result<git_oid> replay();

  const commit_store& store_;
  const git_oid start_;
  const options options_;
  std::vector<queued_commit> queue_;                       // a heap by `queue_order`
  std::unordered_set<git_oid, oid_hash, oid_equal> seen_;  // commits that wait or were returned
  std::vector<visited_commit> recent_;
  std::uint64_t recent_complete_before_ =
      std::numeric_limits<std::uint64_t>::max();                                    // `recent_` has all older returned commits
  std::uint64_t seen_complete_before_ = std::numeric_limits<std::uint64_t>::max();  // `seen_` has all older returned commits
  std::uint64_t visited_count_ = 0;
  std::uint64_t next_order_ = 0;
  bool has_reached_end_ = false;
};

/// Encodes the position of a walk as text. `log_digest`: a digest of everything that determines the walk. `note`: data of the
/// caller, which must not exceed 4 KiB.
[[nodiscard]] std::string encode_cursor(const walk_state& state, const bytes::digest& log_digest, std::string_view note = {});

struct parsed_cursor {
  walk_state state;
  std::string note;
};
/// Parses a cursor. nullopt: `encode_cursor` did not write it, or it has another `log_digest`. This detects mistakes, not
/// forgery: a forged cursor can only change the order of commits.
[[nodiscard]] std::optional<parsed_cursor> parse_cursor(std::string_view text, const bytes::digest& log_digest);

/// Starts a walk if `cursor` is empty, and otherwise resumes it there. Returns the note of the cursor. Errors: invalid_argument
/// if it is not a cursor of this log; those of `commit_walk::begin` and `resume`.
[[nodiscard]] result<std::string> resume_walk(commit_walk& walk, std::string_view cursor, const bytes::digest& log_digest);

}  // namespace hondana::git
