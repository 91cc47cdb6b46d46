/// The interface of the backends that metrics come from: the embedded store, or a Prometheus server.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/capabilities.hpp>
#include <hondana/error.hpp>
#include <hondana/provider.hpp>

#include "sources/metrics/scraping/scraper.hpp"
#include "sources/metrics/series/aggregation.hpp"
#include "sources/metrics/series/data_model.hpp"
#include "sources/metrics/series/evaluation.hpp"
#include "sources/metrics/series/selector.hpp"

namespace hondana::metrics {

/// The maximum number of values that `backend::label_values` returns. A result of this size may be incomplete.
inline constexpr std::size_t max_label_values = 10'000;

/// A metric: a family (the series of a histogram or summary), or the series of one name.
struct metric_info {
  std::string name{};
  series::metadata metadata{};
};

/// A request for the values of series over a time range.
struct range_request {
  series::selector selector{};
  series::aggregation aggregation{};  ///< As requested, without the defaults of the metric's kind.
  series::range range{};
  std::size_t max_series = 1000;
  std::size_t max_points = 50'000;  ///< Steps times series.
};

/// The values of series over a time range.
struct range_answer {
  std::vector<series::time_series> series{};
  series::metadata metadata{};        ///< Of the metric.
  series::aggregation aggregation{};  ///< The applied aggregation, with the defaults of the metric's kind.
  std::vector<std::string> warnings{};
};

/// An alert of a Prometheus server. `state` is "inactive", "pending" or "firing".
struct alert {
  std::string name{}, state{}, severity{}, value{}, expression{};
  std::vector<series::label> labels{};  ///< Without `alertname`.
  std::vector<std::pair<std::string, std::string>> annotations{};
  std::optional<series::instant> active_at{};  ///< When the alert became pending or firing.
};
/// A rule of a Prometheus server.
struct rule {
  std::string group{}, name{}, kind{}, expression{}, state{}, health{}, last_error{};  ///< Kind: "alerting", "recording".
  std::optional<double> evaluation_seconds{};                                          ///< How long the last evaluation took.
  series::duration hold_duration{};  ///< The member `for` of an alerting rule.
};

/// Where the data of a metrics source comes from. Threads: any. Calls block until `context.deadline` at most.
/// Errors of all calls with a result: source_unavailable, timed_out, cancelled, response_too_large, protocol_error.
/// invalid_argument if the server rejects the request. Error texts are safe for clients: of the server's address, they contain
/// only the origin.
class backend {
 public:
  backend() = default;
  backend(const backend&) = delete;
  backend& operator=(const backend&) = delete;
  virtual ~backend() = default;

  /// Lists at most `limit` metrics whose names start with `prefix`, in order, strictly after the name `after_key`. A histogram
  /// or summary is listed once, under its family name, without its `_bucket`, `_sum` and `_count` series. All others, also
  /// summaries without quantiles, are listed under the names of their series.
  [[nodiscard]] virtual result<std::vector<metric_info>> metrics(std::string_view prefix, std::string_view after_key,
                                                                 std::size_t limit, const request_context& context) = 0;
  /// Finds a metric by a family name from `metrics`, or by the name of a series. `x_bucket`, `x_sum` and `x_count` of a
  /// histogram are counters. Returns nullopt if the metric does not exist.
  [[nodiscard]] virtual result<std::optional<metric_info>> find(std::string_view name, const request_context& context) = 0;
  /// Returns the aggregated values of series over a time range. For the family of a histogram, quantiles are computed from its
  /// `_bucket` series, and all else from `_count`. The answer for an unknown metric has no series.
  [[nodiscard]] virtual result<range_answer> range(const range_request& request, const request_context& context) = 0;
  /// Returns the time of the newest sample of these series; nullopt: they have no recent sample.
  /// Default: calls `range` over the last four intervals; the result is exact to one interval.
  [[nodiscard]] virtual result<std::optional<series::instant>> newest_sample_time(const series::selector& selector,
                                                                                  const request_context& context);
  /// Returns the time of the last sample that the source received; nullopt: unknown, as by default. Must not block.
  [[nodiscard]] virtual std::optional<series::instant> last_ingest_time() const { return std::nullopt; }
  /// Lists the labels of series, in order. `selector`: an empty name means any metric.
  [[nodiscard]] virtual result<std::vector<std::string>> label_names(const series::selector& selector,
                                                                     const request_context& context) = 0;
  /// Lists the values of a label that start with `prefix`, in order, at most `max_label_values`. `selector`: as for
  /// `label_names`.
  [[nodiscard]] virtual result<std::vector<std::string>> label_values(const series::selector& selector, std::string_view label,
                                                                      std::string_view prefix,
                                                                      const request_context& context) = 0;
  /// Lists the scrape targets. Errors: also unsupported if the backend does not know them.
  [[nodiscard]] virtual result<std::vector<scraping::target_state>> targets(const request_context& context) = 0;
  /// Lists the alerts. Errors: also unsupported if the backend has none, as the embedded store.
  [[nodiscard]] virtual result<std::vector<alert>> alerts(const request_context& context) = 0;
  /// Lists the rules. Errors: as `alerts`.
  [[nodiscard]] virtual result<std::vector<rule>> rules(const request_context& context) = 0;
  /// Evaluates PromQL without changes. Errors: also unsupported unless the backend is Prometheus. invalid_argument has the
  /// error text of Prometheus.
  [[nodiscard]] virtual result<range_answer> query(std::string_view promql, const series::range& range, std::size_t max_points,
                                                   const request_context& context) = 0;
  /// Returns how often new samples usually arrive.
  [[nodiscard]] virtual series::duration interval() const = 0;
  /// The server begins to use the source, possibly again after `stop`. Before this or another call that needs data, the backend
  /// must open nothing. Must not block for long.
  virtual void start() {}
  /// The server does not use the source any more. Must not block for long.
  virtual void stop() {}
  /// From now on, calls `listener` when new samples may have arrived: after each scrape of a target, or once per interval.
  /// Replaces the previous one, of which a running call may still continue. Empty: none. Threads of calls: the backend's.
  virtual void set_listener(std::function<void()> listener) = 0;
  [[nodiscard]] virtual hondana::provider_health health() const = 0;
  [[nodiscard]] virtual hondana::system_requirements requirements() const = 0;
};

}  // namespace hondana::metrics
