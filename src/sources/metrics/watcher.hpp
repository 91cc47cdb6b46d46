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

#include <hondana/provider.hpp>

#include "sources/metrics/address.hpp"
#include "sources/metrics/backend.hpp"
#include "sources/metrics/condition_check.hpp"

namespace hondana::metrics {

/// Tracks for each series whether it meets a condition, and detects crossings from a sequence of verdicts. Does no I/O.
///
/// A crossing is a series that begins to meet the condition (for long enough) or stops meeting it. Unknown states change
/// nothing. A known series that is missing for longer than `gap`, while the source answers, is gone. This is a crossing if it
/// met the condition.
///
/// Verdicts older than the last one are ignored, so that a clock set back causes no crossings. The steps of each verdict may
/// lie at different times. If one verdict shows an interruption that the next one skips, it still counts as one crossing.
class crossings {
 public:
  /// `wait`: the condition's `for`.
  explicit crossings(series::duration wait = 0) : wait_(wait) {}
  /// Sets the initial state.
  void begin(const verdict& found, series::instant at);
  /// Updates the state. Returns whether there was a crossing.
  [[nodiscard]] bool take(const verdict& found, series::instant at, series::duration gap = series::usual_look_back);

 private:
  struct known {
    bool is_met = false;
    series::instant at = 0;                  // of the verdict
    std::optional<series::instant> since{};  // start of the period in which it is met or pending; nothing: it is not met
    std::optional<series::instant> missing_since{};
  };
  [[nodiscard]] known next(const standing& how, const known* before, series::instant at) const;

  series::duration wait_;
  std::map<std::string, known, std::less<>> all_;
  std::optional<series::instant> last_;
};

struct watcher_options {
  std::shared_ptr<backend> from;
  limits most{};
  std::function<series::instant()> now{};
  /// Returns an error if a metric or query may not be watched. No notification is sent for those. Empty: all may.
  std::function<result<void>(const address&, const call&)> check{};
  /// Returns a text that changes when a resource other than a metric changes. An empty text means unknown: no notification is
  /// sent.
  std::function<std::string(const address&, const call&)> mark{};
  std::function<void(std::string_view)> log{};  ///< May be empty.
  std::size_t most_watched = 1000;  ///< The most watched URIs. Further ones get no notifications, and the log says so.
};

/// Checks watched URIs one after another whenever the source reports possible new samples, on one thread that the first URI
/// starts.
/// A URI without a condition is notified at most once per check, if it has a newer sample. A URI with a condition is notified
/// after a crossing since the start of the watch. While the source does not answer, no notification is sent; crossings of that
/// time follow when it answers again.
/// URIs that cannot be checked, for instance because of too many series, are logged once each. Threads: any.
class watcher {
 public:
  explicit watcher(watcher_options from);
  ~watcher();
  watcher(const watcher&) = delete;
  watcher& operator=(const watcher&) = delete;

  /// Stops all checks. When this returns, `check` and `mark` are not called any more.
  void end();
  void tell_to(std::shared_ptr<change_listener> to);
  /// Starts to watch a URI. `at` is the parsed URI. `is_silent`: checked, but without notifications.
  void attach(const std::string& uri, const address& at, bool is_silent = false);
  void detach(const std::string& uri);
  [[nodiscard]] bool is_empty() const;
  /// Schedules a check: there may be new samples.
  void stir();

 private:
  struct item;
  void run(const std::stop_token& stop);
  [[nodiscard]] bool look_safely(item& one, const std::stop_token& stop);
  [[nodiscard]] bool look(item& one, const std::stop_token& stop);
  void complain(item& of, const failure& why) const;
  [[nodiscard]] bool look_at_condition(item& one, const call& by);
  [[nodiscard]] bool look_at_values(item& one, const call& by);
  [[nodiscard]] series::instant now() const;

  const watcher_options options_;
  mutable std::mutex mutex_;
  std::condition_variable_any news_;
  std::map<std::string, std::shared_ptr<item>, std::less<>> all_;
  std::shared_ptr<change_listener> to_;
  std::uint64_t stirred_ = 0;
  bool has_said_full_ = false;
  std::jthread thread_;  // must be the last member: it uses the others
};

}  // namespace hondana::metrics
