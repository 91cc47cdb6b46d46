/// Caches the summary of a log, and refreshes it on request or in the background.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>

#include <hondana/provider.hpp>

#include "sources/logs/records/log.hpp"
#include "sources/logs/summary.hpp"

namespace hondana::logs {

struct summaries_options {
  records::instant look_back = 0;
  std::uint64_t scanned_bytes = 256u << 20;
  std::chrono::milliseconds time{2000};             ///< For one summary.
  std::chrono::milliseconds fresh_for{5000};        ///< A summary is reused for this long even if the log changes.
  std::chrono::milliseconds unchanged_for{60'000};  ///< A summary is reused for this long if the log does not change.
  std::chrono::milliseconds between{30'000};  ///< Minimum time between summaries that are computed in the background for lists.
  /// Minimum time between summaries that are computed in the background for subscribers.
  std::chrono::milliseconds between_changes{5'000};
  std::function<records::instant()> now{};  ///< Empty: the system clock.
};

/// Caches the summary of a log. Has a thread once there is background work. Threads: any.
class summaries {
 public:
  /// Callbacks, called by the background thread or by a reader. They must not block.
  struct listener {
    std::function<void()> summary_changed;
    std::function<void()> priority_changed;  ///< By `told_step` or more.
    std::function<void()> looked;            ///< Called after a check that `look` requested.
  };
  static constexpr double told_step = 0.1;

  summaries(std::shared_ptr<records::log> of, summaries_options with, listener to);
  /// Ends the thread. If it is stuck for more than a second, leaves it running.
  ~summaries();
  summaries(const summaries&) = delete;
  summaries& operator=(const summaries&) = delete;

  /// Returns a summary as fresh as the options require. If necessary, computes it in the calling thread, one at a time. Errors:
  /// of `summarise`.
  [[nodiscard]] result<std::shared_ptr<const summary>> get(const call& by);
  /// The priority of the last summary. If there is none, or it is old, requests one in the background. Never blocks.
  [[nodiscard]] std::optional<double> priority();
  /// Sets whether there are subscribers of the list or of the summary. While there are, a new summary is computed in the
  /// background when the log has changed.
  void attend(bool to_list, bool to_summary);
  /// Reports that the log has changed.
  void stir();
  /// Checks in the background what is wrong with the log, unless this was done just before. Never blocks.
  void look();

 private:
  struct state;
  std::shared_ptr<state> state_;
};

}  // namespace hondana::logs
