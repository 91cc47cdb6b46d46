/// Lines on top of each other.
#pragma once

#include <cstddef>
#include <vector>

#include "sources/metrics/charts/chart.hpp"

namespace hondana::charts {

/// Of one line from where others end to where it ends, at the instants of the stack; both NaN: it is not there.
struct layer {
  std::vector<double> from{}, to{};
  std::vector<bool> begins{};  ///< Where it is not joined to what is before.
};

struct stack {
  std::vector<series::instant> at{};
  std::vector<layer> layers{};  ///< As the lines.
  double low = 0, high = 0;     ///< Of all that is finite.
};

/// At most `columns` instants, each the middle of those that fall in its column; a line's value there is the mean of its own,
/// or lies between its neighbours that are joined. What is negative grows downwards. Linear time.
[[nodiscard]] stack stacked(const std::vector<const line*>& lines, series::instant start, series::instant end,
                            series::duration step, std::size_t columns);

}  // namespace hondana::charts
