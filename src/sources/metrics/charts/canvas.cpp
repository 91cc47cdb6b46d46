/// What a chart is drawn on.
#include "sources/metrics/charts/canvas.hpp"

#include <array>

namespace hondana::charts {

const std::vector<double>& lengths_of(dash pattern) {
  static const std::array<std::vector<double>, 4> all{{{}, {7, 3}, {2, 2.5}, {8, 2.5, 2, 2.5}}};
  return all[static_cast<std::size_t>(pattern)];
}

}  // namespace hondana::charts
