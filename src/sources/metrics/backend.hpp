/// The interface of the backends that metrics come from: the embedded store, or a Prometheus server.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>
#include <hondana/provider.hpp>

#include "sources/metrics/scraping/scraper.hpp"
#include "sources/metrics/series/aggregation.hpp"
#include "sources/metrics/series/data_model.hpp"
#include "sources/metrics/series/evaluation.hpp"
#include "sources/metrics/series/selector.hpp"

namespace hondana::metrics {

/// That `backend::label_values` tells; there may be more.
inline constexpr std::size_t most_label_values = 10'000;

struct metric {
  std::string name{};
  series::metadata of{};
};

struct range_request {
  series::selector which{};
  series::aggregation how{};  ///< As asked, not yet for the kind.
  series::range at{};
  std::size_t most_series = 1000;
  std::size_t most_points = 50'000;  ///< Steps times series.
};

struct range_answer {
  std::vector<series::points> series{};
  series::metadata of{};
  series::aggregation how{};  ///< What was done.
  std::vector<std::string> warnings{};
};

/// An alert or a rule, as Prometheus has it; `state`: "inactive", "pending", "firing".
struct alert {
  std::string name{}, state{}, severity{}, value{}, expression{};
  std::vector<series::label> labels{};
  std::vector<std::pair<std::string, std::string>> annotations{};
  std::optional<series::instant> since{};
};
struct rule {
  std::string group{}, name{}, kind{}, expression{}, state{}, health{}, last_error{};  ///< Kind: "alerting", "recording".
  std::optional<double> evaluation_seconds{};
  series::duration wait{};  ///< `for`
};

/// Threads: any; calls block until `by.deadline`. Errors of all: source_unavailable, timed_out, cancelled, response_too_large,
/// and invalid_argument where the other side says so; texts are for peers and hold no address of it but its origin.
class backend {
 public:
  backend() = default;
  backend(const backend&) = delete;
  backend& operator=(const backend&) = delete;
  virtual ~backend() = default;

  /// In order, strictly after `after`, `limit` at most. Histograms and summaries stand there once, by their families, and not
  /// by
  /// `_bucket`, `_sum` and `_count`; everything else by the names of its series.
  [[nodiscard]] virtual result<std::vector<metric>> metrics(std::string_view prefix, std::string_view after, std::size_t limit,
                                                            const call& by) = 0;
  /// A family of `metrics`, or the name of series; `x_bucket`, `x_sum` and `x_count` of a histogram are counters. Nothing:
  /// there is no such metric. Not an error.
  [[nodiscard]] virtual result<std::optional<metric>> find(std::string_view name, const call& by) = 0;
  /// Of a histogram's family its `_bucket` series. What there is not has no series.
  [[nodiscard]] virtual result<range_answer> range(const range_request& what, const call& by) = 0;
  /// The instant of the newest sample of these series; nothing: there is none that is not stale. Default: by `range`, to the
  /// interval.
  [[nodiscard]] virtual result<std::optional<series::instant>> newest(const series::selector& of, const call& by);
  /// When something was kept last; nothing: not known. Default: nothing. Must not block.
  [[nodiscard]] virtual std::optional<series::instant> latest() const { return std::nullopt; }
  [[nodiscard]] virtual result<std::vector<std::string>> label_names(const series::selector& of, const call& by) = 0;
  [[nodiscard]] virtual result<std::vector<std::string>> label_values(const series::selector& of, std::string_view label,
                                                                      std::string_view prefix, const call& by) = 0;
  [[nodiscard]] virtual result<std::vector<scraping::target_state>> targets(const call& by) = 0;
  /// Errors: unsupported where there are none, as in the embedded store.
  [[nodiscard]] virtual result<std::vector<alert>> alerts(const call& by) = 0;
  [[nodiscard]] virtual result<std::vector<rule>> rules(const call& by) = 0;
  /// PromQL as it is. Errors: unsupported but for a Prometheus; invalid_argument with its own words.
  [[nodiscard]] virtual result<range_answer> query(std::string_view promql, const series::range& at, std::size_t most_points,
                                                   const call& by) = 0;
  /// How often there is something new.
  [[nodiscard]] virtual series::duration interval() const = 0;
  /// The server has begun to serve the source, and has let go of it; each may come again. Before, nothing is opened, and no
  /// thread started. Must not block for long.
  virtual void start() {}
  virtual void stop() {}
  /// From now on `told` is called when there may be something new, at most once per interval; empty: no more.
  virtual void follow(std::function<void()> told) = 0;
  [[nodiscard]] virtual hondana::health health() const = 0;
  [[nodiscard]] virtual hondana::needs needs() const = 0;
};

}  // namespace hondana::metrics
