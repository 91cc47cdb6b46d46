/// The value axis of a chart: tick marks, number formats and unit prefixes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hondana::charts {

/// How numbers of some size are written: divided by `divisor`, with `suffix` behind them.
struct unit_scale {
  double divisor = 1;
  std::string suffix{};   ///< With the space before it; empty: none.
  std::string caption{};  ///< A unit too long to stand behind each number; empty: it has none, or the suffix shows it.
};

/// For numbers as large as `magnitude` (finite, not negative).
[[nodiscard]] unit_scale unit_scale_for(std::string_view unit, double magnitude);

/// Beyond ±1e300 is infinite, and nearer to zero than 1e-300 is zero: no span of what is left overflows or vanishes.
[[nodiscard]] double tamed(double value) noexcept;

struct number_tick {
  double at = 0;
  std::string text{};
};

struct number_axis {
  double low = 0, high = 1;
  std::vector<number_tick> ticks{};  ///< Rising, two at least, one, two or five times a power of ten apart.
  std::string caption{};             ///< The unit, where ticks do not show it.
};

/// An axis that holds everything from `low` to `high`, both tamed and finite, with at most `most_ticks` (three at least) and
/// one. Zero is on it where the values come near it. What varies by less than a millionth is flat.
[[nodiscard]] number_axis number_axis_for(double low, double high, std::string_view unit, unsigned most_ticks);

/// Up to four significant figures with the unit: "1.5 MiB/s", "−12 °C", "95%", "3.2×10³⁰", "NaN", "+∞".
/// `has_caption`: with a unit that has no short symbol, too.
[[nodiscard]] std::string number_text(double value, std::string_view unit, bool has_caption = true);

}  // namespace hondana::charts
