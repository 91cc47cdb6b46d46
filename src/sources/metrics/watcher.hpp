/// Notifies subscribers when a metric has new samples, or when a condition on it begins or ceases to hold.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>

#include <hondana/capabilities.hpp>
#include <hondana/provider.hpp>

#include "sources/metrics/address.hpp"
#include "sources/metrics/backend.hpp"
#include "sources/metrics/condition_check.hpp"

namespace hondana::metrics {

/// Detects crossings of a condition from a sequence of verdicts. Does no I/O. Threads: one at a time.
///
/// A crossing is a series that begins to meet the condition (for long enough) or stops meeting it. Unknown states change
/// nothing. A known series that is missing for longer than `gap`, while the source answers, is gone. This is a crossing if it
/// met the condition.
///
/// Verdicts older than the last one are ignored, so that a clock set back causes no crossings. The steps of each verdict may
/// lie at different times. If one verdict shows an interruption that the next one skips, it still counts as one crossing.
class crossing_detector {
 public:
  /// `hold_duration`: that of the condition.
  explicit crossing_detector(series::duration hold_duration = 0) : hold_duration_(hold_duration) {}
  /// Sets the initial state of the series: a verdict for the time `time`.
  void initialize(const verdict& verdict, series::instant time);
  /// Updates the state with a verdict for the time `time`. Returns whether there was a crossing.
  [[nodiscard]] bool update(const verdict& verdict, series::instant time, series::duration gap = series::default_lookback);

 private:
  struct series_state {
    bool is_met = false;
    series::instant verdict_at = 0;
    std::optional<series::instant> active_since{};   // start of the period in which it is met or pending; nullopt: quiet
    std::optional<series::instant> missing_since{};  // the first verdict without the series; nullopt: it is not missing
  };
  [[nodiscard]] series_state next_state(const condition_status& status, const series_state* previous,
                                        series::instant time) const;

  series::duration hold_duration_;
  std::map<std::string, series_state, std::less<>> states_;
  std::optional<series::instant> last_verdict_at_;
};

/// Options of a `watcher`.
struct watcher_options {
  std::shared_ptr<backend> metrics_backend;
  response_limits limits{};
  std::function<series::instant()> now{};  ///< Empty: the system clock.
  /// Returns an error if a metric or query may not be watched. No notification is sent for those. Empty: all may.
  std::function<result<void>(const address&, const request_context&)> check{};
  /// Returns a text that changes when a resource other than a metric or query changes. An empty text means unknown: no
  /// notification is sent.
  std::function<std::string(const address&, const request_context&)> etag{};
  std::function<void(std::string_view)> log{};  ///< May be empty.
  std::size_t max_watched = 1000;  ///< Maximum number of watched URIs. Others get no notifications, and the log says so.
};

/// Checks watched URIs one after another after each `schedule_check`, on one thread that the first URI starts. Threads: any.
/// Notifies the listener of a URI without a condition when it has a newer sample, at most once per check. Notifies it of a URI
/// with a condition after a crossing since the start of the watch. While the source does not answer, no notification is sent;
/// crossings of that time follow when it answers again.
/// URIs that cannot be checked, for instance because of too many series, are logged once each.
class watcher {
 public:
  explicit watcher(watcher_options options);
  ~watcher();
  watcher(const watcher&) = delete;
  watcher& operator=(const watcher&) = delete;

  /// Ends the thread. `check` and `etag` are not called any more after this returns.
  void stop();
  /// Null: no listener.
  void set_listener(std::shared_ptr<change_listener> listener);
  /// Starts to watch a URI, unless it is watched already. `address`: the parsed URI. `is_silent`: `etag` is called for it, but
  /// the listener is not notified; `uri` is then only a key.
  void watch(const std::string& uri, const address& address, bool is_silent = false);
  void unwatch(const std::string& uri);
  /// Whether no URI is watched.
  [[nodiscard]] bool is_empty() const;
  /// Must be called when there may be new samples. Does not wait for the check.
  void schedule_check();

 private:
  struct watched_uri;
  void run(const std::stop_token& stop);
  // The `check_` functions check one URI. They return whether the listener must be notified.
  [[nodiscard]] bool check_safely(watched_uri& item, const std::stop_token& stop);
  [[nodiscard]] bool check_item(watched_uri& item, const std::stop_token& stop);
  /// Logs an error that only concerns this URI, once.
  void log_error(watched_uri& item, const failure& error) const;
  [[nodiscard]] bool check_condition(watched_uri& item, const request_context& context);
  [[nodiscard]] bool check_values(watched_uri& item, const request_context& context);
  [[nodiscard]] series::instant now() const;

  const watcher_options options_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::map<std::string, std::shared_ptr<watched_uri>, std::less<>> items_;
  std::shared_ptr<change_listener> listener_;
  std::uint64_t check_requests_ = 0;
  bool has_logged_full_ = false;
  std::jthread thread_;  // must be the last member: it uses the others
};

}  // namespace hondana::metrics
