/// Evaluates the condition of an address on the series of a metric, and writes the verdict as JSON.
#include "sources/metrics/condition_check.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace hondana::metrics {
namespace {

constexpr std::size_t max_listed_series = 100;

std::vector<series::instant> steps_of(const series::range& range) {
  std::vector<series::instant> out;
  out.reserve(range.steps());
  for (auto time = range.start; time <= range.end; time += range.step) out.push_back(time);
  return out;
}

/// Steps at which some target was known to be up or down. All steps if the source has no `up` metric.
result<std::vector<series::instant>> known_steps(backend& backend, const series::range& range, const response_limits& limits,
                                                 const request_context& context) {
  const auto up_metric = backend.find("up", context);
  if (!up_metric) return tl::unexpected(up_metric.error());
  if (!*up_metric) return steps_of(range);
  range_request request;
  request.selector.name = "up";
  request.aggregation.time = series::over_time::last;
  request.aggregation.across = series::across::count;
  request.range = range;
  request.max_series = limits.max_series;
  request.max_points = limits.max_points;
  const auto answer = backend.range(request, context);
  if (!answer) return tl::unexpected(answer.error());
  std::vector<series::instant> out;
  for (const auto& series : answer->series)
    for (const auto& sample : series.samples) out.push_back(sample.time);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

std::string_view name_of(condition_status::state state) noexcept {
  switch (state) {
    case condition_status::state::met:
      return "met";
    case condition_status::state::pending:
      return "pending";
    case condition_status::state::quiet:
      return "quiet";
    case condition_status::state::unknown:
      break;
  }
  return "unknown";
}

}  // namespace

bool verdict::holds() const noexcept {
  return std::any_of(series.begin(), series.end(),
                     [](const series_verdict& entry) { return entry.status.current == condition_status::state::met; });
}

std::optional<series::instant> verdict::active_since() const noexcept {
  std::optional<series::instant> out;
  for (const auto& entry : series)
    if (entry.status.current == condition_status::state::met && (!out || entry.status.active_since < *out))
      out = entry.status.active_since;
  return out;
}

result<range_answer> read_values(backend& backend, const address& address, const series::range& range,
                                 const response_limits& limits, const request_context& context) {
  if (address.kind == resource_kind::query) return backend.query(address.promql, range, limits.max_points, context);
  range_request request;
  request.selector = address.selector();
  request.aggregation = address.aggregation;
  request.range = range;
  request.max_series = limits.max_series;
  request.max_points = limits.max_points;
  return backend.range(request, context);
}

result<verdict> check_series(backend& backend, const address& address, const series::range& range,
                             const response_limits& limits, const request_context& context) {
  verdict out;
  HONDANA_TRY(auto answer, read_values(backend, address, range, limits, context));
  out.answer = std::move(answer);
  // Values may arrive less often than steps. A series that is missing for this long is gone.
  const auto gap = std::max(series::default_lookback, 2 * range.step);
  if (address.condition.above || address.condition.below)
    for (const auto& series : out.answer.series)
      out.series.push_back({false, series, evaluate_condition(series.samples, address.condition, range.end, gap)});
  if (address.condition.is_absent) {
    HONDANA_TRY(const auto steps, known_steps(backend, range, limits, context));
    series_condition absent;
    absent.above = 0;
    absent.hold_duration = address.condition.hold_duration;
    series::time_series absence{{}, absence_samples(out.answer.series, steps)};
    const auto status = evaluate_condition(absence.samples, absent, range.end, gap);
    out.series.push_back({true, std::move(absence), status});
  }
  return out;
}

std::string to_json(const range_report& report, const verdict& verdict) {
  std::string out;
  json::writer writer(out);
  const auto& condition = report.request.condition;
  writer.begin_object();
  write_head(writer, report);
  writer.key("condition").begin_object();
  if (condition.above) writer.key("above").number(*condition.above);
  if (condition.below) writer.key("below").number(*condition.below);
  if (condition.is_absent) writer.key("absent").boolean(true);
  writer.key("for");
  write_seconds(writer, condition.hold_duration);
  writer.end_object();
  writer.key("holds").boolean(verdict.holds());
  if (const auto active_since = verdict.active_since()) writer.member("since", format_time(*active_since));
  std::size_t listed = 0, quiet = 0, unknown = 0, omitted = 0;
  writer.key("series").begin_array();
  for (const auto state : {condition_status::state::met, condition_status::state::pending}) {
    for (const auto& entry : verdict.series) {
      if (entry.status.current != state) continue;
      if (++listed > max_listed_series) {
        ++omitted;
        continue;
      }
      writer.begin_object();
      writer.member("state", name_of(state));
      writer.member("since", format_time(entry.status.active_since));
      writer.key("sinceEarlier").boolean(entry.status.may_be_earlier);
      if (entry.is_absence) writer.key("absent").boolean(true);
      writer.key("labels");
      write_labels(writer, entry.series.id);
      if (entry.status.value && !entry.is_absence) {
        writer.key("value");
        write_value(writer, *entry.status.value);
      }
      writer.key("points");
      write_points(writer, entry.series.samples);
      writer.end_object();
    }
  }
  writer.end_array();
  for (const auto& entry : verdict.series) {
    quiet += entry.status.current == condition_status::state::quiet ? 1U : 0U;
    unknown += entry.status.current == condition_status::state::unknown ? 1U : 0U;
  }
  writer.key("quiet").unsigned_integer(quiet);
  writer.key("unknown").unsigned_integer(unknown);
  if (omitted > 0) writer.key("omitted").unsigned_integer(omitted);
  if (!report.answer.warnings.empty()) {
    writer.key("warnings").begin_array();
    for (const auto& warning : report.answer.warnings) writer.string(warning);
    writer.end_array();
  }
  writer.end_object();
  return out;
}

}  // namespace hondana::metrics
