/// The Prometheus data model: metric names, labels, samples, kinds and metadata.
#include "sources/metrics/series/data_model.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

#include "base/ascii/ascii.hpp"
#include "base/counters/prometheus_text.hpp"

namespace hondana::series {
namespace {

constexpr bool begins_name(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
constexpr bool is_in_name(char c) noexcept { return begins_name(c) || (c >= '0' && c <= '9'); }

}  // namespace

std::string_view identity::value_of(std::string_view label_name) const noexcept {
  if (label_name == "__name__") return name;
  const auto at = std::lower_bound(labels.begin(), labels.end(), label_name,
                                   [](const label& one, std::string_view wanted) { return one.first < wanted; });
  return at != labels.end() && at->first == label_name ? std::string_view(at->second) : std::string_view();
}

bool normalise(identity& of) {
  if (!of.name.empty() && !is_metric_name(of.name)) return false;
  for (const auto& [name, value] : of.labels)
    if (!is_label_name(name) || name == "__name__" || !is_utf8(value)) return false;
  const auto by_name = [](const label& a, const label& b) { return a.first < b.first; };
  if (!std::is_sorted(of.labels.begin(), of.labels.end(), by_name)) std::sort(of.labels.begin(), of.labels.end(), by_name);
  if (std::adjacent_find(of.labels.begin(), of.labels.end(),
                         [](const label& a, const label& b) { return a.first == b.first; }) != of.labels.end())
    return false;
  std::erase_if(of.labels, [](const label& one) { return one.second.empty(); });
  return true;
}

bool is_metric_name(std::string_view text) noexcept {
  return !text.empty() && (begins_name(text[0]) || text[0] == ':') &&
         std::all_of(text.begin(), text.end(), [](char c) { return is_in_name(c) || c == ':'; });
}

bool is_label_name(std::string_view text) noexcept {
  return !text.empty() && begins_name(text[0]) && std::all_of(text.begin(), text.end(), is_in_name);
}

std::string to_text(const identity& of) {
  std::string out;
  append_text(out, of);
  return out;
}

void append_text(std::string& out, const identity& of) {
  out += of.name;
  if (of.labels.empty()) {
    if (of.name.empty()) out += "{}";
    return;
  }
  char before = '{';
  for (const auto& [name, value] : of.labels) {
    counters::append_label(out, before, name, value);
    before = ',';
  }
  out += '}';
}

namespace {

constexpr std::array<std::pair<kind, std::string_view>, 8> names_of_kinds{{{kind::unknown, "unknown"},
                                                                           {kind::counter, "counter"},
                                                                           {kind::gauge, "gauge"},
                                                                           {kind::histogram, "histogram"},
                                                                           {kind::summary, "summary"},
                                                                           {kind::info, "info"},
                                                                           {kind::stateset, "stateset"},
                                                                           {kind::gauge, "gaugehistogram"}}};

constexpr std::array<std::string_view, 24> units{"seconds",     "bytes",   "ratio",  "celsius", "kelvin",       "meters",
                                                 "volts",       "amperes", "joules", "watts",   "grams",        "hertz",
                                                 "percent",     "pascals", "bits",   "packets", "milliseconds", "microseconds",
                                                 "nanoseconds", "minutes", "hours",  "days",    "kilobytes",    "lux"};

/// Removes an ending. Returns false if the name does not have it, or nothing would remain.
bool drop_ending(std::string_view& name, std::string_view ending) noexcept {
  if (name.size() <= ending.size() || !name.ends_with(ending)) return false;
  name.remove_suffix(ending.size());
  return true;
}

bool is_part_of_distribution(std::string_view name) noexcept {
  return name.ends_with("_bucket") || name.ends_with("_sum") || name.ends_with("_count");
}

/// For a decimal number outside the range of a double: whether it is too large, not too small.
bool is_large(std::string_view text) noexcept {
  const auto end_of_digits = std::min(text.find_first_of("eE"), text.size());
  const auto first_digit = text.find_first_of("123456789");
  if (first_digit >= end_of_digits) return false;
  const auto point = std::min(text.find('.'), end_of_digits);
  const auto magnitude = static_cast<std::int64_t>(point) - static_cast<std::int64_t>(first_digit);
  if (end_of_digits == text.size()) return magnitude > 0;
  auto exponent = text.substr(end_of_digits + 1);
  if (exponent.starts_with('+')) exponent.remove_prefix(1);
  std::int64_t value = 0;
  if (std::from_chars(exponent.data(), exponent.data() + exponent.size(), value).ec == std::errc::result_out_of_range)
    return !exponent.starts_with('-');
  return value > -magnitude;
}

}  // namespace

std::string_view name_of(kind what) noexcept {
  const auto at =
      std::find_if(names_of_kinds.begin(), names_of_kinds.end(), [what](const auto& one) { return one.first == what; });
  return at == names_of_kinds.end() ? "unknown" : at->second;
}

kind kind_of(std::string_view text) noexcept {
  const auto at =
      std::find_if(names_of_kinds.begin(), names_of_kinds.end(), [text](const auto& one) { return one.second == text; });
  return at == names_of_kinds.end() ? kind::unknown : at->first;
}

std::string_view unit_in(std::string_view metric_name) noexcept {
  if (!drop_ending(metric_name, "_total")) drop_ending(metric_name, "_sum");
  const auto last = metric_name.rfind('_');
  if (last == std::string_view::npos) return {};
  const auto at = std::find(units.begin(), units.end(), metric_name.substr(last + 1));
  return at == units.end() ? std::string_view() : *at;
}

std::string_view family_of(std::string_view metric_name, kind what) noexcept {
  const auto without_one_of = [&](std::initializer_list<std::string_view> endings) {
    for (const auto ending : endings)
      if (drop_ending(metric_name, ending)) break;
    return metric_name;
  };
  switch (what) {
    case kind::counter:
      return without_one_of({"_total", "_created"});
    case kind::histogram:
      return without_one_of({"_bucket", "_sum", "_count", "_created"});
    case kind::summary:
      return without_one_of({"_sum", "_count", "_created"});
    case kind::info:
      return without_one_of({"_info"});
    case kind::unknown:
    case kind::gauge:
    case kind::stateset:
      break;
  }
  return metric_name;
}

kind kind_of_series(std::string_view metric_name, kind of_family) noexcept {
  const bool is_distribution = of_family == kind::histogram || of_family == kind::summary;
  if (is_distribution && is_part_of_distribution(metric_name)) return kind::counter;
  if (is_distribution && metric_name.ends_with("_created")) return kind::gauge;
  if (of_family == kind::unknown && (metric_name.ends_with("_total") || metric_name.ends_with("_bucket"))) return kind::counter;
  return of_family;
}

std::optional<double> number_in(std::string_view text) noexcept {
  const bool is_negative = text.starts_with('-');
  if (is_negative || text.starts_with('+')) text.remove_prefix(1);
  if (text.empty()) return std::nullopt;
  const double sign = is_negative ? -1 : 1;
  if ((text[0] < '0' || text[0] > '9') && text[0] != '.') {
    if (ascii::is_same(text, "nan")) return std::numeric_limits<double>::quiet_NaN();
    if (ascii::is_same(text, "inf") || ascii::is_same(text, "infinity")) return sign * std::numeric_limits<double>::infinity();
    return std::nullopt;
  }
  double value = 0;
  const auto done = std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::general);
  if (done.ptr != text.data() + text.size()) return std::nullopt;
  if (done.ec == std::errc::invalid_argument) return std::nullopt;
  if (done.ec == std::errc::result_out_of_range && is_large(text)) return std::nullopt;
  return sign * value;
}

void put_in_order(std::vector<sample>& samples) {
  const auto is_out_of_order = [](const sample& a, const sample& b) { return a.at >= b.at; };
  if (std::adjacent_find(samples.begin(), samples.end(), is_out_of_order) == samples.end()) return;
  std::vector<std::pair<sample, std::size_t>> places;
  places.reserve(samples.size());
  for (const auto& one : samples) places.emplace_back(one, places.size());
  std::sort(places.begin(), places.end(), [](const auto& a, const auto& b) {
    return a.first.at != b.first.at ? a.first.at < b.first.at : a.second < b.second;
  });
  samples.clear();
  for (const auto& [one, place] : places)
    if (samples.empty() || samples.back().at != one.at) samples.push_back(one);
}

}  // namespace hondana::series
