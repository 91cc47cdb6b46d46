/// The summary of a metrics source: a scan of its metrics in the background that finds unusual values.
#pragma once

#include <chrono>
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
#include <vector>

#include <hondana/clock.hpp>
#include <hondana/error.hpp>
#include <hondana/provider.hpp>

#include "sources/metrics/backend.hpp"

namespace hondana::metrics {

/// One unusual observation.
struct finding {
  /// "target-down", "alert", "filling", "reset", "high", "low".
  std::string kind{};
  double weight = 0;                            ///< Importance from 0 to 1.
  std::string text{};                           ///< For people.
  std::string metric{};                         ///< Empty for an alert.
  series::identity identity{};                  ///< The series. For an alert, its labels.
  std::string unit{};                           ///< Of `current` and `baseline`.
  std::string uri{};                            ///< A URI with the evidence. May be empty.
  std::optional<double> current{}, baseline{};  ///< The value now, and the usual one.
  std::optional<series::instant> started_at{};
  std::vector<series::sample> points{};  ///< The last values, at most 13. Of a counter: its rates.
};

/// The findings of a scan.
struct summary {
  std::string source{};
  series::instant created_at = 0;
  double score = 0;                              ///< See `score_of`.
  std::vector<finding> findings{};               ///< Highest weight first, at most 50.
  std::size_t targets_up = 0, targets_down = 0;  ///< Targets that were not scraped yet count as up.
  std::size_t metric_count = 0;                  ///< Number of metrics in the source.
  std::size_t scanned_metrics = 0;               ///< Metrics examined in this or earlier rounds.
  std::size_t scanned_series = 0;                ///< Series of the examined metrics.
  std::vector<std::string> notes{};              ///< Remarks for people.
};

/// Returns the greatest weight, plus 0.05 for each further finding with a weight of at least 0.5; at most 1. 0: no findings.
[[nodiscard]] double score_of(const std::vector<finding>& findings);

/// Options of an `anomaly_scanner`.
struct summary_options {
  std::string source{};                     ///< Name of the source.
  bool redact = true;                       ///< Mask secrets.
  std::chrono::milliseconds timeout{3000};  ///< Time limit of one round.
  std::size_t max_metrics = 300;            ///< Examined in one round. The next round continues after them.
  std::size_t max_series = 50;              ///< Of one metric. Metrics with more series are skipped, with a note.
};

/// Examines the metrics of a source in rounds. Findings of a metric stay until it is examined again. Threads: one at a time.
class anomaly_scanner {
 public:
  /// `backend` must outlive this object.
  anomaly_scanner(summary_options options, backend& backend) : options_(std::move(options)), backend_(backend) {}

  /// Runs one round. `now`: a result of `reference_time`. Errors: those of the source if it does not list its metrics.
  [[nodiscard]] result<summary> scan(series::instant now, request_context context);

 private:
  struct metric_findings {
    std::vector<finding> findings{};
    std::size_t series_count = 0;
    bool is_skipped = false;  // the metric has too many series
  };
  /// Examines the next metrics. Returns false if the source stopped answering.
  [[nodiscard]] bool scan_metrics(const std::vector<metric_info>& metrics, series::instant now, const request_context& context);
  void scan_targets(summary& summary, const request_context& context);
  void scan_alerts(summary& summary, const request_context& context);
  void scan_disks(summary& summary, series::instant now, const request_context& context);
  /// Examines one metric. Errors: those of the source if it does not answer.
  [[nodiscard]] result<metric_findings> scan_metric(const metric_info& metric, series::instant now,
                                                    const request_context& context);

  const summary_options options_;
  backend& backend_;
  std::map<std::string, metric_findings, std::less<>> findings_;
  std::string last_metric_;  // the last metric of the previous round
};

/// Renders a summary as a JSON object.
[[nodiscard]] std::string to_json(const summary& summary);
/// Renders a summary as text: a header, one line for each finding, and notes.
[[nodiscard]] std::string to_text(const summary& summary);

/// Creates summaries in the background, on one thread that the first request starts. Rounds are at least `min_interval` apart.
/// After a round that failed, at least the shorter of `min_interval` and three seconds. Threads: any.
class summary_cache {
 public:
  /// Functions that the thread calls; may be empty. They must not block for long.
  struct update_handlers {
    std::function<void()> on_update{};  ///< Called after each new summary.
    /// Called after the first summary, and if the score differs by 0.1 or more from that at the last such call.
    std::function<void()> on_score_change{};
  };

  /// `now`: see `anomaly_scanner::scan`.
  summary_cache(summary_options options, std::shared_ptr<backend> backend, std::chrono::milliseconds min_interval,
                std::function<series::instant()> now, update_handlers handlers);
  /// Ends the thread, and waits for it.
  ~summary_cache();
  summary_cache(const summary_cache&) = delete;
  summary_cache& operator=(const summary_cache&) = delete;

  /// Requests a round, which begins when enough time has passed since the last one. Does not wait.
  void request_update();
  /// Returns the last summary if it is not older than `min_interval`. Otherwise requests a round and waits for it. If the
  /// deadline passes before, returns the last summary, if any. Errors: those of the last round; timed_out; cancelled.
  [[nodiscard]] result<std::shared_ptr<const summary>> get(const request_context& context);
  /// Returns the last summary; null if there is none yet.
  [[nodiscard]] std::shared_ptr<const summary> last() const;

 private:
  using clock = monotonic_clock;
  void run(const std::stop_token& stop);
  /// Returns the earliest time of the next round. The caller must hold `mutex_`, and a round must have ended.
  [[nodiscard]] clock::time_point next_update() const;

  const std::shared_ptr<backend> backend_;
  const std::chrono::milliseconds min_interval_;
  const std::function<series::instant()> now_;
  const update_handlers handlers_;
  anomaly_scanner scanner_;

  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::shared_ptr<const summary> last_;
  std::optional<failure> error_;                 // of the last round
  std::optional<clock::time_point> updated_at_;  // the end of the last round
  std::optional<double> notified_score_;         // at the last call of `on_score_change`
  std::uint64_t rounds_ = 0;                     // finished
  bool is_update_requested_ = false;
  std::jthread thread_;  // must be the last member: it uses the others
};

}  // namespace hondana::metrics
