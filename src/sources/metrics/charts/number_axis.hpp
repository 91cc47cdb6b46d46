/// The value axis of a chart: tick marks, number formats and unit prefixes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hondana::charts {

/// How numbers of a certain size are written: divided by `divisor` and followed by `suffix`.
struct unit_scale {
  double divisor = 1;
  std::string suffix{};   ///< Includes the space before it. May be empty.
  std::string caption{};  ///< A unit too long to repeat after each number. Empty if there is none, or if the suffix shows it.
};

/// Returns the scale for numbers up to `magnitude`, which must be finite and not negative. `unit`: see `chart::unit`.
[[nodiscard]] unit_scale unit_scale_for(std::string_view unit, double magnitude);

/// Turns values beyond ±1e300 into infinity and values closer to zero than 1e-300 into zero, so that differences neither
/// overflow nor vanish.
[[nodiscard]] double clamp_extremes(double value) noexcept;

/// A tick mark with its label.
struct number_tick {
  double value = 0;
  std::string text{};
};

/// The value axis of a chart.
struct number_axis {
  double low = 0, high = 1;          ///< Values at its ends.
  std::vector<number_tick> ticks{};  ///< In increasing order, at least two.
  std::string caption{};             ///< The unit, if the ticks do not show it.
};

/// Makes an axis for values from `low` to `high`, with at most `max_ticks` + 1 ticks. In the unit that the ticks show, they are
/// 1, 2 or 5 times a power of ten apart. `low` and `high` must be finite results of `clamp_extremes`. `max_ticks`: less than 3
/// counts as 3.
/// The axis includes zero if the values come close to it. A relative variation below one millionth counts as constant.
[[nodiscard]] number_axis number_axis_for(double low, double high, std::string_view unit, unsigned max_ticks);

/// Formats a value with up to four significant digits and its unit: "1.5 MiB/s", "−12 °C", "95%", "3.2×10³⁰", "NaN", "+∞".
/// `has_caption`: also appends a unit that has no short symbol.
[[nodiscard]] std::string number_text(double value, std::string_view unit, bool has_caption = true);

}  // namespace hondana::charts
