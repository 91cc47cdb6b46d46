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

/// The rules of one task type.
struct task_policy {
  milliseconds fresh_ttl = std::chrono::hours(1);  ///< How long an analysis is fresh. Above 0.
  /// How much longer an analysis may be returned, marked as stale. 0: not at all.
  milliseconds stale_ttl = std::chrono::minutes(30);
  thresholds required{};  ///< In addition to the analysis's own: the stricter value counts.
};

/// The rules of a cache.
struct cache_policy {
  /// In the order of `task_type`.
  std::array<task_policy, task_type_count> by_task{
      task_policy{std::chrono::hours(1), std::chrono::minutes(30), {0.7, 0.6, 2}},
      task_policy{std::chrono::hours(24), std::chrono::hours(6), {0.8, 0.7, 3}},
      task_policy{std::chrono::hours(24 * 7), std::chrono::milliseconds(0), {0.9, 0.8, 4}},
  };
  milliseconds failure_ttl = std::chrono::seconds(30);  ///< How long a failed computation is remembered. 0: not at all.
  milliseconds lease_ttl = std::chrono::minutes(2);     ///< The lease of a claim that requests none.
  milliseconds max_lease_ttl = std::chrono::hours(1);
  std::size_t max_waiting_claims = 256;  ///< Claims of one process that may wait for other callers at the same time.
  store_limits limits{};

  [[nodiscard]] const task_policy& for_task(task_type task) const noexcept { return by_task[static_cast<std::size_t>(task)]; }
  [[nodiscard]] task_policy& for_task(task_type task) noexcept { return by_task[static_cast<std::size_t>(task)]; }
};
/// Checks the ranges of all values. Errors: invalid_argument, naming the value that is out of range.
[[nodiscard]] result<void> validate(const cache_policy& policy);

struct cache_options {
  cache_policy policy{};
  std::string claimant{};                                    ///< Default of `claim_request::claimant`.
  std::function<void(std::string_view)> log{};               ///< May be empty. Threads: any.
  milliseconds cleanup_interval = std::chrono::seconds(30);  ///< Interval of `cache::clean_up`. At least 10 ms.
};

/// A request for an answer, or for a ticket to compute it.
struct claim_request {
  model_question question{};
  task_type task = task_type::basic;
  std::string session{};
  std::vector<std::string> tags{};
  std::string claimant{};        ///< Name of the caller, for display. Empty: `cache_options::claimant`.
  milliseconds lease_ttl{0};     ///< 0: `cache_policy::lease_ttl`. At most `max_lease_ttl`.
  milliseconds wait_timeout{0};  ///< How long to wait while another caller computes the answer. 0: not at all.
  bool is_forced = false;        ///< Return a ticket despite a fresh answer or a remembered failure.
  /// Whether this claim must treat an analysis as missing. May be empty. Called during `claim`, on its thread.
  std::function<bool(const analysis_summary&)> is_hidden{};
  std::stop_token stop{};  ///< Ends the wait.
};

/// The cache of analyses on top of a store. Calls block like those of the store; `claim` also up to its `wait_timeout`. All
/// calls also return the store's errors. A thread of the cache receives the changes that all processes make in the store, and
/// cleans up. Threads: any.
class cache {
 public:
  /// Starts the thread. Errors: invalid_argument: the options.
  [[nodiscard]] static result<std::shared_ptr<cache>> create(std::shared_ptr<analysis_store> store, cache_options options);
  /// Ends the thread, and writes the statistics to the store.
  ~cache();
  cache(const cache&) = delete;
  cache& operator=(const cache&) = delete;

  /// Looks up a question, and counts the result as hit, stale hit, failure or miss in the statistics of `task`.
  /// An analysis below the policy's thresholds for `task` counts as missing, even if it reached those of another task. So does
  /// one for which `is_hidden` returns true. `is_hidden` may be empty.
  [[nodiscard]] result<cached_answer> look_up(const model_question& question, task_type task,
                                              const std::function<bool(const analysis_summary&)>& is_hidden = {});
  /// Like the function above, by the question's key.
  [[nodiscard]] result<cached_answer> look_up(const question_key& key, task_type task,
                                              const std::function<bool(const analysis_summary&)>& is_hidden = {});
  /// Returns a ticket to compute the answer, or the reason why there is none. Counts the result like `look_up`.
  /// If another caller computes the answer, the call returns a stale answer at once. Without one, it waits until that
  /// computation ends. It then returns the new answer or the remembered failure, and otherwise a ticket. If `wait_timeout`
  /// passes before, `answer.status` is `computing`. Errors: overloaded: `max_waiting_claims` callers already wait; cancelled;
  /// invalid_argument.
  [[nodiscard]] result<claim_result> claim(const claim_request& request);
  /// Extends the lease to at least `lease_ttl` from now, and returns its end. 0: `cache_policy::lease_ttl`. Errors: as
  /// `analysis_store::renew`; invalid_argument: above `max_lease_ttl`.
  [[nodiscard]] result<instant> renew(const claim_ticket& ticket, milliseconds lease_ttl);
  /// Stores the state after a round. The lease then lasts at least `cache_policy::lease_ttl` from now. Errors: as
  /// `analysis_store::put`.
  [[nodiscard]] result<analysis_summary> put_partial(const claim_ticket& ticket, const analysis& analysis);
  struct put_result {
    analysis_summary summary{};      ///< As stored. `status` says whether the analysis is final.
    std::string not_final_reason{};  ///< For display: why it is below its thresholds. Empty if it is final.
  };
  /// Stores a whole analysis, which ends the claim. Errors: as `analysis_store::put`.
  [[nodiscard]] result<put_result> put(const claim_ticket& ticket, const analysis& analysis);
  /// Claims and stores in one call, also despite a fresh answer. For callers that already have the analysis. Errors: also
  /// overloaded, with `retry_after`, while another caller holds the claim.
  [[nodiscard]] result<put_result> put(const analysis& analysis);
  /// Ends the claim, and remembers the failure for `cache_policy::failure_ttl`. `reason`: for display; at most 4 KiB are
  /// stored.
  [[nodiscard]] result<void> fail(const claim_ticket& ticket, std::string_view reason);
  /// Ends the claim, so that the next caller gets a ticket at once.
  [[nodiscard]] result<void> release_claim(const claim_ticket& ticket);

  /// As `analysis_store::get`.
  [[nodiscard]] result<std::optional<cache_entry>> get(std::string_view id) const;
  /// Deletes all analyses that the filter selects, and returns how many.
  [[nodiscard]] result<std::uint64_t> erase(const erase_filter& filter);
  /// Deletes analyses based on a version of the resource that is not in `current_versions`, and returns how many. No versions:
  /// the resource is gone. An empty string stands for the unknown version.
  [[nodiscard]] result<std::uint64_t> erase_outdated(std::string_view uri, std::vector<std::string> current_versions);

  /// A number that increases with every `store_change`: at once for changes by this cache, and when the thread receives them
  /// for others. Does not block.
  [[nodiscard]] std::uint64_t generation() const noexcept;
  /// The statistics of the store and the counts that this cache has not written to it yet.
  [[nodiscard]] result<statistics> read_statistics() const;
  [[nodiscard]] analysis_store& store() const noexcept;
  [[nodiscard]] const cache_policy& policy() const noexcept;

  /// Receives one change of the store. Null: changes were missed, so anything may have changed. Must be quick.
  using change_callback = std::function<void(const store_change*)>;
  /// Calls `callback` for every change, in order, on the cache's thread, until the returned handle is destroyed. Its
  /// destruction waits for a running call. The destructor of `callback` must not call the cache.
  [[nodiscard]] std::shared_ptr<void> listen(change_callback callback);
  /// Why the thread receives no changes of the store, such as a lost connection; or the error given to `report_problem`. Empty:
  /// no problem. When the problem is over, callbacks get null. Does not block.
  [[nodiscard]] std::optional<failure> problem() const;
  /// Sets `problem`, because a list was returned without analyses. Does nothing if there is a problem already. The thread
  /// removes the problem when the store answers, but at most once in 30 s.
  void report_problem(const failure& error);
  /// Calls `analysis_store::sweep`, and writes the statistics to the store, as the thread does at intervals.
  [[nodiscard]] result<void> clean_up();

 private:
  struct state;
  explicit cache(std::shared_ptr<state> initial_state) noexcept;
  std::shared_ptr<state> state_;
};

}  // namespace hondana::analyses
