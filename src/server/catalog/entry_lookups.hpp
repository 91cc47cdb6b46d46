/// Looks up the entries of changed resources, once for all listeners that need them.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <hondana/resource.hpp>

#include "base/executor/timers.hpp"
#include "server/catalog/catalog.hpp"

namespace hondana::catalog {

/// Looks up entries with `catalog::describe`. Requests for the same URI and access filter share one lookup, for any number of
/// callers. A request that arrives during a lookup gets the result of the next one, because the running one may have missed the
/// change.
///
/// The number of running lookups is limited per source, so that a slow source does not delay others. Memory: waiting requests,
/// whose number the limits of the change feed bound. Threads: any.
class entry_lookups : public std::enable_shared_from_this<entry_lookups> {
 public:
  /// Receives the entry. Null: there is none, the access filter hides it, or the last try failed. Must only record it and
  /// return.
  using entry_callback = std::function<void(std::shared_ptr<const resource> entry)>;

  /// `max_running`: running lookups per source. With `timers`, `request` leaves all calls of sources to the timer thread, so
  /// its caller may hold locks that a source needs. Without `timers`, `request` may call the source and `callback` itself, and
  /// retries have no pauses.
  explicit entry_lookups(std::size_t max_running = 16, std::shared_ptr<executor::timers> timers = nullptr) noexcept
      : max_running_(max_running), timers_(std::move(timers)) {}

  /// Sets the catalog of later lookups. Null: they find no entry.
  void set_catalog(std::shared_ptr<const catalog> catalog);
  /// Looks up the entry of `uri` (canonical) with the access filter `filter` (null: none). Calls `callback` exactly once, on
  /// any thread, possibly before this returns. A try ends after 5 s. If the source is busy or fails, the lookup is retried at
  /// most twice, without a pause; after a timeout not at all.
  void request(const std::string& uri, std::shared_ptr<const access_filter> filter, entry_callback callback);
  /// As `request`, but retries up to seven times, also after timeouts, with pauses of 1 to 32 s. All seven take over a minute
  /// and a half. For notifications that are sent only if the entry exists. If this object is destroyed during a pause,
  /// `callback` is not called.
  void request_persistently(const std::string& uri, std::shared_ptr<const access_filter> filter, entry_callback callback);

  /// Number of waiting and running lookups, for tests and metrics.
  [[nodiscard]] std::size_t in_progress() const;

 private:
  struct lookup_key {
    std::string uri;
    std::shared_ptr<const access_filter> filter;
    bool is_persistent = false;
    friend auto operator<=>(const lookup_key&, const lookup_key&) = default;
  };
  struct lookup_waiter {
    entry_callback callback;
    int tries = 0;  // failed tries
  };
  struct lookup_job {
    std::vector<lookup_waiter> current;  // requests before the lookup started
    std::vector<lookup_waiter> next;     // requests since it started
    std::uint64_t source_id = 0;
    int failures = 0;  // failed tries in a row; determines the pause
  };
  using job_map = std::map<lookup_key, lookup_job>;
  /// The lookups of one source.
  struct source_queue {
    std::deque<job_map::iterator> ready;  // those that have not started
    std::size_t running = 0;
    bool is_dispatching = false;  // prevents recursion for sources that answer at once
  };

  void request(lookup_key lookup, entry_callback callback);
  /// Continues a lookup after its pause.
  void resume(const lookup_key& lookup);
  /// Starts waiting lookups of a source, up to the limit.
  void dispatch(std::uint64_t source_id);
  /// Passes the outcome of a lookup to `waiters`, or prepares their retries.
  void finish(job_map::iterator position, const std::vector<lookup_waiter>& waiters, const result<resource>& outcome);

  const std::size_t max_running_;
  const std::shared_ptr<executor::timers> timers_;
  mutable std::mutex mutex_;
  std::shared_ptr<const catalog> catalog_;
  job_map jobs_;
  std::map<std::uint64_t, source_queue> queues_;  // by source; empty ones are erased
};

}  // namespace hondana::catalog
