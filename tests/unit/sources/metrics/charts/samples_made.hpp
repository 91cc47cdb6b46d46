/// Charts that tests draw.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sources/metrics/charts/chart.hpp"

namespace hondana::charts {

// 2026-11-24T00:00:00Z, a Tuesday.
inline constexpr series::instant tuesday = 1'795'478'400'000;

inline line line_of(std::string name, const std::vector<double>& values, series::duration step = 60'000,
                    series::instant start = tuesday) {
  line out{std::move(name), {}};
  for (std::size_t at = 0; at < values.size(); ++at) {
    out.samples.push_back({start + static_cast<series::duration>(at) * step, values[at]});
  }
  return out;
}

inline chart chart_of(std::vector<line> lines) {
  chart out;
  out.title = "up";
  out.start = tuesday;
  out.end = tuesday + 3'600'000;
  out.step = 60'000;
  out.lines = std::move(lines);
  return out;
}

}  // namespace hondana::charts
