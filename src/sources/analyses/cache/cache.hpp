/// The cache of analyses: policy, claims, waiting callers and listeners on top of a store.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

#include "sources/analyses/cache/analysis.hpp"
#include "sources/analyses/cache/analysis_key.hpp"
#include "sources/analyses/cache/store.hpp"

namespace hondana::analyses {

struct task_policy {
  milliseconds fresh = std::chrono::hours(1);     ///< Above 0.
  milliseconds stale = std::chrono::minutes(30);  ///< How much longer it may be served, marked as stale; 0: not at all.
  thresholds wanted{};                            ///< Beside the analysis's own: the stricter ones hold.
};

struct policy {
  /// In the order of `task_type`.
  std::array<task_policy, count_of_tasks> by_task{
      task_policy{std::chrono::hours(1), std::chrono::minutes(30), {0.7, 0.6, 2}},
      task_policy{std::chrono::hours(24), std::chrono::hours(6), {0.8, 0.7, 3}},
      task_policy{std::chrono::hours(24 * 7), std::chrono::milliseconds(0), {0.9, 0.8, 4}},
  };
  milliseconds failures = std::chrono::seconds(30);  ///< How long a failure is remembered; 0: not at all.
  milliseconds lease = std::chrono::minutes(2);      ///< Where a claimant asks for none.
  milliseconds longest_lease = std::chrono::hours(1);
  std::size_t most_waiting = 256;  ///< Claimants of one process that wait for others at the same time.
  limits kept{};

  [[nodiscard]] const task_policy& of(task_type which) const noexcept { return by_task[static_cast<std::size_t>(which)]; }
  [[nodiscard]] task_policy& of(task_type which) noexcept { return by_task[static_cast<std::size_t>(which)]; }
};
/// Errors: invalid_argument, naming the value that is out of its range.
[[nodiscard]] result<void> check(const policy& what);

struct cache_options {
  policy by{};
  std::string who{};                                   ///< Claimants, where they do not say who they are.
  std::function<void(std::string_view)> log{};         ///< May be empty. Threads: any.
  milliseconds tidy_every = std::chrono::seconds(30);  ///< Sweeping, and writing what was counted.
};

/// Somebody who wants an analysis, and computes it where there is none.
struct claim_request {
  question asked{};
  task_type task = task_type::basic;
  std::string session{};
  std::vector<std::string> tags{};
  std::string who{};       ///< Empty: as the options say.
  milliseconds lease{0};   ///< 0: as the policy says; at most `longest_lease`.
  milliseconds wait{0};    ///< How long to wait for somebody else who computes it; 0: not at all.
  bool is_forced = false;  ///< Also where there is a fresh one.
  /// Whether an analysis is as good as not there for this claimant; may be empty. Threads: that of the call.
  std::function<bool(const summary&)> is_hidden{};
  std::stop_token stop{};
};

/// Threads: any. Blocking as the store's calls are, and `claim` for as long as it may wait. A thread of the cache follows what
/// happens in the store, by whichever process, and tidies.
class cache {
 public:
  /// Errors: invalid_argument (policy).
  [[nodiscard]] static result<std::shared_ptr<cache>> make(std::shared_ptr<store> in, cache_options options);
  /// Ends the thread, and writes what was counted.
  ~cache();
  cache(const cache&) = delete;
  cache& operator=(const cache&) = delete;

  /// What there is for a question, counted as hit, stale hit, failure or miss. Of a stale answer one asker at a time should
  /// compute anew: see `claim`. What does not reach the policy's thresholds of this task is as good as missing, although it
  /// reached those of another task.
  /// What `is_hidden` says of is as good as missing, too; it may be empty.
  [[nodiscard]] result<answer> look(const question& asked, task_type task,
                                    const std::function<bool(const summary&)>& is_hidden = {});
  [[nodiscard]] result<answer> look(const key& of, task_type task, const std::function<bool(const summary&)>& is_hidden = {});
  /// A ticket to compute it, or what makes it unnecessary. Where somebody else computes it: what is stale is served at once,
  /// and otherwise, after waiting, what has come of it; or a ticket, when the lease has ended or computing has failed
  /// without being remembered. While a failure is remembered, what is stale is served, and nobody computes it. `answer.what` is
  /// `computing` when the wait is over before. Counted as `look`. Errors: overloaded: `most_waiting` wait already; cancelled;
  /// invalid_argument.
  [[nodiscard]] result<claimed> claim(const claim_request& what);
  [[nodiscard]] result<instant> renew(const ticket& by, milliseconds lease);
  /// A round: what there is of the analysis so far. Errors besides the store's: invalid_argument where it asks something else
  /// than was claimed.
  [[nodiscard]] result<summary> put_part(const ticket& by, const analysis& so_far);
  /// The whole. `summary::how` says whether it is final; `why_not` of an answer below its thresholds, for people.
  struct kept {
    summary about{};
    std::string why_not{};
  };
  [[nodiscard]] result<kept> put(const ticket& by, const analysis& whole);
  /// Claims and puts in one: for those that have it already, such as a command line. A live claim of somebody else is refused
  /// (overloaded, with `retry`), a fresh answer is replaced.
  [[nodiscard]] result<kept> put(const analysis& whole);
  /// Errors, as the store's. `why`: for people, at most 4 KiB are kept.
  [[nodiscard]] result<void> fail(const ticket& by, std::string_view why);
  /// Ends the claim, so that the next may have it at once.
  [[nodiscard]] result<void> give_up(const ticket& by);

  [[nodiscard]] result<std::optional<entry>> get(std::string_view id) const;
  [[nodiscard]] result<std::uint64_t> forget(const forgetting& which);
  /// These versions of a resource still hold (none: it is gone); what was based on another is forgotten, and the
  /// empty one keeps what is based on an unknown one.
  [[nodiscard]] result<std::uint64_t> changed(std::string_view uri, std::vector<std::string> versions);

  /// Rises with every change of the store: by this cache at once, by others when it is heard of. Does not block.
  [[nodiscard]] std::uint64_t generation() const noexcept;
  /// With what has not been written to the store yet.
  [[nodiscard]] result<statistics> counted() const;
  [[nodiscard]] store& in() const noexcept;
  [[nodiscard]] const policy& by() const noexcept;

  /// Hears of every change in order, from the thread of the cache, until what is returned dies; `nullptr`: some were missed, so
  /// that anything may have changed. It must be quick, and not call back in its destructor.
  using listener = std::function<void(const change*)>;
  [[nodiscard]] std::shared_ptr<void> listen(listener hears);
  /// Why what happens in the store is not heard just now, such as a server that has gone; nothing: it is heard. Listeners are
  /// told `nullptr` when it is heard again. Does not block.
  [[nodiscard]] std::optional<failure> trouble() const;
  /// Somebody has met this trouble with the store, and left something out: it lasts until the store has answered the thread.
  void notice(const failure& what);
  /// Sweeps and writes what was counted now, as the thread does every while.
  [[nodiscard]] result<void> tidy();

 private:
  struct state;
  explicit cache(std::shared_ptr<state> made) noexcept;
  std::shared_ptr<state> state_;
};

}  // namespace hondana::analyses
