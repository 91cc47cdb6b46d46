/// Samples as points of a picture, no more of them than can be seen.
#include "sources/metrics/charts/reduction.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "sources/metrics/charts/number_axis.hpp"

namespace hondana::charts {
namespace {

struct drawn_column {
  std::int64_t index = std::numeric_limits<std::int64_t>::min();
  series::sample least{}, greatest{};
  bool is_joined_to_last = false;
};

}  // namespace

double projection::x_of(series::instant at) const noexcept {
  return in.x + in.width * static_cast<double>(at - start) / static_cast<double>(end - start);
}

double projection::y_of(double value) const noexcept {
  const double share = std::clamp((value - low) / (high - low), 0.0, 1.0);
  return in.bottom() - in.height * share;
}

reduced_line reduced(const std::vector<series::sample>& samples, const projection& to, series::duration step,
                     double column_width) {
  reduced_line out;
  drawn_column column;
  const auto add = [&](const series::sample& one, bool begins) {
    const point at{to.x_of(one.at), to.y_of(one.value)};
    if (begins) {
      out.runs.begin(at);
    } else {
      out.runs.go(at);
    }
  };
  const auto flush = [&] {
    if (column.index == std::numeric_limits<std::int64_t>::min()) return;
    const bool is_rising = column.least.at <= column.greatest.at;
    add(is_rising ? column.least : column.greatest, !column.is_joined_to_last);
    if (column.least.at != column.greatest.at) add(is_rising ? column.greatest : column.least, false);
  };
  bool can_join = false;
  series::instant last = std::numeric_limits<series::instant>::min();
  for (const auto& one : samples) {
    if (one.at < to.start || one.at > to.end || one.at <= last) continue;
    if (std::isnan(one.value)) {
      can_join = false;
      continue;
    }
    const series::sample shown{one.at, tamed(one.value)};
    const auto index = static_cast<std::int64_t>((to.x_of(one.at) - to.in.x) / column_width);
    if (index != column.index) {
      flush();
      column = {index, shown, shown, can_join && is_joined(last, one.at, step)};
    } else {
      if (shown.value < column.least.value) column.least = shown;
      if (shown.value > column.greatest.value) column.greatest = shown;
    }
    can_join = true;
    last = one.at;
  }
  flush();
  // Runs of one point are no lines.
  path lines;
  for (std::size_t run = 0; run < out.runs.begins.size(); ++run) {
    const std::size_t begin = out.runs.begins[run];
    const std::size_t end = run + 1 < out.runs.begins.size() ? out.runs.begins[run + 1] : out.runs.points.size();
    if (end - begin == 1) {
      out.alone.push_back(out.runs.points[begin]);
      continue;
    }
    lines.begins.push_back(lines.points.size());
    lines.points.insert(lines.points.end(), out.runs.points.begin() + static_cast<std::ptrdiff_t>(begin),
                        out.runs.points.begin() + static_cast<std::ptrdiff_t>(end));
  }
  out.runs = std::move(lines);
  return out;
}

}  // namespace hondana::charts
