/// The value axis of a chart: tick marks, number formats and unit prefixes.
#include "sources/metrics/charts/number_axis.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <limits>

#include "base/ascii/ascii.hpp"
#include "sources/metrics/charts/display_text.hpp"

namespace hondana::charts {
namespace {

enum class prefix_style { none, decimal, binary, time };

struct known_unit {
  std::string_view name;
  std::string_view symbol;
  prefix_style prefixes = prefix_style::decimal;
  double factor = 1;
};

constexpr std::array<known_unit, 36> known_units{{
    {"bytes", "B", prefix_style::binary},
    {"byte", "B", prefix_style::binary},
    {"b", "B", prefix_style::binary},
    {"bits", "bit"},
    {"seconds", "s", prefix_style::time},
    {"second", "s", prefix_style::time},
    {"s", "s", prefix_style::time},
    {"milliseconds", "s", prefix_style::time, 1e-3},
    {"ms", "s", prefix_style::time, 1e-3},
    {"microseconds", "s", prefix_style::time, 1e-6},
    {"us", "s", prefix_style::time, 1e-6},
    {"nanoseconds", "s", prefix_style::time, 1e-9},
    {"ns", "s", prefix_style::time, 1e-9},
    {"minutes", "s", prefix_style::time, 60},
    {"hours", "s", prefix_style::time, 3600},
    {"days", "s", prefix_style::time, 86400},
    {"ratio", "%", prefix_style::none, 100},
    {"percentunit", "%", prefix_style::none, 100},
    {"percent", "%", prefix_style::none},
    {"%", "%", prefix_style::none},
    {"celsius", "°C", prefix_style::none},
    {"fahrenheit", "°F", prefix_style::none},
    {"kelvin", "K", prefix_style::none},
    {"volts", "V"},
    {"amperes", "A"},
    {"joules", "J"},
    {"watts", "W"},
    {"meters", "m"},
    {"grams", "g"},
    {"hertz", "Hz"},
    {"pascals", "Pa"},
    {"newtons", "N"},
    {"lumens", "lm"},
    {"rpm", "rpm", prefix_style::none},
    {"decibels", "dB", prefix_style::none},
    {"db", "dB", prefix_style::none},
}};

constexpr std::array<std::string_view, 17> decimal_prefixes{"y", "z", "a", "f", "p", "n", "µ", "m", "",
                                                            "k", "M", "G", "T", "P", "E", "Z", "Y"};
constexpr std::array<std::string_view, 9> binary_prefixes{"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "Zi", "Yi"};

// A non-breaking space keeps number and unit together.
constexpr std::string_view space = "\u00a0";

/// Prefixes for powers of 1000. Counts below 10,000 are written without a prefix.
unit_scale decimal_scale(double magnitude, std::string_view symbol, bool is_counting) {
  int power = magnitude > 0 ? static_cast<int>(std::floor(std::log10(magnitude) / 3 + 1e-9)) : 0;
  if (is_counting && magnitude < 10'000) power = 0;
  if (is_counting) power = std::max(power, 0);
  if (power < -8 || power > 8) power = 0;  // there are no prefixes for these powers
  const int index = power + 8;
  const auto prefix = decimal_prefixes[static_cast<std::size_t>(index)];
  unit_scale out{std::pow(10.0, 3 * power), {}, {}};
  if (!prefix.empty() || !symbol.empty()) out.suffix.append(space).append(prefix).append(symbol);
  return out;
}

unit_scale binary_scale(double magnitude, std::string_view symbol) {
  int power = magnitude >= 1 ? static_cast<int>(std::floor(std::log2(magnitude) / 10)) : 0;
  if (power > 8) power = 0;
  unit_scale out{std::exp2(10 * power), std::string(space), {}};
  out.suffix.append(binary_prefixes[static_cast<std::size_t>(power)]).append(symbol);
  return out;
}

unit_scale time_scale(double seconds) {
  if (seconds >= 172'800) return {86'400, std::string(space) + "d", {}};
  if (seconds >= 7200) return {3600, std::string(space) + "h", {}};
  if (seconds >= 120) return {60, std::string(space) + "min", {}};
  if (seconds >= 1 || seconds == 0) return {1, std::string(space) + "s", {}};
  return decimal_scale(seconds, "s", false);
}

const known_unit* find_unit(std::string_view name) {
  const auto* const match = std::find_if(known_units.begin(), known_units.end(),
                                         [&](const known_unit& unit) { return ascii::equals_ignore_case(unit.name, name); });
  return match == known_units.end() ? nullptr : match;
}

}  // namespace

unit_scale unit_scale_for(std::string_view unit, double magnitude) {
  std::string_view base = unit;
  bool is_rate = false;
  for (const std::string_view suffix : {"/s", "_per_second", " per second", "/sec", "/second"}) {
    if (!ascii::ends_with_ignore_case(base, suffix)) continue;
    base.remove_suffix(suffix.size());
    is_rate = true;
    break;
  }
  const auto* const known = find_unit(base);
  // Rates of ratios and percentages are rare, so they get no special format.
  if (known == nullptr || (is_rate && known->prefixes == prefix_style::none)) {
    auto out = decimal_scale(magnitude, "", true);
    out.caption = display_text(unit, 40);
    return out;
  }
  magnitude *= known->factor;
  unit_scale out;
  if (known->prefixes == prefix_style::binary) {
    out = binary_scale(magnitude, known->symbol);
  } else if (known->prefixes == prefix_style::none) {
    out.suffix = (known->symbol == "%" ? "" : std::string(space)) + std::string(known->symbol);
  } else if (known->prefixes == prefix_style::time && !is_rate) {
    out = time_scale(magnitude);
  } else {
    out = decimal_scale(magnitude, known->symbol, false);
  }
  if (is_rate) out.suffix += "/s";
  out.divisor /= known->factor;
  return out;
}

namespace {

/// Smallest range of an axis, relative to its greatest value. Smaller differences would need too many digits.
constexpr double min_relative_range = 1e-6;

/// The smallest 1, 2 or 5 times a power of ten that is at least `span / max_steps`.
double nice_step(double span, unsigned max_steps) {
  const double min_step = span / max_steps;
  const double power = std::pow(10.0, std::floor(std::log10(min_step)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= min_step * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

std::string with_minus_sign(std::string_view number) {
  return number.starts_with('-') ? "−" + std::string(number.substr(1)) : std::string(number);
}

std::string fixed_text(double value, int decimals) {
  std::array<char, 64> text{};
  const auto [end, failed] = std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed, decimals);
  if (failed != std::errc()) return "…";
  const std::string_view number(text.data(), end);
  if (number.find_first_not_of("-0.") == std::string_view::npos) return "0";
  return with_minus_sign(number);
}

/// Such as "2.5×10⁻⁷", with the given number of decimals.
std::string scientific_text(double value, int decimals) {
  constexpr std::array<std::string_view, 10> superscripts{"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  if (value == 0) return "0";
  std::array<char, 64> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::scientific, decimals).ptr;
  const std::string_view number(text.data(), end);
  const auto exponent_mark = number.find('e');
  std::string_view power = number.substr(exponent_mark + 1);
  std::string out = with_minus_sign(number.substr(0, exponent_mark)) + "×10";
  if (power.starts_with('-')) out += "⁻";
  power.remove_prefix(1);
  while (power.size() > 1 && power.front() == '0') power.remove_prefix(1);
  for (const char c : power) out += superscripts[static_cast<std::size_t>(c - '0')];
  return out;
}

/// The number of decimals in scientific notation needed to distinguish values one step apart.
int decimals_needed(double value, double step) {
  if (value == 0) return 0;
  const double digits = std::floor(std::log10(std::abs(value)) + 1e-9) - std::floor(std::log10(step) + 1e-9);
  return std::clamp(static_cast<int>(digits), 0, 7);
}

std::string trim_trailing_zeros(std::string number) {
  if (number.find('.') == std::string::npos || number.find("×") != std::string::npos) return number;
  while (number.back() == '0') number.pop_back();
  if (number.back() == '.') number.pop_back();
  return number;
}

}  // namespace

double clamp_extremes(double value) noexcept {
  if (std::abs(value) > 1e300) return std::copysign(std::numeric_limits<double>::infinity(), value);
  return std::abs(value) < 1e-300 ? 0 : value;
}

number_axis number_axis_for(double low, double high, std::string_view unit, unsigned max_ticks) {
  const double magnitude = std::max(std::abs(low), std::abs(high));
  if (magnitude == 0) {
    low = 0;
    high = 1;
  } else if (high - low < magnitude * min_relative_range) {
    low = std::min(low, 0.0);
    high = std::max(high * 1.25, 0.0);
  } else if (low > 0 && high - low > low * 0.5) {
    low = 0;
  } else if (high < 0 && high - low > -high * 0.5) {
    high = 0;
  }
  const auto scale = unit_scale_for(unit, std::max(std::abs(low), std::abs(high)));
  const double scaled_low = low / scale.divisor;
  const double scaled_high = high / scale.divisor;
  double step = nice_step(scaled_high - scaled_low, std::max(max_ticks, 3U) - 1);
  auto first = static_cast<long long>(std::floor(scaled_low / step + 1e-9));
  auto last = static_cast<long long>(std::ceil(scaled_high / step - 1e-9));
  // Rounding outwards may add a tick at either end.
  while (last - first > std::max(max_ticks, 3U)) {
    step = nice_step(step * 1.5, 1);
    first = static_cast<long long>(std::floor(scaled_low / step + 1e-9));
    last = static_cast<long long>(std::ceil(scaled_high / step - 1e-9));
  }
  const double max_end = std::max(std::abs(static_cast<double>(first)), std::abs(static_cast<double>(last))) * step;
  const int decimals = std::max(0, static_cast<int>(-std::floor(std::log10(step) + 1e-9)));
  const bool is_scientific = max_end >= 1e7 || decimals > 5;
  number_axis out{
      static_cast<double>(first) * step * scale.divisor, static_cast<double>(last) * step * scale.divisor, {}, scale.caption};
  // If rounding outwards wasted more than a quarter of the chart, the axis ends near the data instead.
  const double max_waste = (scaled_high - scaled_low) / 4;
  if (static_cast<double>(last) * step - scaled_high > max_waste && last - first > 1) {
    out.high = (scaled_high + max_waste / 8) * scale.divisor;
    --last;
  }
  if (scaled_low - static_cast<double>(first) * step > max_waste && last - first > 1) {
    out.low = (scaled_low - max_waste / 8) * scale.divisor;
    ++first;
  }
  for (auto multiple = first; multiple <= last; ++multiple) {
    const double value = static_cast<double>(multiple) * step;
    auto text = is_scientific ? scientific_text(value, decimals_needed(value, step)) : fixed_text(value, decimals);
    if (multiple != 0 || scale.suffix == "%") text += scale.suffix;
    out.ticks.push_back({value * scale.divisor, std::move(text)});
  }
  return out;
}

std::string number_text(double value, std::string_view unit, bool has_caption) {
  if (std::isnan(value)) return "NaN";
  const auto scale = unit_scale_for(unit, std::isinf(value) ? 0 : std::abs(value));
  const auto suffix = scale.suffix + (scale.caption.empty() || !has_caption ? "" : "\u00a0" + scale.caption);
  if (std::isinf(value)) return (value > 0 ? "+∞" : "−∞") + suffix;
  if (value == 0) return "0" + suffix;
  const double scaled = value / scale.divisor;
  const int power = static_cast<int>(std::floor(std::log10(std::abs(scaled))));
  if (power >= 7 || power < -4) return scientific_text(scaled, 2) + suffix;
  return trim_trailing_zeros(fixed_text(scaled, std::max(0, 3 - power))) + suffix;
}

}  // namespace hondana::charts
