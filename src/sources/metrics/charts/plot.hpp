/// A chart on a canvas.
#pragma once

#include <string>
#include <vector>

#include "sources/metrics/charts/canvas.hpp"
#include "sources/metrics/charts/chart.hpp"
#include "sources/metrics/charts/typesetter.hpp"
#include "sources/metrics/charts/zone.hpp"

namespace hondana::charts {

/// What is drawn of a chart.
struct plot {
  const chart* of = nullptr;
  std::vector<const line*> lines{};  ///< At most `most_lines`.
  std::vector<std::string> names{};  ///< As they are shown.
  std::size_t left_out = 0;
  series::instant start = 0, end = 1;  ///< As in the chart, but never the same.
};

/// Chooses the lines: those that vary most where there are too many.
[[nodiscard]] plot plot_of(const chart& what);
/// Title, ends, and the least, greatest and last of each line, for who cannot see it.
[[nodiscard]] std::string description_of(const plot& what, const zone& in);
/// Draws all of it.
void draw_plot(const plot& what, canvas& on, const typesetter& letters, const zone& in, const size& how);

}  // namespace hondana::charts
