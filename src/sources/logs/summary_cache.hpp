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

struct summary_cache_options {
  records::instant lookback = 0;
  std::uint64_t max_scanned_bytes = 256u << 20;
  std::chrono::milliseconds timeout{2000};          ///< For one summary.
  std::chrono::milliseconds fresh_ttl{5000};        ///< A summary is reused for this long even if the log changes.
  std::chrono::milliseconds unchanged_ttl{60'000};  ///< A summary is reused for this long if the log does not change.
  /// Minimum time between summaries that are computed in the background for lists.
  std::chrono::milliseconds list_interval{30'000};
  /// Minimum time between summaries that are computed in the background for subscribers.
  std::chrono::milliseconds change_interval{5'000};
  std::function<records::instant()> clock{};  ///< Empty: the system clock.
};

/// Caches the summary of a log. Has a thread once there is background work. Threads: any.
class summary_cache {
 public:
  /// Callbacks, called by the background thread or by a reader. They must not block.
  struct update_handlers {
    std::function<void()> on_summary_change;
    std::function<void()> on_priority_change;  ///< By `min_priority_change` or more.
    std::function<void()> on_check;            ///< Called after a check that `request_check` requested.
  };
  static constexpr double min_priority_change = 0.1;

  summary_cache(std::shared_ptr<records::log_backend> backend, summary_cache_options options, update_handlers handlers);
  /// Ends the thread. If it is stuck for more than a second, leaves it running.
  ~summary_cache();
  summary_cache(const summary_cache&) = delete;
  summary_cache& operator=(const summary_cache&) = delete;

  /// Returns a summary as fresh as the options require. If necessary, computes it in the calling thread, one at a time. Errors:
  /// of `summarize`.
  [[nodiscard]] result<std::shared_ptr<const log_summary>> get(const request_context& context);
  /// The priority of the last summary. If there is none, or it is old, requests one in the background. Never blocks.
  [[nodiscard]] std::optional<double> priority();
  /// Sets whether there are subscribers of the list or of the summary. While there are, a new summary is computed in the
  /// background when the log has changed.
  void set_watched(bool watches_list, bool watches_summary);
  /// Reports that the log has changed.
  void schedule_update();
  /// Checks in the background what is wrong with the log, unless this was done just before. Never blocks.
  void request_check();

 private:
  struct state;
  std::shared_ptr<state> state_;
};

}  // namespace hondana::logs
