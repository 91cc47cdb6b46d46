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

/// Describes each URI once at a time for each access filter, for any number of callers. The number of lookups at a time is
/// limited per source, so that no source delays another. If a lookup is already running, later callers get the result of the
/// next one, because the running one may have seen the state before the change.
///
/// Memory: waiting lookups. Their callers are bounded by the limits of the feed. Threads: any.
class entry_lookups : public std::enable_shared_from_this<entry_lookups> {
 public:
  /// Receives the entry; null if there is none, or the source did not answer in time. Must only take a note.
  using entry_callback = std::function<void(std::shared_ptr<const resource> entry)>;

  /// `max_running`: lookups at a time per source. With `timers`, sources are called on the timer thread, never by the thread
  /// that calls `request`. That thread may hold a lock that a source would need if it answers at once.
  explicit entry_lookups(std::size_t max_running = 16, std::shared_ptr<executor::timers> timers = nullptr) noexcept
      : max_running_(max_running), timers_(std::move(timers)) {}

  /// Sets the catalog of later lookups.
  void set_catalog(std::shared_ptr<const catalog> catalog);
  /// Calls `callback` once, on any thread, possibly before this returns. `uri` is canonical. The entry is as the access filter
  /// `filter` (may be null) permits.
  void request(const std::string& uri, std::shared_ptr<const access_filter> filter, entry_callback callback);
  /// The same for callers that are notified only if the entry exists. If the source is busy or fails, the lookup is retried
  /// with growing pauses, for about a minute and a half.
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
    int tries = 0;  // failed ones
  };
  struct lookup_job {
    std::vector<lookup_waiter> current;  // before it started
    std::vector<lookup_waiter> next;     // since it started
    std::uint64_t source_id = 0;
    int failures = 0;  // since the last answer; determines the pause
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
  void finish(job_map::iterator position, const std::vector<lookup_waiter>& waiters, const result<resource>& outcome);

  const std::size_t max_running_;
  const std::shared_ptr<executor::timers> timers_;
  mutable std::mutex mutex_;
  std::shared_ptr<const catalog> catalog_;
  job_map jobs_;
  std::map<std::uint64_t, source_queue> queues_;  // by source; empty ones are erased
};

}  // namespace hondana::catalog
