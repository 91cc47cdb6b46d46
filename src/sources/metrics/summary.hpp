/// The summary of a metrics source: a survey of its metrics with what is unusual in them, made in the background.
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

/// One thing that is unusual.
struct finding {
  /// "target-down", "alert", "filling", "reset", "high", "low".
  std::string kind{};
  double weight = 0;   ///< 0 to 1.
  std::string text{};  ///< For people; one line.
  std::string metric{};
  series::identity of{};
  std::string unit{};
  std::string uri{};  ///< Where the evidence can be read; may be empty.
  std::optional<double> now{}, usual{};
  std::optional<series::instant> since{};
  std::vector<series::sample> points{};  ///< The last hour of it, at most 13.
};

struct summary {
  std::string source{};
  series::instant at = 0;
  double score = 0;                ///< 0: nothing is unusual; 1: everything is.
  std::vector<finding> unusual{};  ///< The weightiest first; at most 50.
  std::size_t targets_up = 0, targets_down = 0;
  std::size_t metrics = 0;    ///< That there are.
  std::size_t looked_at = 0;  ///< Of them, in this round or one before.
  std::size_t series = 0;     ///< Of those.
  std::vector<std::string> remarks{};
};

/// The greatest weight, and 0.05 more for each other of 0.5 and more; at most 1.
[[nodiscard]] double score_of(const std::vector<finding>& all);

struct summary_options {
  std::string source{};
  bool redact = true;
  std::chrono::milliseconds time{3000};  ///< Of one round.
  std::size_t most_metrics = 300;        ///< Looked at in one round; the next one goes on with those after them.
  std::size_t most_series = 50;          ///< Of one metric; what has more is left out, which a remark says.
};

/// Goes through metrics round by round and keeps what it found until it comes by again. Threads: one at a time.
class surveyor {
 public:
  surveyor(summary_options how, backend& from) : how_(std::move(how)), from_(from) {}

  /// Errors: of the source, where it answers nothing at all.
  [[nodiscard]] result<summary> look(series::instant now, call by);

 private:
  struct of_metric {
    std::vector<finding> found{};
    std::size_t series = 0;
    bool is_left_out = false;
  };
  /// False: the source does not answer any more.
  [[nodiscard]] bool look_at_metrics(const std::vector<metric>& all, series::instant now, const call& by);
  void look_at_targets(summary& into, const call& by);
  void look_at_alerts(summary& into, const call& by);
  void look_at_disks(summary& into, series::instant now, const call& by);
  /// Errors: of the source, where it does not answer.
  [[nodiscard]] result<of_metric> look_at(const metric& one, series::instant now, const call& by);

  const summary_options how_;
  backend& from_;
  std::map<std::string, of_metric, std::less<>> known_;
  std::string after_;  // where the last round ended
};

[[nodiscard]] std::string json_of(const summary& of);
/// A line for each finding.
[[nodiscard]] std::string text_of(const summary& of);

/// One thread, from the first wish on. A round is made at most once every `every`, however many wish for one, and three seconds
/// after one that the source did not answer. Threads: any.
class summaries {
 public:
  struct listener {
    std::function<void()> made{};   ///< A new summary is there.
    std::function<void()> moved{};  ///< Its score is 0.1 or more away from the last one that was told so.
  };

  summaries(summary_options how, std::shared_ptr<backend> from, std::chrono::milliseconds every,
            std::function<series::instant()> now, listener told);
  ~summaries();
  summaries(const summaries&) = delete;
  summaries& operator=(const summaries&) = delete;

  /// One is wanted, if the last is old enough. Does not wait.
  void want();
  /// The last one if it is not older than `every`, and otherwise the next one, as far as the call's deadline goes; then the
  /// last one, if there is any. Errors: of the source, at once where its last round has failed shortly before; timed_out;
  /// cancelled.
  [[nodiscard]] result<std::shared_ptr<const summary>> get(const call& by);
  /// The last one; null: none was made yet.
  [[nodiscard]] std::shared_ptr<const summary> last() const;

 private:
  using clock = monotonic_clock;
  void run(const std::stop_token& stop);
  /// When another round may be made, after one that was. Holding the lock.
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
  std::jthread thread_;  // the last member: it uses the others
};

}  // namespace hondana::metrics
