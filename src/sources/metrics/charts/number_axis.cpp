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

enum class prefixes { none, decimal, binary, time };

struct known_unit {
  std::string_view name;
  std::string_view symbol;
  prefixes how = prefixes::decimal;
  double factor = 1;
};

constexpr std::array<known_unit, 36> known_units{{
    {"bytes", "B", prefixes::binary},
    {"byte", "B", prefixes::binary},
    {"b", "B", prefixes::binary},
    {"bits", "bit"},
    {"seconds", "s", prefixes::time},
    {"second", "s", prefixes::time},
    {"s", "s", prefixes::time},
    {"milliseconds", "s", prefixes::time, 1e-3},
    {"ms", "s", prefixes::time, 1e-3},
    {"microseconds", "s", prefixes::time, 1e-6},
    {"us", "s", prefixes::time, 1e-6},
    {"nanoseconds", "s", prefixes::time, 1e-9},
    {"ns", "s", prefixes::time, 1e-9},
    {"minutes", "s", prefixes::time, 60},
    {"hours", "s", prefixes::time, 3600},
    {"days", "s", prefixes::time, 86400},
    {"ratio", "%", prefixes::none, 100},
    {"percentunit", "%", prefixes::none, 100},
    {"percent", "%", prefixes::none},
    {"%", "%", prefixes::none},
    {"celsius", "°C", prefixes::none},
    {"fahrenheit", "°F", prefixes::none},
    {"kelvin", "K", prefixes::none},
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
    {"rpm", "rpm", prefixes::none},
    {"decibels", "dB", prefixes::none},
    {"db", "dB", prefixes::none},
}};

constexpr std::array<std::string_view, 17> decimal_prefixes{"y", "z", "a", "f", "p", "n", "µ", "m", "",
                                                            "k", "M", "G", "T", "P", "E", "Z", "Y"};
constexpr std::array<std::string_view, 9> binary_prefixes{"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "Zi", "Yi"};

// A non-breaking space keeps number and unit together.
constexpr std::string_view space = "\u00a0";

/// Prefixes for powers of 1000. Counts below 10,000 are written without a prefix.
unit_scale decimal(double magnitude, std::string_view symbol, bool is_counting) {
  int power = magnitude > 0 ? static_cast<int>(std::floor(std::log10(magnitude) / 3 + 1e-9)) : 0;
  if (is_counting && magnitude < 10'000) power = 0;
  if (is_counting) power = std::max(power, 0);
  if (power < -8 || power > 8) power = 0;  // there are no prefixes for these powers
  const int which = power + 8;
  const auto prefix = decimal_prefixes[static_cast<std::size_t>(which)];
  unit_scale out{std::pow(10.0, 3 * power), {}, {}};
  if (!prefix.empty() || !symbol.empty()) out.suffix.append(space).append(prefix).append(symbol);
  return out;
}

unit_scale binary(double magnitude, std::string_view symbol) {
  int power = magnitude >= 1 ? static_cast<int>(std::floor(std::log2(magnitude) / 10)) : 0;
  if (power > 8) power = 0;
  unit_scale out{std::exp2(10 * power), std::string(space), {}};
  out.suffix.append(binary_prefixes[static_cast<std::size_t>(power)]).append(symbol);
  return out;
}

unit_scale time(double seconds) {
  if (seconds >= 172'800) return {86'400, std::string(space) + "d", {}};
  if (seconds >= 7200) return {3600, std::string(space) + "h", {}};
  if (seconds >= 120) return {60, std::string(space) + "min", {}};
  if (seconds >= 1 || seconds == 0) return {1, std::string(space) + "s", {}};
  return decimal(seconds, "s", false);
}

const known_unit* find_unit(std::string_view name) {
  const auto* const found = std::find_if(known_units.begin(), known_units.end(),
                                         [&](const known_unit& one) { return ascii::is_same(one.name, name); });
  return found == known_units.end() ? nullptr : found;
}

}  // namespace

unit_scale unit_scale_for(std::string_view unit, double magnitude) {
  std::string_view base = unit;
  bool is_rate = false;
  for (const std::string_view ending : {"/s", "_per_second", " per second", "/sec", "/second"}) {
    if (!ascii::ends_with(base, ending)) continue;
    base.remove_suffix(ending.size());
    is_rate = true;
    break;
  }
  const auto* const known = find_unit(base);
  // Rates of ratios and percentages are rare, so they get no special format.
  if (known == nullptr || (is_rate && known->how == prefixes::none)) {
    auto out = decimal(magnitude, "", true);
    out.caption = shown_text(unit, 40);
    return out;
  }
  magnitude *= known->factor;
  unit_scale out;
  if (known->how == prefixes::binary) {
    out = binary(magnitude, known->symbol);
  } else if (known->how == prefixes::none) {
    out.suffix = (known->symbol == "%" ? "" : std::string(space)) + std::string(known->symbol);
  } else if (known->how == prefixes::time && !is_rate) {
    out = time(magnitude);
  } else {
    out = decimal(magnitude, known->symbol, false);
  }
  if (is_rate) out.suffix += "/s";
  out.divisor /= known->factor;
  return out;
}

namespace {

/// Smallest range of an axis, relative to its greatest value. Smaller differences would need too many digits.
constexpr double least_share = 1e-6;

/// The smallest 1, 2 or 5 times a power of ten that is at least `span / most`.
double nice_step(double span, unsigned most) {
  const double least = span / most;
  const double power = std::pow(10.0, std::floor(std::log10(least)));
  for (const double times : {1.0, 2.0, 5.0}) {
    if (times * power >= least * (1 - 1e-9)) return times * power;
  }
  return 10 * power;
}

std::string with_true_minus(std::string_view figures) {
  return figures.starts_with('-') ? "−" + std::string(figures.substr(1)) : std::string(figures);
}

std::string fixed_text(double value, int decimals) {
  std::array<char, 64> text{};
  const auto [end, failed] = std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed, decimals);
  if (failed != std::errc()) return "…";
  const std::string_view figures(text.data(), end);
  if (figures.find_first_not_of("-0.") == std::string_view::npos) return "0";
  return with_true_minus(figures);
}

/// Such as "2.5×10⁻⁷", with the given number of decimals.
std::string scientific_text(double value, int decimals) {
  constexpr std::array<std::string_view, 10> raised{"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  if (value == 0) return "0";
  std::array<char, 64> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::scientific, decimals).ptr;
  const std::string_view all(text.data(), end);
  const auto letter = all.find('e');
  std::string_view power = all.substr(letter + 1);
  std::string out = with_true_minus(all.substr(0, letter)) + "×10";
  if (power.starts_with('-')) out += "⁻";
  power.remove_prefix(1);
  while (power.size() > 1 && power.front() == '0') power.remove_prefix(1);
  for (const char c : power) out += raised[static_cast<std::size_t>(c - '0')];
  return out;
}

/// The number of decimals in scientific notation needed to distinguish values one step apart.
int figures_of(double value, double step) {
  if (value == 0) return 0;
  const double apart = std::floor(std::log10(std::abs(value)) + 1e-9) - std::floor(std::log10(step) + 1e-9);
  return std::clamp(static_cast<int>(apart), 0, 7);
}

std::string without_spare_noughts(std::string figures) {
  if (figures.find('.') == std::string::npos || figures.find("×") != std::string::npos) return figures;
  while (figures.back() == '0') figures.pop_back();
  if (figures.back() == '.') figures.pop_back();
  return figures;
}

}  // namespace

double tamed(double value) noexcept {
  if (std::abs(value) > 1e300) return std::copysign(std::numeric_limits<double>::infinity(), value);
  return std::abs(value) < 1e-300 ? 0 : value;
}

number_axis number_axis_for(double low, double high, std::string_view unit, unsigned most_ticks) {
  const double greatest = std::max(std::abs(low), std::abs(high));
  if (greatest == 0) {
    low = 0;
    high = 1;
  } else if (high - low < greatest * least_share) {
    low = std::min(low, 0.0);
    high = std::max(high * 1.25, 0.0);
  } else if (low > 0 && high - low > low * 0.5) {
    low = 0;
  } else if (high < 0 && high - low > -high * 0.5) {
    high = 0;
  }
  const auto scale = unit_scale_for(unit, std::max(std::abs(low), std::abs(high)));
  const double from = low / scale.divisor;
  const double to = high / scale.divisor;
  double step = nice_step(to - from, std::max(most_ticks, 3U) - 1);
  auto first = static_cast<long long>(std::floor(from / step + 1e-9));
  auto last = static_cast<long long>(std::ceil(to / step - 1e-9));
  // Rounding outwards may add a tick at either end.
  while (last - first > std::max(most_ticks, 3U)) {
    step = nice_step(step * 1.5, 1);
    first = static_cast<long long>(std::floor(from / step + 1e-9));
    last = static_cast<long long>(std::ceil(to / step - 1e-9));
  }
  const double ends = std::max(std::abs(static_cast<double>(first)), std::abs(static_cast<double>(last))) * step;
  const int decimals = std::max(0, static_cast<int>(-std::floor(std::log10(step) + 1e-9)));
  const bool is_scientific = ends >= 1e7 || decimals > 5;
  number_axis out{
      static_cast<double>(first) * step * scale.divisor, static_cast<double>(last) * step * scale.divisor, {}, scale.caption};
  // If rounding outwards wasted more than a quarter of the chart, the axis ends near the data instead.
  const double wasted = (to - from) / 4;
  if (static_cast<double>(last) * step - to > wasted && last - first > 1) {
    out.high = (to + wasted / 8) * scale.divisor;
    --last;
  }
  if (from - static_cast<double>(first) * step > wasted && last - first > 1) {
    out.low = (from - wasted / 8) * scale.divisor;
    ++first;
  }
  for (auto at = first; at <= last; ++at) {
    const double value = static_cast<double>(at) * step;
    auto text = is_scientific ? scientific_text(value, figures_of(value, step)) : fixed_text(value, decimals);
    if (at != 0 || scale.suffix == "%") text += scale.suffix;
    out.ticks.push_back({value * scale.divisor, std::move(text)});
  }
  return out;
}

std::string number_text(double value, std::string_view unit, bool has_caption) {
  if (std::isnan(value)) return "NaN";
  const auto scale = unit_scale_for(unit, std::isinf(value) ? 0 : std::abs(value));
  const auto behind = scale.suffix + (scale.caption.empty() || !has_caption ? "" : "\u00a0" + scale.caption);
  if (std::isinf(value)) return (value > 0 ? "+∞" : "−∞") + behind;
  if (value == 0) return "0" + behind;
  const double shown = value / scale.divisor;
  const int power = static_cast<int>(std::floor(std::log10(std::abs(shown))));
  if (power >= 7 || power < -4) return scientific_text(shown, 2) + behind;
  return without_spare_noughts(fixed_text(shown, std::max(0, 3 - power))) + behind;
}

}  // namespace hondana::charts
