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
  milliseconds fresh_ttl = std::chrono::hours(1);  ///< Above 0.
  /// How much longer an analysis may be served, marked as stale. 0: not at all.
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
  milliseconds failure_ttl = std::chrono::seconds(30);  ///< How long a failure is remembered. 0: not at all.
  milliseconds lease_ttl = std::chrono::minutes(2);     ///< The lease of a claim that requests none.
  milliseconds max_lease_ttl = std::chrono::hours(1);
  std::size_t max_waiting_claims = 256;  ///< Claims of one process that may wait for other callers at the same time.
  store_limits limits{};

  [[nodiscard]] const task_policy& for_task(task_type task) const noexcept { return by_task[static_cast<std::size_t>(task)]; }
  [[nodiscard]] task_policy& for_task(task_type task) noexcept { return by_task[static_cast<std::size_t>(task)]; }
};
/// Errors: invalid_argument, naming the value that is out of range.
[[nodiscard]] result<void> validate(const cache_policy& policy);

struct cache_options {
  cache_policy policy{};
  std::string claimant{};                                    ///< The name for claims that give none.
  std::function<void(std::string_view)> log{};               ///< May be empty. Threads: any.
  milliseconds cleanup_interval = std::chrono::seconds(30);  ///< Interval of sweeps and of writing statistics.
};

/// A request for an answer, or for a ticket to compute it.
struct claim_request {
  model_question question{};
  task_type task = task_type::basic;
  std::string session{};
  std::vector<std::string> tags{};
  std::string claimant{};        ///< Empty: `cache_options::claimant`.
  milliseconds lease_ttl{0};     ///< 0: that of the policy. At most `max_lease_ttl`.
  milliseconds wait_timeout{0};  ///< How long to wait while another caller computes the answer. 0: not at all.
  bool is_forced = false;        ///< Return a ticket even if a fresh answer exists.
  /// Whether to treat an analysis as missing for this claim; may be null. Threads: that of the call.
  std::function<bool(const analysis_summary&)> is_hidden{};
  std::stop_token stop{};
};

/// The cache of analyses on top of a store. Calls block like those of the store; `claim` also for as long as it may wait. A
/// thread of the cache receives the changes that all processes make in the store, and cleans up. Threads: any.
class cache {
 public:
  /// Errors: invalid_argument (policy).
  [[nodiscard]] static result<std::shared_ptr<cache>> create(std::shared_ptr<analysis_store> store, cache_options options);
  /// Ends the thread, and writes the pending statistics.
  ~cache();
  cache(const cache&) = delete;
  cache& operator=(const cache&) = delete;

  /// Looks up a question, and counts the result as hit, stale hit, failure or miss.
  /// For a stale answer, one caller should compute a new one: see `claim`. An answer below the policy's thresholds for this
  /// task counts as missing, even if it reached those of another task. So does one that `is_hidden` rejects; `is_hidden` may be
  /// null.
  [[nodiscard]] result<cached_answer> look_up(const model_question& question, task_type task,
                                              const std::function<bool(const analysis_summary&)>& is_hidden = {});
  [[nodiscard]] result<cached_answer> look_up(const question_key& key, task_type task,
                                              const std::function<bool(const analysis_summary&)>& is_hidden = {});
  /// Returns a ticket to compute the answer, or the reason why there is none.
  /// If another caller computes it, a stale answer is returned at once. Without one, the call waits for the result. It returns
  /// a ticket if the other lease ends, or if that computation fails and the failure is not remembered. While a failure is
  /// remembered, stale answers are returned and no tickets. `answer.status` is `computing` if the wait ends before. Counted
  /// as by `look_up`. Errors: overloaded: `max_waiting_claims` callers already wait; cancelled; invalid_argument.
  [[nodiscard]] result<claim_result> claim(const claim_request& request);
  [[nodiscard]] result<instant> renew(const claim_ticket& ticket, milliseconds lease_ttl);
  /// Stores the state after a round. Errors in addition to the store's: invalid_argument if the question differs from the
  /// claimed one.
  [[nodiscard]] result<analysis_summary> put_partial(const claim_ticket& ticket, const analysis& analysis);
  /// The result of storing a whole analysis. `analysis_summary::status` says whether it is final; `not_final_reason` says why
  /// it is below its thresholds, for display.
  struct put_result {
    analysis_summary summary{};
    std::string not_final_reason{};
  };
  [[nodiscard]] result<put_result> put(const claim_ticket& ticket, const analysis& analysis);
  /// Claims and stores in one call, for callers that have the answer already, such as a command line. Rejected with overloaded
  /// and `retry_after` while another caller holds the claim. Replaces a fresh answer.
  [[nodiscard]] result<put_result> put(const analysis& analysis);
  /// Records a failed computation. Errors: as the store's. `reason`: for display; at most 4 KiB are stored.
  [[nodiscard]] result<void> fail(const claim_ticket& ticket, std::string_view reason);
  /// Ends the claim, so that the next caller gets one at once.
  [[nodiscard]] result<void> release_claim(const claim_ticket& ticket);

  [[nodiscard]] result<std::optional<cache_entry>> get(std::string_view id) const;
  [[nodiscard]] result<std::uint64_t> erase(const erase_filter& filter);
  /// Reports the current versions of a resource (empty: it is gone). Deletes analyses based on another version. An empty
  /// version in the list protects those based on an unknown one.
  [[nodiscard]] result<std::uint64_t> erase_outdated(std::string_view uri, std::vector<std::string> current_versions);

  /// Increases with every change of the store: at once for changes by this cache, when they are noticed for others. Does not
  /// block.
  [[nodiscard]] std::uint64_t generation() const noexcept;
  /// Includes counts that are not yet written to the store.
  [[nodiscard]] result<statistics> read_statistics() const;
  [[nodiscard]] analysis_store& store() const noexcept;
  [[nodiscard]] const cache_policy& policy() const noexcept;

  /// Called for every change in order, by the cache's thread, until the returned handle is destroyed. `nullptr`: changes were
  /// missed, so anything may have changed. Must be quick, and must not call the cache in its destructor.
  using change_callback = std::function<void(const store_change*)>;
  [[nodiscard]] std::shared_ptr<void> listen(change_callback callback);
  /// Why changes of the store are not received now, such as a lost server; empty: they are received. When they are again,
  /// listeners get `nullptr`. Does not block.
  [[nodiscard]] std::optional<failure> problem() const;
  /// Reports that a call failed and its result was left out. The problem lasts until the store answers the thread again.
  void report_problem(const failure& error);
  /// Sweeps and writes the statistics now, as the thread does at intervals.
  [[nodiscard]] result<void> clean_up();

 private:
  struct state;
  explicit cache(std::shared_ptr<state> initial_state) noexcept;
  std::shared_ptr<state> state_;
};

}  // namespace hondana::analyses
