/// Prefixes of units.
#pragma once

#include <string>
#include <string_view>

namespace hondana::charts {

/// How numbers of some size are written: divided by `divisor`, with `suffix` behind them.
struct unit_scale {
  double divisor = 1;
  std::string suffix{};   ///< With the space before it; empty: none.
  std::string caption{};  ///< A unit too long to stand behind each number; empty: it has none, or the suffix shows it.
};

/// For numbers as large as `magnitude` (finite, not negative).
[[nodiscard]] unit_scale unit_scale_for(std::string_view unit, double magnitude);

}  // namespace hondana::charts
