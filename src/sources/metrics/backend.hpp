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

/// The most values that `backend::label_values` returns. A result of this size may be incomplete.
inline constexpr std::size_t max_label_values = 10'000;

/// A metric: a family, or the series of one name.
struct metric_info {
  std::string name{};
  series::metadata metadata{};
};

/// A request for the values of series over a time range.
struct range_request {
  series::selector selector{};
  series::aggregation aggregation{};  ///< As requested, before the metric's kind is applied.
  series::range range{};
  std::size_t max_series = 1000;
  std::size_t max_points = 50'000;  ///< Steps times series.
};

/// The values of series over a time range.
struct range_answer {
  std::vector<series::time_series> series{};
  series::metadata metadata{};
  series::aggregation aggregation{};  ///< The aggregation that was applied.
  std::vector<std::string> warnings{};
};

/// An alert of a Prometheus server. `state` is "inactive", "pending" or "firing".
struct alert {
  std::string name{}, state{}, severity{}, value{}, expression{};
  std::vector<series::label> labels{};
  std::vector<std::pair<std::string, std::string>> annotations{};
  std::optional<series::instant> active_at{};
};
/// A rule of a Prometheus server.
struct rule {
  std::string group{}, name{}, kind{}, expression{}, state{}, health{}, last_error{};  ///< Kind: "alerting", "recording".
  std::optional<double> evaluation_seconds{};
  series::duration hold_duration{};  ///< `for`
};

/// Where the data of a metrics source comes from. Threads: any. Calls block until `context.deadline` at most.
/// Errors of all calls: source_unavailable, timed_out, cancelled, response_too_large, and invalid_argument if the server
/// rejects the request. Error texts are safe for clients: of the server's address, they contain only the origin.
class backend {
 public:
  backend() = default;
  backend(const backend&) = delete;
  backend& operator=(const backend&) = delete;
  virtual ~backend() = default;

  /// At most `limit` metrics whose names start with `prefix`, in order, strictly after `after_key`. A histogram or summary is
  /// listed once, under its family name, without its `_bucket`, `_sum` and `_count` series. All others are listed under the
  /// names of their series.
  [[nodiscard]] virtual result<std::vector<metric_info>> metrics(std::string_view prefix, std::string_view after_key,
                                                                 std::size_t limit, const request_context& context) = 0;
  /// Finds a metric by a family name from `metrics`, or by the name of a series. `x_bucket`, `x_sum` and `x_count` of a
  /// histogram are counters. Returns nothing if the metric does not exist, which is not an error.
  [[nodiscard]] virtual result<std::optional<metric_info>> find(std::string_view name, const request_context& context) = 0;
  /// The values of series over a time range. For the family of a histogram, these are its `_bucket` series. The answer for an
  /// unknown metric has no series.
  [[nodiscard]] virtual result<range_answer> range(const range_request& request, const request_context& context) = 0;
  /// The time of the newest sample of these series. Nothing if they have no recent sample.
  /// The default calls `range` over the last four intervals and is exact to one interval.
  [[nodiscard]] virtual result<std::optional<series::instant>> newest_sample_time(const series::selector& selector,
                                                                                  const request_context& context);
  /// The time of the last sample that the source received. Nothing if unknown, as by default. Must not block.
  [[nodiscard]] virtual std::optional<series::instant> last_ingest_time() const { return std::nullopt; }
  [[nodiscard]] virtual result<std::vector<std::string>> label_names(const series::selector& selector,
                                                                     const request_context& context) = 0;
  [[nodiscard]] virtual result<std::vector<std::string>> label_values(const series::selector& selector, std::string_view label,
                                                                      std::string_view prefix,
                                                                      const request_context& context) = 0;
  [[nodiscard]] virtual result<std::vector<scraping::target_state>> targets(const request_context& context) = 0;
  /// Errors: unsupported if the backend has no alerts, as in the embedded store.
  [[nodiscard]] virtual result<std::vector<alert>> alerts(const request_context& context) = 0;
  [[nodiscard]] virtual result<std::vector<rule>> rules(const request_context& context) = 0;
  /// Evaluates PromQL without changes. Errors: unsupported unless the backend is Prometheus. invalid_argument with Prometheus's
  /// own error text.
  [[nodiscard]] virtual result<range_answer> query(std::string_view promql, const series::range& range, std::size_t max_points,
                                                   const request_context& context) = 0;
  /// How often new samples arrive.
  [[nodiscard]] virtual series::duration interval() const = 0;
  /// Called when the server starts and stops using the source, possibly several times. Before the first `start`, the backend
  /// opens nothing and starts no thread. Must not block for long.
  virtual void start() {}
  virtual void stop() {}
  /// Calls `listener` when new samples may have arrived, at most once per interval. An empty function ends this.
  virtual void set_listener(std::function<void()> listener) = 0;
  [[nodiscard]] virtual hondana::provider_health health() const = 0;
  [[nodiscard]] virtual hondana::system_requirements requirements() const = 0;
};

}  // namespace hondana::metrics
