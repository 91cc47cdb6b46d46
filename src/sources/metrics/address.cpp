/// The URIs of a metrics source: parsing them, and the time range and step that they select.
#include "sources/metrics/address.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include <hondana/uri.hpp>

#include "base/ascii/ascii.hpp"
#include "sources/metrics/exposition/writer.hpp"

namespace hondana::metrics {
namespace {

constexpr std::string_view scheme_begin = "metrics://";
constexpr std::string_view metric_folder = "metric/";
constexpr std::size_t max_metric_bytes = 1024;
constexpr double min_pixels = 200, max_pixels = 4000;
constexpr double infinity = std::numeric_limits<double>::infinity();

constexpr std::array<std::pair<resource_kind, std::string_view>, 5> path_segments{{{resource_kind::query, "query"},
                                                                                   {resource_kind::targets, "targets"},
                                                                                   {resource_kind::alerts, "alerts"},
                                                                                   {resource_kind::rules, "rules"},
                                                                                   {resource_kind::summary, "summary"}}};
/// In the order of `output_format`.
constexpr std::array<std::string_view, 6> format_names{"json", "csv", "openmetrics", "svg", "png", "text"};
constexpr std::array<std::string_view, 2> summary_formats{"json", "text"};
constexpr std::array<std::string_view, 4> truth_values{"true", "1", "false", "0"};

constexpr uri::query_parameter format_parameter{
    .name = "format", .type = uri::parameter_type::choice, .choices = std::span(format_names).first(5)};
constexpr uri::query_parameter width_parameter{
    .name = "width", .type = uri::parameter_type::integer, .min = min_pixels, .max = max_pixels};
constexpr uri::query_parameter height_parameter{
    .name = "height", .type = uri::parameter_type::integer, .min = min_pixels, .max = max_pixels};
constexpr auto metric_parameters = std::to_array<uri::query_parameter>({
    {.name = "match"},
    {.name = "start"},
    {.name = "end"},
    {.name = "step"},
    {.name = "agg"},
    format_parameter,
    {.name = "above", .type = uri::parameter_type::number, .min = -infinity},
    {.name = "below", .type = uri::parameter_type::number, .min = -infinity},
    {.name = "absent", .type = uri::parameter_type::choice, .choices = truth_values},
    {.name = "for"},
    width_parameter,
    height_parameter,
});
constexpr auto query_parameters = std::to_array<uri::query_parameter>({
    {.name = "promql"},
    {.name = "start"},
    {.name = "end"},
    {.name = "step"},
    format_parameter,
    width_parameter,
    height_parameter,
});
constexpr auto summary_parameters = std::to_array<uri::query_parameter>({
    {.name = "format", .type = uri::parameter_type::choice, .choices = summary_formats},
});

result<void> read_time_parameter(std::optional<moment>& output, const uri::query_values& values, std::string_view name,
                                 series::instant now) {
  if (!values.has(name)) return {};
  HONDANA_TRY(output, parse_moment(values.label(name), values.text(name), now));
  return {};
}

result<void> read_duration_parameter(series::duration& output, const uri::query_values& values, std::string_view name) {
  if (!values.has(name)) return {};
  const auto duration = series::parse_duration(values.text(name));
  if (!duration) return values.invalid(name, "expected a duration: 15s, 5m, 1h30m, 1d or a number of seconds.");
  output = *duration;
  return {};
}

result<void> read_query(address& output, std::optional<std::string_view> query, series::instant now) {
  const bool is_metric = output.kind == resource_kind::metric;
  HONDANA_TRY(const auto values, uri::parse_query(query, parameters_of(output.kind),
                                                  is_metric ? "metrics://NAME/METRIC" : uri_of("NAME", output.kind)));
  if (values.has("match")) {
    auto matchers = series::parse_matchers(values.text("match"));
    if (!matchers) return values.invalid("match", matchers.error().public_text);
    output.matchers = std::move(*matchers);
  }
  output.promql = values.text("promql");
  HONDANA_TRY(read_time_parameter(output.start, values, "start", now));
  HONDANA_TRY(read_time_parameter(output.end, values, "end", now));
  HONDANA_TRY(read_duration_parameter(output.step, values, "step"));
  HONDANA_TRY(read_duration_parameter(output.condition.hold_duration, values, "for"));
  if (values.has("agg")) {
    auto aggregation = series::parse_aggregation(values.text("agg"));
    if (!aggregation) return values.invalid("agg", aggregation.error().public_text);
    output.aggregation = std::move(*aggregation);
    output.has_aggregation = true;
  }
  if (values.has("format")) {
    const auto* const position = std::find(format_names.begin(), format_names.end(), values.text("format"));
    output.format = static_cast<output_format>(position - format_names.begin());
  }
  output.condition.above = values.number("above");
  output.condition.below = values.number("below");
  output.condition.is_absent = values.text("absent") == "true" || values.text("absent") == "1";
  output.width = values.integer("width");
  output.height = values.integer("height");
  return {};
}

/// Rejects parameters that cannot be combined.
result<void> check_parameters(const address& address) {
  if (address.kind == resource_kind::query && address.promql.empty())
    return uri::invalid_parameter("promql", "missing. Give a PromQL expression, percent-encoded.");
  if (address.condition.hold_duration > 0 && !address.condition.is_set())
    return uri::invalid_parameter("for", "requires above, below or absent.");
  const auto format = address.format.value_or(output_format::json);
  if (address.condition.is_set() && (format == output_format::csv || format == output_format::openmetrics))
    return uri::invalid_parameter(
        "format", "conditions are available as json, svg or png only. Leave out above, below and absent to get the values as " +
                      std::string(name_of(format)) + '.');
  if ((address.width || address.height) && format != output_format::svg && format != output_format::png)
    return uri::invalid_parameter(address.width ? "width" : "height", "requires format=svg or format=png.");
  return {};
}

tl::unexpected<failure> missing_resource() {
  return fail(
      errc::resource_not_found,
      "Unknown metrics resource. Use metrics://NAME/METRIC, metrics://NAME/summary, or a URI from the list of resources.");
}

bool is_reserved_name(std::string_view metric) {
  return metric == "metric" || std::any_of(path_segments.begin(), path_segments.end(),
                                           [metric](const auto& entry) { return entry.second == metric; });
}

/// Parses the path of a URI.
result<void> read_path(address& output, std::string_view path) {
  if (path == "/") return {};
  path.remove_prefix(1);
  for (const auto& [kind, segment] : path_segments)
    if (path == segment) {
      output.kind = kind;
      return {};
    }
  const bool is_in_folder = path.starts_with(metric_folder);
  if (is_in_folder) path.remove_prefix(metric_folder.size());
  const auto name = percent_decode(path);
  if (!name || name->size() > max_metric_bytes || !series::is_metric_name(*name)) return missing_resource();
  // Access rules match URIs, so each metric has exactly one URI.
  if (is_in_folder != is_reserved_name(*name)) return missing_resource();
  output.kind = resource_kind::metric;
  output.metric = *name;
  return {};
}

}  // namespace

std::span<const uri::query_parameter> parameters_of(resource_kind kind) noexcept {
  if (kind == resource_kind::metric) return metric_parameters;
  if (kind == resource_kind::query) return query_parameters;
  if (kind == resource_kind::summary) return summary_parameters;
  return {};
}

result<address> parse_address(std::string_view uri, series::instant now) {
  const auto parts = split_uri(uri);
  if (parts.scheme != "metrics" || !parts.authority || !ascii::is_slug(*parts.authority) || parts.fragment ||
      !parts.path.starts_with('/'))
    return missing_resource();
  address parsed;
  parsed.source = *parts.authority;
  parsed.now = now;
  HONDANA_TRY(read_path(parsed, parts.path));
  HONDANA_TRY(read_query(parsed, parts.query, now));
  HONDANA_TRY(check_parameters(parsed));
  return parsed;
}

void address::move_to(series::instant later) {
  for (auto* const bound : {&start, &end})
    if (*bound && (*bound)->is_relative) (*bound)->time += later - now;
  now = later;
}

std::string uri_of(const address& address) {
  std::string out =
      address.kind == resource_kind::metric ? metric_uri(address.source, address.metric) : uri_of(address.source, address.kind);
  char sign = '?';
  const auto add = [&](std::string_view name, std::string_view value) {
    if (value.empty()) return;
    out += std::exchange(sign, '&');
    out += std::string(name) + '=' + percent_encode(value);
  };
  std::string match;
  for (const auto& matcher : address.matchers) match += (match.empty() ? "" : ",") + matcher.to_text();
  add("match", match);
  add("promql", address.promql);
  if (address.start) add("start", format_time(address.start->time));
  if (address.end) add("end", format_time(address.end->time));
  if (address.step > 0) add("step", series::to_text(address.step));
  if (address.has_aggregation) add("agg", address.aggregation.to_text());
  if (address.format) add("format", name_of(*address.format));
  if (address.condition.above) add("above", exposition::format_number(*address.condition.above));
  if (address.condition.below) add("below", exposition::format_number(*address.condition.below));
  if (address.condition.is_absent) add("absent", "true");
  if (address.condition.hold_duration > 0) add("for", series::to_text(address.condition.hold_duration));
  if (address.width) add("width", std::to_string(*address.width));
  if (address.height) add("height", std::to_string(*address.height));
  return out;
}

std::string uri_prefix(std::string_view source) { return std::string(scheme_begin) + std::string(source) + '/'; }

std::string uri_of(std::string_view source, resource_kind kind) { return uri_prefix(source) + std::string(path_segment(kind)); }

std::string metric_uri(std::string_view source, std::string_view metric) {
  return uri_prefix(source) + (is_reserved_name(metric) ? std::string(metric_folder) : std::string()) + percent_encode(metric);
}

std::string_view path_segment(resource_kind kind) noexcept {
  for (const auto& [candidate, segment] : path_segments)
    if (candidate == kind) return segment;
  return {};
}

std::string_view name_of(output_format format) noexcept { return format_names[static_cast<std::size_t>(format)]; }

std::string_view mime_type_of(output_format format) noexcept {
  switch (format) {
    case output_format::csv:
      return "text/csv";
    case output_format::openmetrics:
      return "application/openmetrics-text; version=1.0.0; charset=utf-8";
    case output_format::svg:
      return "image/svg+xml";
    case output_format::png:
      return "image/png";
    case output_format::text:
      return "text/plain";
    case output_format::json:
      break;
  }
  return "application/json";
}

namespace {

constexpr series::duration default_range = hour;
/// A chart cannot show more, and more would not help a reader.
constexpr series::duration default_points = 300;

constexpr series::instant earliest_instant = INT64_MIN;

}  // namespace

series::duration default_step(series::duration min_step) noexcept {
  constexpr std::array<series::duration, 18> steps{second,     5 * second, 10 * second, 15 * second, 30 * second, minute,
                                                   2 * minute, 5 * minute, 10 * minute, 15 * minute, 30 * minute, hour,
                                                   2 * hour,   3 * hour,   6 * hour,    12 * hour,   day,         7 * day};
  for (const auto step : steps)
    if (step >= min_step) return step;
  return (min_step + 7 * day - 1) / (7 * day) * (7 * day);
}

result<series::range> resolve_range(const address& address, series::instant now, series::duration interval,
                                    const response_limits& limits) {
  series::range out;
  out.end = address.end ? address.end->time : now;
  out.start = address.start ? address.start->time : out.end - std::max(default_range, 2 * address.condition.hold_duration);
  if (out.start > out.end)
    return fail(errc::invalid_argument,
                "end: it is before start (" + format_time(out.start) + "). Give a later time, or leave it out.");
  out.step = address.step > 0 ? address.step : default_step(std::max(interval, (out.end - out.start) / default_points));
  // With steps longer than `for`, a condition would count as lasting only after the next step.
  if (const auto shorter_step = std::max(interval, address.condition.hold_duration);
      address.step <= 0 && !address.start && address.condition.hold_duration > 0 && shorter_step < out.step) {
    out.step = shorter_step;
    out.start = out.end - default_points * shorter_step;
  }
  const auto length = out.end - out.start;
  if (out.steps() > limits.max_points) {
    const auto fitting_step = default_step(length / static_cast<series::duration>(limits.max_points) + 1);
    return fail(errc::response_too_large, "From " + format_time(out.start) + " to " + format_time(out.end) + " a step of " +
                                              series::to_text(out.step) + " makes " + std::to_string(out.steps()) +
                                              " points per series, and an answer has " + std::to_string(limits.max_points) +
                                              " at most. Use step=" + series::to_text(fitting_step) +
                                              " or longer, or a shorter range with start and end.");
  }
  return out;
}

result<series::range> resolve_watched_range(const address& address, series::instant now, series::duration interval,
                                            const response_limits& limits) {
  auto out = resolve_range(address, now, interval, limits);
  if (!out) return out;
  const auto min_length = address.condition.hold_duration + series::default_lookback + out->step;
  const auto steps = (min_length + out->step - 1) / out->step;
  out->start =
      std::max(out->end - steps * out->step, address.start && !address.start->is_relative ? out->start : earliest_instant);
  // `for` may be far longer than the range from start to end.
  if (out->steps() > limits.max_points)
    return fail(errc::response_too_large, "for: this takes " + std::to_string(out->steps()) + " steps of " +
                                              series::to_text(out->step) + ", and " + std::to_string(limits.max_points) +
                                              " at most are evaluated. Use a longer step.");
  return out;
}

series::instant reference_time(series::instant now, std::optional<series::instant> latest, series::duration interval) noexcept {
  if (interval <= 0) return now;
  if (latest && *latest <= now && now - *latest <= 2 * interval) return *latest;
  return now - ((now % interval) + interval) % interval;
}

}  // namespace hondana::metrics
