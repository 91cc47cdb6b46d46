/// What is unusual in a source of metrics now, with the evidence.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

}  // namespace hondana::metrics
