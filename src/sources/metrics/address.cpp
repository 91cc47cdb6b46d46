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
constexpr std::size_t longest_value = std::size_t{16} << 10;
constexpr std::size_t longest_metric = 1024;
constexpr std::size_t longest_shown = 40;
constexpr unsigned least_pixels = 200, most_pixels = 4000;

constexpr std::array<std::pair<place, std::string_view>, 5> place_words{{{place::query, "query"},
                                                                         {place::targets, "targets"},
                                                                         {place::alerts, "alerts"},
                                                                         {place::rules, "rules"},
                                                                         {place::summary, "summary"}}};
constexpr std::array<std::pair<format, std::string_view>, 6> formats{{{format::json, "json"},
                                                                      {format::csv, "csv"},
                                                                      {format::openmetrics, "openmetrics"},
                                                                      {format::svg, "svg"},
                                                                      {format::png, "png"},
                                                                      {format::text, "text"}}};

tl::unexpected<failure> wrong_value(std::string_view name, std::string_view why) {
  return fail(errc::invalid_argument, std::string(name) + ": " + std::string(why));
}

struct reading_of_query {
  address& into;
  series::instant now;
  std::string_view name;
};
using value_reader = result<void> (*)(const reading_of_query&, const std::string&);

result<double> read_level(std::string_view name, const std::string& value) {
  double out = 0;
  const auto [end, problem] = std::from_chars(value.data(), value.data() + value.size(), out);
  if (problem != std::errc() || end != value.data() + value.size() || !std::isfinite(out))
    return wrong_value(name, "expected a number, such as 0.9 or 1e9.");
  return out;
}

template <std::optional<moment> address::* member>
result<void> read_moment(const reading_of_query& by, const std::string& value) {
  HONDANA_TRY(auto at, parse_moment(by.name, value, by.now));
  by.into.*member = at;
  return {};
}

template <std::optional<double> condition::* member>
result<void> read_bound(const reading_of_query& by, const std::string& value) {
  HONDANA_TRY(const auto level, read_level(by.name, value));
  by.into.when.*member = level;
  return {};
}

template <std::optional<unsigned> address::* member>
result<void> read_pixels(const reading_of_query& by, const std::string& value) {
  unsigned out = 0;
  const auto [end, problem] = std::from_chars(value.data(), value.data() + value.size(), out);
  if (problem != std::errc() || end != value.data() + value.size() || out < least_pixels || out > most_pixels)
    return wrong_value(by.name, "expected a number of pixels from 200 to 4000.");
  by.into.*member = out;
  return {};
}

result<void> read_match(const reading_of_query& by, const std::string& value) {
  auto matchers = series::parse_matchers(value);
  if (!matchers) return wrong_value("match", matchers.error().public_text);
  by.into.matchers = std::move(*matchers);
  return {};
}

template <series::duration& (*member)(address&)>
result<void> read_span_parameter(const reading_of_query& by, const std::string& value) {
  const auto span = series::parse_duration(value);
  if (!span) return wrong_value(by.name, "expected a duration: 15s, 5m, 1h30m, 1d or a number of seconds.");
  member(by.into) = *span;
  return {};
}

series::duration& step_of(address& at) { return at.step; }
series::duration& wait_of(address& at) { return at.when.wait; }

result<void> read_aggregation(const reading_of_query& by, const std::string& value) {
  auto how = series::parse_aggregation(value);
  if (!how) return wrong_value("agg", how.error().public_text);
  by.into.how = std::move(*how);
  by.into.has_how = true;
  return {};
}

result<void> read_absent(const reading_of_query& by, const std::string& value) {
  by.into.when.is_absent = value == "true" || value == "1";
  if (!by.into.when.is_absent && value != "false" && value != "0") return wrong_value("absent", "expected true or false.");
  return {};
}

result<void> read_format(const reading_of_query& by, const std::string& value) {
  const bool is_summary = by.into.of == place::summary;
  for (const auto& [what, name] : formats) {
    if (name != value) continue;
    if (is_summary ? what == format::json || what == format::text : what != format::text) {
      by.into.as = what;
      return {};
    }
  }
  return wrong_value(
      "format", is_summary ? "unknown format. Use json or text." : "unknown format. Use json, csv, openmetrics, svg or png.");
}

/// The resources that accept a parameter, as bits.
enum : unsigned { of_metric = 1, of_query = 2, of_summary = 4 };

struct query_parameter {
  std::string_view name;
  unsigned where;
  value_reader read;
};

const std::array<query_parameter, 13>& query_parameters() {
  static const std::array<query_parameter, 13> all{{{"match", of_metric, read_match},
                                                    {"promql", of_query,
                                                     [](const reading_of_query& by, const std::string& value) -> result<void> {
                                                       by.into.promql = value;
                                                       return {};
                                                     }},
                                                    {"start", of_metric | of_query, read_moment<&address::start>},
                                                    {"end", of_metric | of_query, read_moment<&address::end>},
                                                    {"step", of_metric | of_query, read_span_parameter<step_of>},
                                                    {"agg", of_metric, read_aggregation},
                                                    {"format", of_metric | of_query | of_summary, read_format},
                                                    {"above", of_metric, read_bound<&condition::above>},
                                                    {"below", of_metric, read_bound<&condition::below>},
                                                    {"absent", of_metric, read_absent},
                                                    {"for", of_metric, read_span_parameter<wait_of>},
                                                    {"width", of_metric | of_query, read_pixels<&address::width>},
                                                    {"height", of_metric | of_query, read_pixels<&address::height>}}};
  return all;
}

unsigned bit_of(place of) noexcept {
  if (of == place::metric) return of_metric;
  if (of == place::query) return of_query;
  return of == place::summary ? of_summary : 0U;
}

std::string names_of_parameters(unsigned where) {
  std::string names;
  for (const auto& one : query_parameters())
    if ((one.where & where) != 0) names += (names.empty() ? "" : ", ") + std::string(one.name);
  return names.empty() ? "none" : names;
}

result<void> read_query(address& into, std::string_view query, series::instant now) {
  const auto where = bit_of(into.of);
  std::vector<std::string_view> seen;
  while (!query.empty()) {
    const auto [name, written] = uri::take_parameter(query);
    const auto& all = query_parameters();
    const auto* const known =
        std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.name == name && (one.where & where) != 0; });
    if (known == all.end())
      return fail(errc::invalid_argument, "Unknown parameter '" + std::string(name.substr(0, longest_shown)) +
                                              "'. Parameters of this resource: " + names_of_parameters(where) + '.');
    if (std::find(seen.begin(), seen.end(), known->name) != seen.end())
      return wrong_value(known->name, "given more than once. Give it once.");
    seen.push_back(known->name);
    const auto text = percent_decode(written);
    if (!text || text->size() > longest_value)
      return wrong_value(known->name, "the value has malformed percent-encoding or is too long.");
    if (!json::is_utf8(*text) || json::has_nul(*text))
      return wrong_value(known->name, "the value is not valid UTF-8 or contains a NUL.");
    // Expanding a URI template can leave a parameter without a value. It counts as not given.
    if (text->empty()) continue;
    if (auto read = known->read({into, now, known->name}, *text); !read) return read;
  }
  return {};
}

/// Rejects parameters that cannot be combined.
result<void> check(const address& at) {
  if (at.of == place::query && at.promql.empty())
    return wrong_value("promql", "missing. Give a PromQL expression, percent-encoded.");
  if (at.when.wait > 0 && !at.when.is_any()) return wrong_value("for", "requires above, below or absent.");
  const auto as = at.as.value_or(format::json);
  if (at.when.is_any() && (as == format::csv || as == format::openmetrics))
    return wrong_value(
        "format", "conditions are available as json, svg or png only. Leave out above, below and absent to get the values as " +
                      std::string(name_of(as)) + '.');
  if ((at.width || at.height) && as != format::svg && as != format::png)
    return wrong_value(at.width ? "width" : "height", "requires format=svg or format=png.");
  return {};
}

tl::unexpected<failure> missing_resource() {
  return fail(
      errc::resource_not_found,
      "Unknown metrics resource. Use metrics://NAME/METRIC, metrics://NAME/summary, or a URI from the list of resources.");
}

bool is_called_like_a_place(std::string_view metric) {
  return metric == "metric" ||
         std::any_of(place_words.begin(), place_words.end(), [metric](const auto& one) { return one.second == metric; });
}

/// Parses the path of a URI.
result<void> read_path(address& into, std::string_view path) {
  if (path == "/") return {};
  path.remove_prefix(1);
  for (const auto& [what, word] : place_words)
    if (path == word) {
      into.of = what;
      return {};
    }
  const bool is_in_folder = path.starts_with(metric_folder);
  if (is_in_folder) path.remove_prefix(metric_folder.size());
  const auto name = percent_decode(path);
  if (!name || name->size() > longest_metric || !series::is_metric_name(*name)) return missing_resource();
  // Access rules match URIs, so each metric has exactly one URI.
  if (is_in_folder != is_called_like_a_place(*name)) return missing_resource();
  into.of = place::metric;
  into.metric = *name;
  return {};
}

}  // namespace

result<address> parse_address(std::string_view uri, series::instant now) {
  const auto parts = split_uri(uri);
  if (parts.scheme != "metrics" || !parts.authority || !ascii::is_slug(*parts.authority) || parts.fragment ||
      !parts.path.starts_with('/'))
    return missing_resource();
  address at;
  at.source = *parts.authority;
  at.now = now;
  HONDANA_TRY(read_path(at, parts.path));
  HONDANA_TRY(read_query(at, parts.query.value_or(std::string_view()), now));
  HONDANA_TRY(check(at));
  return at;
}

void address::move_to(series::instant later) {
  for (auto* const one : {&start, &end})
    if (*one && (*one)->is_relative) (*one)->at += later - now;
  now = later;
}

std::string uri_of(const address& at) {
  std::string out = at.of == place::metric ? metric_uri(at.source, at.metric) : uri_of(at.source, at.of);
  char sign = '?';
  const auto add = [&](std::string_view name, std::string_view value) {
    if (value.empty()) return;
    out += std::exchange(sign, '&');
    out += std::string(name) + '=' + percent_encode(value);
  };
  std::string match;
  for (const auto& one : at.matchers) match += (match.empty() ? "" : ",") + one.to_text();
  add("match", match);
  add("promql", at.promql);
  if (at.start) add("start", text_of(at.start->at));
  if (at.end) add("end", text_of(at.end->at));
  if (at.step > 0) add("step", series::to_text(at.step));
  if (at.has_how) add("agg", at.how.to_text());
  if (at.as) add("format", name_of(*at.as));
  if (at.when.above) add("above", exposition::number_text(*at.when.above));
  if (at.when.below) add("below", exposition::number_text(*at.when.below));
  if (at.when.is_absent) add("absent", "true");
  if (at.when.wait > 0) add("for", series::to_text(at.when.wait));
  if (at.width) add("width", std::to_string(*at.width));
  if (at.height) add("height", std::to_string(*at.height));
  return out;
}

std::string claim_of(std::string_view source) { return std::string(scheme_begin) + std::string(source) + '/'; }

std::string uri_of(std::string_view source, place of) { return claim_of(source) + std::string(word_of(of)); }

std::string metric_uri(std::string_view source, std::string_view metric) {
  return claim_of(source) + (is_called_like_a_place(metric) ? std::string(metric_folder) : std::string()) +
         percent_encode(metric);
}

std::string_view word_of(place of) noexcept {
  for (const auto& [what, word] : place_words)
    if (what == of) return word;
  return {};
}

std::string_view name_of(format of) noexcept { return formats[static_cast<std::size_t>(of)].second; }

std::string_view mime_of(format of) noexcept {
  switch (of) {
    case format::csv:
      return "text/csv";
    case format::openmetrics:
      return "application/openmetrics-text; version=1.0.0; charset=utf-8";
    case format::svg:
      return "image/svg+xml";
    case format::png:
      return "image/png";
    case format::text:
      return "text/plain";
    case format::json:
      break;
  }
  return "application/json";
}

namespace {

constexpr series::duration usual_span = hour;
/// A chart cannot show more, and more would not help a reader.
constexpr series::duration usual_points = 300;

constexpr series::instant first_of_time = INT64_MIN;

}  // namespace

series::duration usual_step(series::duration at_least) noexcept {
  constexpr std::array<series::duration, 18> usual{second,     5 * second, 10 * second, 15 * second, 30 * second, minute,
                                                   2 * minute, 5 * minute, 10 * minute, 15 * minute, 30 * minute, hour,
                                                   2 * hour,   3 * hour,   6 * hour,    12 * hour,   day,         7 * day};
  for (const auto one : usual)
    if (one >= at_least) return one;
  return (at_least + 7 * day - 1) / (7 * day) * (7 * day);
}

result<series::range> span_of(const address& at, series::instant now, series::duration interval, const limits& most) {
  series::range out;
  out.end = at.end ? at.end->at : now;
  out.start = at.start ? at.start->at : out.end - std::max(usual_span, 2 * at.when.wait);
  if (out.start > out.end)
    return fail(errc::invalid_argument,
                "end: it is before start (" + text_of(out.start) + "). Give a later time, or leave it out.");
  out.step = at.step > 0 ? at.step : usual_step(std::max(interval, (out.end - out.start) / usual_points));
  // With steps longer than `for`, a condition would count as lasting only after the next step.
  if (const auto lasting = std::max(interval, at.when.wait);
      at.step <= 0 && !at.start && at.when.wait > 0 && lasting < out.step) {
    out.step = lasting;
    out.start = out.end - usual_points * lasting;
  }
  const auto length = out.end - out.start;
  if (out.steps() > most.points) {
    const auto fits = usual_step(length / static_cast<series::duration>(most.points) + 1);
    return fail(errc::response_too_large, "From " + text_of(out.start) + " to " + text_of(out.end) + " a step of " +
                                              series::to_text(out.step) + " makes " + std::to_string(out.steps()) +
                                              " points per series, and an answer has " + std::to_string(most.points) +
                                              " at most. Use step=" + series::to_text(fits) +
                                              " or longer, or a shorter range with start and end.");
  }
  return out;
}

result<series::range> watched_span_of(const address& at, series::instant now, series::duration interval, const limits& most) {
  auto out = span_of(at, now, interval, most);
  if (!out) return out;
  const auto enough = at.when.wait + series::usual_look_back + out->step;
  const auto steps = (enough + out->step - 1) / out->step;
  out->start = std::max(out->end - steps * out->step, at.start && !at.start->is_relative ? out->start : first_of_time);
  // `for` may be far longer than the range from start to end.
  if (out->steps() > most.points)
    return fail(errc::response_too_large, "for: this takes " + std::to_string(out->steps()) + " steps of " +
                                              series::to_text(out->step) + ", and " + std::to_string(most.points) +
                                              " at most are evaluated. Use a longer step.");
  return out;
}

series::instant reference(series::instant now, std::optional<series::instant> latest, series::duration interval) noexcept {
  if (interval <= 0) return now;
  if (latest && *latest <= now && now - *latest <= 2 * interval) return *latest;
  return now - ((now % interval) + interval) % interval;
}

}  // namespace hondana::metrics
