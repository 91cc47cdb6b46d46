/// Reduces series to the pixel columns of a chart, and stacks them on top of each other.
#include "sources/metrics/charts/downsampling.hpp"

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
  // A run of one point is not a line.
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

namespace {

constexpr double not_there = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t no_column = std::numeric_limits<std::size_t>::max();

struct column_of_time {
  series::duration mean = 0;  ///< Since the start of the chart.
  series::duration count = 0;
};

class columns_of_time {
 public:
  columns_of_time(series::instant start, series::instant end, std::size_t count)
      : start_(start), end_(end), columns_(count), places_(count, no_column) {}

  [[nodiscard]] std::size_t column_of(series::instant at) const noexcept {
    const auto share = static_cast<double>(at - start_) / static_cast<double>(end_ - start_);
    return std::min(static_cast<std::size_t>(share * static_cast<double>(columns_.size())), columns_.size() - 1);
  }
  [[nodiscard]] bool holds(series::instant at) const noexcept { return at >= start_ && at <= end_; }
  void add(series::instant at) noexcept {
    auto& column = columns_[column_of(at)];
    // A running mean, since a sum of times could overflow.
    ++column.count;
    column.mean += (at - start_ - column.mean) / column.count;
  }
  /// The times of the columns that contain samples.
  [[nodiscard]] std::vector<series::instant> instants() {
    std::vector<series::instant> out;
    for (std::size_t at = 0; at < columns_.size(); ++at) {
      if (columns_[at].count == 0) continue;
      places_[at] = out.size();
      out.push_back(start_ + columns_[at].mean);
    }
    return out;
  }
  [[nodiscard]] std::size_t place_of(series::instant at) const noexcept { return places_[column_of(at)]; }

 private:
  series::instant start_, end_;
  std::vector<column_of_time> columns_;
  std::vector<std::size_t> places_;
};

/// The values of a line at the times of the stack, and where it is not joined to the previous time.
std::vector<double> values_of(const line& of, const columns_of_time& columns, const std::vector<series::instant>& at,
                              series::duration step, std::vector<bool>& begins) {
  std::vector<double> out(at.size(), not_there);
  begins.assign(at.size(), false);
  std::vector<double> counts(at.size(), 0);
  std::size_t last_place = no_column;
  series::instant last = std::numeric_limits<series::instant>::min();
  bool can_join = false;
  for (const auto& one : of.samples) {
    if (!columns.holds(one.at) || one.at <= last) continue;
    if (std::isnan(one.value)) {
      can_join = false;
      continue;
    }
    const std::size_t place = columns.place_of(one.at);
    const double value = tamed(one.value);
    if (!can_join || !is_joined(last, one.at, step)) {
      if (place != last_place) begins[place] = true;
    } else {
      for (std::size_t between = last_place + 1; between < place; ++between) {
        const double share =
            static_cast<double>(at[between] - at[last_place]) / static_cast<double>(at[place] - at[last_place]);
        out[between] = out[last_place] + (value - out[last_place]) * share;
      }
    }
    const double count = ++counts[place];
    out[place] = count == 1 ? value : out[place] + (value - out[place]) / count;
    last_place = place;
    last = one.at;
    can_join = true;
  }
  return out;
}

}  // namespace

stack stacked(const std::vector<const line*>& lines, series::instant start, series::instant end, series::duration step,
              std::size_t columns) {
  columns_of_time by(start, end, std::max<std::size_t>(columns, 1));
  for (const auto* const one : lines) {
    for (const auto& sample : one->samples) {
      if (by.holds(sample.at)) by.add(sample.at);
    }
  }
  stack out;
  out.at = by.instants();
  std::vector<double> up(out.at.size(), 0);
  std::vector<double> down(out.at.size(), 0);
  for (const auto* const one : lines) {
    layer next{std::vector<double>(out.at.size(), not_there), std::vector<double>(out.at.size(), not_there), {}};
    const auto values = values_of(*one, by, out.at, step, next.begins);
    for (std::size_t at = 0; at < values.size(); ++at) {
      if (std::isnan(values[at])) continue;
      auto& edge = values[at] < 0 ? down[at] : up[at];
      next.from[at] = edge;
      edge = tamed(edge + values[at]);
      next.to[at] = edge;
      if (std::isfinite(edge)) {
        out.low = std::min(out.low, edge);
        out.high = std::max(out.high, edge);
      }
    }
    out.layers.push_back(std::move(next));
  }
  return out;
}

}  // namespace hondana::charts
