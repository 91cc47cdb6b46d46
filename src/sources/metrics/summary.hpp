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
  double weight = 0;   ///< 0 to 1.
  std::string text{};  ///< For people, on one line.
  std::string metric{};
  series::identity identity{};
  std::string unit{};
  std::string uri{};  ///< A URI with the evidence. May be empty.
  std::optional<double> current{}, baseline{};
  std::optional<series::instant> started_at{};
  std::vector<series::sample> points{};  ///< Of the last hour, at most 13.
};

/// The findings of a scan.
struct summary {
  std::string source{};
  series::instant created_at = 0;
  double score = 0;                 ///< 0: nothing is unusual. 1: the highest score.
  std::vector<finding> findings{};  ///< Highest weight first, at most 50.
  std::size_t targets_up = 0, targets_down = 0;
  std::size_t metric_count = 0;     ///< Number of metrics in the source.
  std::size_t scanned_metrics = 0;  ///< Metrics examined in this or earlier rounds.
  std::size_t scanned_series = 0;   ///< Series of the examined metrics.
  std::vector<std::string> notes{};
};

/// The greatest weight, plus 0.05 for each further finding with a weight of at least 0.5. At most 1.
[[nodiscard]] double score_of(const std::vector<finding>& findings);

struct summary_options {
  std::string source{};
  bool redact = true;
  std::chrono::milliseconds timeout{3000};  ///< Time limit of one round.
  std::size_t max_metrics = 300;            ///< Examined in one round. The next round continues after them.
  std::size_t max_series = 50;              ///< Of one metric. Metrics with more series are skipped, with a note.
};

/// Examines metrics in rounds. Findings of a metric stay until its next scan. Threads: one at a time.
class anomaly_scanner {
 public:
  anomaly_scanner(summary_options options, backend& backend) : options_(std::move(options)), backend_(backend) {}

  /// Runs one round. Errors: of the source if it does not answer at all.
  [[nodiscard]] result<summary> scan(series::instant now, request_context context);

 private:
  struct metric_findings {
    std::vector<finding> findings{};
    std::size_t series_count = 0;
    bool is_skipped = false;
  };
  /// Returns false if the source stopped answering.
  [[nodiscard]] bool scan_metrics(const std::vector<metric_info>& metrics, series::instant now, const request_context& context);
  void scan_targets(summary& summary, const request_context& context);
  void scan_alerts(summary& summary, const request_context& context);
  void scan_disks(summary& summary, series::instant now, const request_context& context);
  /// Errors: of the source if it does not answer.
  [[nodiscard]] result<metric_findings> scan_metric(const metric_info& metric, series::instant now,
                                                    const request_context& context);

  const summary_options options_;
  backend& backend_;
  std::map<std::string, metric_findings, std::less<>> findings_;
  std::string last_metric_;  // the last metric of the previous round
};

[[nodiscard]] std::string to_json(const summary& summary);
/// One line for each finding.
[[nodiscard]] std::string to_text(const summary& summary);

/// Creates summaries in the background, on one thread that the first request starts. Rounds are at least `min_interval` apart,
/// or three seconds after the source did not answer. Threads: any.
class summary_cache {
 public:
  struct update_handlers {
    std::function<void()> on_update{};  ///< Called after each new summary.
    std::function<void()>
        on_score_change{};  ///< Called if the score differs by 0.1 or more from the score at the last such call.
  };

  summary_cache(summary_options options, std::shared_ptr<backend> backend, std::chrono::milliseconds min_interval,
                std::function<series::instant()> now, update_handlers handlers);
  ~summary_cache();
  summary_cache(const summary_cache&) = delete;
  summary_cache& operator=(const summary_cache&) = delete;

  /// Requests a new summary if the last one is old enough. Does not wait.
  void request_update();
  /// Returns the last summary if it is not older than `min_interval`. Otherwise waits for the next one until the call's
  /// deadline, then returns the last one, if any. Errors: of the source, at once if its last round failed recently. timed_out.
  /// cancelled.
  [[nodiscard]] result<std::shared_ptr<const summary>> get(const request_context& context);
  /// The last summary. Null if there is none yet.
  [[nodiscard]] std::shared_ptr<const summary> last() const;

 private:
  using clock = monotonic_clock;
  void run(const std::stop_token& stop);
  /// The earliest time of the next round. Requires that a round was made, and the lock.
  [[nodiscard]] clock::time_point next_update() const;

  const std::shared_ptr<backend> backend_;
  const std::chrono::milliseconds min_interval_;
  const std::function<series::instant()> now_;
  const update_handlers handlers_;
  anomaly_scanner scanner_;

  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::shared_ptr<const summary> last_;
  std::optional<failure> error_;
  std::optional<clock::time_point> updated_at_;
  std::optional<double> notified_score_;
  std::uint64_t rounds_ = 0;
  bool is_update_requested_ = false;
  std::jthread thread_;  // must be the last member: it uses the others
};

}  // namespace hondana::metrics
