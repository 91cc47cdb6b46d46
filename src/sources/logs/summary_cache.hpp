/// Caches the summary of a log, and refreshes it on request or in the background.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>

#include <hondana/provider.hpp>

#include "sources/logs/records/log_backend.hpp"
#include "sources/logs/summary.hpp"

namespace hondana::logs {

/// Options of a `summary_cache`.
struct summary_cache_options {
  records::instant lookback = 0;  ///< See `summary_request`.
  std::uint64_t max_scanned_bytes = 256u << 20;
  std::chrono::milliseconds timeout{2000};          ///< For one summary.
  std::chrono::milliseconds fresh_ttl{5000};        ///< A summary is reused for this long even if the log changes.
  std::chrono::milliseconds unchanged_ttl{60'000};  ///< A summary is reused for this long if the log does not change.
  /// Minimum time between background updates for `priority`, or while the list is watched.
  std::chrono::milliseconds list_interval{30'000};
  /// Minimum time between background updates after changes of the log, while the summary is watched.
  std::chrono::milliseconds change_interval{5'000};
  std::function<records::instant()> clock{};  ///< Empty: the system clock.
};

/// Caches the summary of a log. Updates it on a background thread, which runs only while there is work. An update computes the
/// summary again, unless the cached one may be reused. Threads: any.
class summary_cache {
 public:
  /// Callbacks, which may be empty. They are called on the background thread or by `get`, and must not block.
  struct update_handlers {
    std::function<void()> on_summary_change;   ///< A new summary differs from the last one, and the summary is watched.
    std::function<void()> on_priority_change;  ///< The result of `priority` has changed.
    std::function<void()> on_check;            ///< The check that `request_check` requested has ended.
  };
  /// Smaller changes of the priority are ignored.
  static constexpr double min_priority_change = 0.1;

  summary_cache(std::shared_ptr<records::log_backend> backend, summary_cache_options options, update_handlers handlers);
  /// Ends the thread. If it is stuck for more than a second, leaves it running.
  ~summary_cache();
  summary_cache(const summary_cache&) = delete;
  summary_cache& operator=(const summary_cache&) = delete;

  /// Returns the cached summary if it may be reused. Otherwise computes it on the calling thread; other calls wait for the
  /// result. Errors: those of `summarize`; timed_out if another call takes too long.
  [[nodiscard]] result<std::shared_ptr<const log_summary>> get(const request_context& context);
  /// Returns the priority of the summary; nullopt: not known yet. It changes only by `min_priority_change` or more. If the
  /// summary is older than `list_interval`, requests an update. Never blocks.
  [[nodiscard]] std::optional<double> priority();
  /// Sets whether clients watch the list or the summary. While they watch the list, the summary is updated every
  /// `list_interval`. While they watch the summary, it is updated after `schedule_update`, and at least every five minutes.
  void set_watched(bool watches_list, bool watches_summary);
  /// Must be called when the log has changed. Requests an update if the summary is watched. Never blocks.
  void schedule_update();
  /// Calls `log_backend::check` and `on_check` in the background, unless the last request was less than two seconds ago. Never
  /// blocks.
  void request_check();

 private:
  struct state;
  std::shared_ptr<state> state_;
};

}  // namespace hondana::logs
