/// Prefixes of units.
#include "sources/metrics/charts/unit_scale.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/ascii/characters.hpp"
#include "sources/metrics/charts/shown_text.hpp"

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

// Non-breaking, so that number and unit stay together.
constexpr std::string_view space = "\u00a0";

/// By thousands; a number below ten thousand that counts something is written out.
unit_scale decimal(double magnitude, std::string_view symbol, bool is_counting) {
  int power = magnitude > 0 ? static_cast<int>(std::floor(std::log10(magnitude) / 3 + 1e-9)) : 0;
  if (is_counting && magnitude < 10'000) power = 0;
  if (is_counting) power = std::max(power, 0);
  if (power < -8 || power > 8) power = 0;  // there are no such prefixes
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
  // A share that changes by something a second is rare enough to be written as it is.
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

}  // namespace hondana::charts
