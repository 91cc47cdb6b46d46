/// The summary of a metrics source: a survey of its metrics in the background that finds unusual values.
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
  series::identity of{};
  std::string unit{};
  std::string uri{};  ///< A URI with the evidence. May be empty.
  std::optional<double> now{}, usual{};
  std::optional<series::instant> since{};
  std::vector<series::sample> points{};  ///< Of the last hour, at most 13.
};

/// The findings of a survey.
struct summary {
  std::string source{};
  series::instant at = 0;
  double score = 0;                ///< 0: nothing is unusual. 1: the highest score.
  std::vector<finding> unusual{};  ///< Highest weight first, at most 50.
  std::size_t targets_up = 0, targets_down = 0;
  std::size_t metrics = 0;    ///< Number of metrics in the source.
  std::size_t looked_at = 0;  ///< Metrics examined in this or earlier rounds.
  std::size_t series = 0;     ///< Series of the examined metrics.
  std::vector<std::string> remarks{};
};

/// The greatest weight, plus 0.05 for each further finding with a weight of at least 0.5. At most 1.
[[nodiscard]] double score_of(const std::vector<finding>& all);

struct summary_options {
  std::string source{};
  bool redact = true;
  std::chrono::milliseconds time{3000};  ///< Time limit of one round.
  std::size_t most_metrics = 300;        ///< Examined in one round. The next round continues after them.
  std::size_t most_series = 50;          ///< Of one metric. Metrics with more series are skipped, with a remark.
};

/// Examines metrics in rounds. Findings of a metric stay until its next turn. Threads: one at a time.
class surveyor {
 public:
  surveyor(summary_options how, backend& from) : how_(std::move(how)), from_(from) {}

  /// Runs one round. Errors: of the source if it does not answer at all.
  [[nodiscard]] result<summary> look(series::instant now, call by);

 private:
  struct of_metric {
    std::vector<finding> found{};
    std::size_t series = 0;
    bool is_left_out = false;
  };
  /// Returns false if the source stopped answering.
  [[nodiscard]] bool look_at_metrics(const std::vector<metric>& all, series::instant now, const call& by);
  void look_at_targets(summary& into, const call& by);
  void look_at_alerts(summary& into, const call& by);
  void look_at_disks(summary& into, series::instant now, const call& by);
  /// Errors: of the source if it does not answer.
  [[nodiscard]] result<of_metric> look_at(const metric& one, series::instant now, const call& by);

  const summary_options how_;
  backend& from_;
  std::map<std::string, of_metric, std::less<>> known_;
  std::string after_;  // the last metric of the previous round
};

[[nodiscard]] std::string json_of(const summary& of);
/// One line for each finding.
[[nodiscard]] std::string text_of(const summary& of);

/// Creates summaries in the background, on one thread that the first request starts. Rounds are at least `every` apart, or
/// three seconds after the source did not answer. Threads: any.
class summaries {
 public:
  struct listener {
    std::function<void()> made{};   ///< Called after each new summary.
    std::function<void()> moved{};  ///< Called if the score differs by 0.1 or more from the score at the last such call.
  };

  summaries(summary_options how, std::shared_ptr<backend> from, std::chrono::milliseconds every,
            std::function<series::instant()> now, listener told);
  ~summaries();
  summaries(const summaries&) = delete;
  summaries& operator=(const summaries&) = delete;

  /// Requests a new summary if the last one is old enough. Does not wait.
  void want();
  /// Returns the last summary if it is not older than `every`. Otherwise waits for the next one until the call's deadline, then
  /// returns the last one, if any.
  /// Errors: of the source, at once if its last round failed recently. timed_out. cancelled.
  [[nodiscard]] result<std::shared_ptr<const summary>> get(const call& by);
  /// The last summary. Null if there is none yet.
  [[nodiscard]] std::shared_ptr<const summary> last() const;

 private:
  using clock = monotonic_clock;
  void run(const std::stop_token& stop);
  /// The earliest time of the next round. Requires that a round was made, and the lock.
  [[nodiscard]] clock::time_point next() const;

  const std::shared_ptr<backend> from_;
  const std::chrono::milliseconds every_;
  const std::function<series::instant()> now_;
  const listener told_;
  surveyor surveyor_;

  mutable std::mutex mutex_;
  std::condition_variable_any news_;
  std::shared_ptr<const summary> last_;
  std::optional<failure> problem_;
  std::optional<clock::time_point> made_;
  std::optional<double> told_score_;
  std::uint64_t rounds_ = 0;
  bool is_wanted_ = false;
  std::jthread thread_;  // must be the last member: it uses the others
};

}  // namespace hondana::metrics
