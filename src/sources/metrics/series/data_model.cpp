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

constexpr bool is_name_start(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
constexpr bool is_name_char(char c) noexcept { return is_name_start(c) || (c >= '0' && c <= '9'); }

}  // namespace

std::string_view identity::value_of(std::string_view label_name) const noexcept {
  if (label_name == "__name__") return name;
  const auto position = std::lower_bound(labels.begin(), labels.end(), label_name,
                                         [](const label& entry, std::string_view key) { return entry.first < key; });
  return position != labels.end() && position->first == label_name ? std::string_view(position->second) : std::string_view();
}

bool normalize(identity& identity) {
  if (!identity.name.empty() && !is_metric_name(identity.name)) return false;
  for (const auto& [name, value] : identity.labels)
    if (!is_label_name(name) || name == "__name__" || !is_utf8(value)) return false;
  const auto by_name = [](const label& a, const label& b) { return a.first < b.first; };
  if (!std::is_sorted(identity.labels.begin(), identity.labels.end(), by_name))
    std::sort(identity.labels.begin(), identity.labels.end(), by_name);
  if (std::adjacent_find(identity.labels.begin(), identity.labels.end(),
                         [](const label& a, const label& b) { return a.first == b.first; }) != identity.labels.end())
    return false;
  std::erase_if(identity.labels, [](const label& entry) { return entry.second.empty(); });
  return true;
}

bool is_metric_name(std::string_view text) noexcept {
  return !text.empty() && (is_name_start(text[0]) || text[0] == ':') &&
         std::all_of(text.begin(), text.end(), [](char c) { return is_name_char(c) || c == ':'; });
}

bool is_label_name(std::string_view text) noexcept {
  return !text.empty() && is_name_start(text[0]) && std::all_of(text.begin(), text.end(), is_name_char);
}

std::string to_text(const identity& identity) {
  std::string out;
  append_text(out, identity);
  return out;
}

void append_text(std::string& out, const identity& identity) {
  out += identity.name;
  if (identity.labels.empty()) {
    if (identity.name.empty()) out += "{}";
    return;
  }
  char separator = '{';
  for (const auto& [name, value] : identity.labels) {
    counters::append_label(out, separator, name, value);
    separator = ',';
  }
  out += '}';
}

namespace {

constexpr std::array<std::pair<kind, std::string_view>, 8> kind_names{{{kind::unknown, "unknown"},
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
bool remove_suffix(std::string_view& name, std::string_view suffix) noexcept {
  if (name.size() <= suffix.size() || !name.ends_with(suffix)) return false;
  name.remove_suffix(suffix.size());
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

std::string_view name_of(kind metric_kind) noexcept {
  const auto entry = std::find_if(kind_names.begin(), kind_names.end(),
                                  [metric_kind](const auto& candidate) { return candidate.first == metric_kind; });
  return entry == kind_names.end() ? "unknown" : entry->second;
}

kind parse_kind(std::string_view text) noexcept {
  const auto entry =
      std::find_if(kind_names.begin(), kind_names.end(), [text](const auto& candidate) { return candidate.second == text; });
  return entry == kind_names.end() ? kind::unknown : entry->first;
}

std::string_view unit_from_name(std::string_view metric_name) noexcept {
  if (!remove_suffix(metric_name, "_total")) remove_suffix(metric_name, "_sum");
  const auto underscore = metric_name.rfind('_');
  if (underscore == std::string_view::npos) return {};
  const auto unit = std::find(units.begin(), units.end(), metric_name.substr(underscore + 1));
  return unit == units.end() ? std::string_view() : *unit;
}

std::string_view family_of(std::string_view metric_name, kind metric_kind) noexcept {
  const auto strip_any = [&](std::initializer_list<std::string_view> suffixes) {
    for (const auto suffix : suffixes)
      if (remove_suffix(metric_name, suffix)) break;
    return metric_name;
  };
  switch (metric_kind) {
    case kind::counter:
      return strip_any({"_total", "_created"});
    case kind::histogram:
      return strip_any({"_bucket", "_sum", "_count", "_created"});
    case kind::summary:
      return strip_any({"_sum", "_count", "_created"});
    case kind::info:
      return strip_any({"_info"});
    case kind::unknown:
    case kind::gauge:
    case kind::stateset:
      break;
  }
  return metric_name;
}

kind kind_of_series(std::string_view metric_name, kind family_kind) noexcept {
  const bool is_distribution = family_kind == kind::histogram || family_kind == kind::summary;
  if (is_distribution && is_part_of_distribution(metric_name)) return kind::counter;
  if (is_distribution && metric_name.ends_with("_created")) return kind::gauge;
  if (family_kind == kind::unknown && (metric_name.ends_with("_total") || metric_name.ends_with("_bucket")))
    return kind::counter;
  return family_kind;
}

std::optional<double> parse_number(std::string_view text) noexcept {
  const bool is_negative = text.starts_with('-');
  if (is_negative || text.starts_with('+')) text.remove_prefix(1);
  if (text.empty()) return std::nullopt;
  const double sign = is_negative ? -1 : 1;
  if ((text[0] < '0' || text[0] > '9') && text[0] != '.') {
    if (ascii::equals_ignore_case(text, "nan")) return std::numeric_limits<double>::quiet_NaN();
    if (ascii::equals_ignore_case(text, "inf") || ascii::equals_ignore_case(text, "infinity"))
      return sign * std::numeric_limits<double>::infinity();
    return std::nullopt;
  }
  double value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::general);
  if (parsed.ptr != text.data() + text.size()) return std::nullopt;
  if (parsed.ec == std::errc::invalid_argument) return std::nullopt;
  if (parsed.ec == std::errc::result_out_of_range && is_large(text)) return std::nullopt;
  return sign * value;
}

void sort_samples(std::vector<sample>& samples) {
  const auto is_out_of_order = [](const sample& a, const sample& b) { return a.time >= b.time; };
  if (std::adjacent_find(samples.begin(), samples.end(), is_out_of_order) == samples.end()) return;
  std::vector<std::pair<sample, std::size_t>> indexed;
  indexed.reserve(samples.size());
  for (const auto& original : samples) indexed.emplace_back(original, indexed.size());
  std::sort(indexed.begin(), indexed.end(), [](const auto& a, const auto& b) {
    return a.first.time != b.first.time ? a.first.time < b.first.time : a.second < b.second;
  });
  samples.clear();
  for (const auto& [sample, index] : indexed)
    if (samples.empty() || samples.back().time != sample.time) samples.push_back(sample);
}

}  // namespace hondana::series
