/// The URIs of a metrics source: parsing them, and the time range and step that they select.
#include "sources/metrics/address.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>
#include <system_error>
#include <utility>

#include <hondana/uri.hpp>

#include "base/ascii/ascii.hpp"
#include "base/json/utf8.hpp"
#include "base/uri/uri_syntax.hpp"
#include "sources/metrics/exposition/writer.hpp"

namespace hondana::metrics {
namespace {

constexpr std::string_view scheme_begin = "metrics://";
constexpr std::string_view metric_folder = "metric/";
constexpr std::size_t max_value_bytes = std::size_t{16} << 10;
constexpr std::size_t max_metric_bytes = 1024;
constexpr std::size_t max_quoted_bytes = 40;
constexpr unsigned min_pixels = 200, max_pixels = 4000;

constexpr std::array<std::pair<resource_kind, std::string_view>, 5> path_segments{{{resource_kind::query, "query"},
                                                                                   {resource_kind::targets, "targets"},
                                                                                   {resource_kind::alerts, "alerts"},
                                                                                   {resource_kind::rules, "rules"},
                                                                                   {resource_kind::summary, "summary"}}};
constexpr std::array<std::pair<output_format, std::string_view>, 6> format_names{{{output_format::json, "json"},
                                                                                  {output_format::csv, "csv"},
                                                                                  {output_format::openmetrics, "openmetrics"},
                                                                                  {output_format::svg, "svg"},
                                                                                  {output_format::png, "png"},
                                                                                  {output_format::text, "text"}}};

tl::unexpected<failure> invalid_value(std::string_view name, std::string_view reason) {
  return fail(errc::invalid_argument, std::string(name) + ": " + std::string(reason));
}

struct parse_context {
  address& output;
  series::instant now;
  std::string_view name;
};
using value_reader = result<void> (*)(const parse_context&, const std::string&);

result<double> read_level(std::string_view name, const std::string& value) {
  double out = 0;
  const auto [end, problem] = std::from_chars(value.data(), value.data() + value.size(), out);
  if (problem != std::errc() || end != value.data() + value.size() || !std::isfinite(out))
    return invalid_value(name, "expected a number, such as 0.9 or 1e9.");
  return out;
}

template <std::optional<moment> address::* member>
result<void> read_moment(const parse_context& context, const std::string& value) {
  HONDANA_TRY(auto time, parse_moment(context.name, value, context.now));
  context.output.*member = time;
  return {};
}

template <std::optional<double> series_condition::* member>
result<void> read_bound(const parse_context& context, const std::string& value) {
  HONDANA_TRY(const auto level, read_level(context.name, value));
  context.output.condition.*member = level;
  return {};
}

template <std::optional<unsigned> address::* member>
result<void> read_pixels(const parse_context& context, const std::string& value) {
  unsigned out = 0;
  const auto [end, problem] = std::from_chars(value.data(), value.data() + value.size(), out);
  if (problem != std::errc() || end != value.data() + value.size() || out < min_pixels || out > max_pixels)
    return invalid_value(context.name, "expected a number of pixels from 200 to 4000.");
  context.output.*member = out;
  return {};
}

result<void> read_match(const parse_context& context, const std::string& value) {
  auto matchers = series::parse_matchers(value);
  if (!matchers) return invalid_value("match", matchers.error().public_text);
  context.output.matchers = std::move(*matchers);
  return {};
}

template <series::duration& (*member)(address&)>
result<void> read_duration(const parse_context& context, const std::string& value) {
  const auto duration = series::parse_duration(value);
  if (!duration) return invalid_value(context.name, "expected a duration: 15s, 5m, 1h30m, 1d or a number of seconds.");
  member(context.output) = *duration;
  return {};
}

series::duration& step_of(address& address) { return address.step; }
series::duration& hold_duration_of(address& address) { return address.condition.hold_duration; }

result<void> read_aggregation(const parse_context& context, const std::string& value) {
  auto aggregation = series::parse_aggregation(value);
  if (!aggregation) return invalid_value("agg", aggregation.error().public_text);
  context.output.aggregation = std::move(*aggregation);
  context.output.has_aggregation = true;
  return {};
}

result<void> read_absent(const parse_context& context, const std::string& value) {
  context.output.condition.is_absent = value == "true" || value == "1";
  if (!context.output.condition.is_absent && value != "false" && value != "0")
    return invalid_value("absent", "expected true or false.");
  return {};
}

result<void> read_format(const parse_context& context, const std::string& value) {
  const bool is_summary = context.output.kind == resource_kind::summary;
  for (const auto& [format, name] : format_names) {
    if (name != value) continue;
    if (is_summary ? format == output_format::json || format == output_format::text : format != output_format::text) {
      context.output.format = format;
      return {};
    }
  }
  return invalid_value(
      "format", is_summary ? "unknown format. Use json or text." : "unknown format. Use json, csv, openmetrics, svg or png.");
}

/// The resources that accept a parameter, as bits.
enum : unsigned { for_metric = 1, for_query = 2, for_summary = 4 };

struct query_parameter {
  std::string_view name;
  unsigned resources;
  value_reader read;
};

const std::array<query_parameter, 13>& query_parameters() {
  static const std::array<query_parameter, 13> parameters{
      {{"match", for_metric, read_match},
       {"promql", for_query,
        [](const parse_context& context, const std::string& value) -> result<void> {
          context.output.promql = value;
          return {};
        }},
       {"start", for_metric | for_query, read_moment<&address::start>},
       {"end", for_metric | for_query, read_moment<&address::end>},
       {"step", for_metric | for_query, read_duration<step_of>},
       {"agg", for_metric, read_aggregation},
       {"format", for_metric | for_query | for_summary, read_format},
       {"above", for_metric, read_bound<&series_condition::above>},
       {"below", for_metric, read_bound<&series_condition::below>},
       {"absent", for_metric, read_absent},
       {"for", for_metric, read_duration<hold_duration_of>},
       {"width", for_metric | for_query, read_pixels<&address::width>},
       {"height", for_metric | for_query, read_pixels<&address::height>}}};
  return parameters;
}

unsigned resource_bit(resource_kind kind) noexcept {
  if (kind == resource_kind::metric) return for_metric;
  if (kind == resource_kind::query) return for_query;
  return kind == resource_kind::summary ? for_summary : 0U;
}

std::string parameter_names(unsigned resources) {
  std::string names;
  for (const auto& parameter : query_parameters())
    if ((parameter.resources & resources) != 0) names += (names.empty() ? "" : ", ") + std::string(parameter.name);
  return names.empty() ? "none" : names;
}

result<void> read_query(address& output, std::string_view query, series::instant now) {
  const auto resources = resource_bit(output.kind);
  std::vector<std::string_view> seen;
  while (!query.empty()) {
    const auto [name, encoded] = uri::pop_parameter(query);
    const auto& parameters = query_parameters();
    const auto* const match = std::find_if(parameters.begin(), parameters.end(), [&](const auto& parameter) {
      return parameter.name == name && (parameter.resources & resources) != 0;
    });
    if (match == parameters.end())
      return fail(errc::invalid_argument, "Unknown parameter '" + std::string(name.substr(0, max_quoted_bytes)) +
                                              "'. Parameters of this resource: " + parameter_names(resources) + '.');
    if (std::find(seen.begin(), seen.end(), match->name) != seen.end())
      return invalid_value(match->name, "given more than once. Give it once.");
    seen.push_back(match->name);
    const auto text = percent_decode(encoded);
    if (!text || text->size() > max_value_bytes)
      return invalid_value(match->name, "the value has malformed percent-encoding or is too long.");
    if (!json::is_utf8(*text) || json::has_nul(*text))
      return invalid_value(match->name, "the value is not valid UTF-8 or contains a NUL.");
    // Expanding a URI template can leave a parameter without a value. It counts as not given.
    if (text->empty()) continue;
    if (auto parsed = match->read({output, now, match->name}, *text); !parsed) return parsed;
  }
  return {};
}

/// Rejects parameters that cannot be combined.
result<void> check_parameters(const address& address) {
  if (address.kind == resource_kind::query && address.promql.empty())
    return invalid_value("promql", "missing. Give a PromQL expression, percent-encoded.");
  if (address.condition.hold_duration > 0 && !address.condition.is_set())
    return invalid_value("for", "requires above, below or absent.");
  const auto format = address.format.value_or(output_format::json);
  if (address.condition.is_set() && (format == output_format::csv || format == output_format::openmetrics))
    return invalid_value(
        "format", "conditions are available as json, svg or png only. Leave out above, below and absent to get the values as " +
                      std::string(name_of(format)) + '.');
  if ((address.width || address.height) && format != output_format::svg && format != output_format::png)
    return invalid_value(address.width ? "width" : "height", "requires format=svg or format=png.");
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

result<address> parse_address(std::string_view uri, series::instant now) {
  const auto parts = split_uri(uri);
  if (parts.scheme != "metrics" || !parts.authority || !ascii::is_slug(*parts.authority) || parts.fragment ||
      !parts.path.starts_with('/'))
    return missing_resource();
  address parsed;
  parsed.source = *parts.authority;
  parsed.now = now;
  HONDANA_TRY(read_path(parsed, parts.path));
  HONDANA_TRY(read_query(parsed, parts.query.value_or(std::string_view()), now));
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

std::string_view name_of(output_format format) noexcept { return format_names[static_cast<std::size_t>(format)].second; }

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
