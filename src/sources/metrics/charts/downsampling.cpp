/// Reduces series to the pixel columns of a chart, and stacks them on top of each other.
#include "sources/metrics/charts/downsampling.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "sources/metrics/charts/number_axis.hpp"

namespace hondana::charts {
namespace {

struct pixel_column {
  std::int64_t index = std::numeric_limits<std::int64_t>::min();
  series::sample min{}, max{};
  bool is_joined = false;
};

}  // namespace

double projection::x_of(series::instant time) const noexcept {
  return area.x + area.width * static_cast<double>(time - start) / static_cast<double>(end - start);
}

double projection::y_of(double value) const noexcept {
  const double share = std::clamp((value - low) / (high - low), 0.0, 1.0);
  return area.bottom() - area.height * share;
}

reduced_line reduce_line(const std::vector<series::sample>& samples, const projection& projection, series::duration step,
                         double column_width) {
  reduced_line out;
  pixel_column column;
  const auto add = [&](const series::sample& sample, bool is_start) {
    const point position{projection.x_of(sample.time), projection.y_of(sample.value)};
    if (is_start) {
      out.runs.move_to(position);
    } else {
      out.runs.line_to(position);
    }
  };
  const auto flush = [&] {
    if (column.index == std::numeric_limits<std::int64_t>::min()) return;
    const bool is_rising = column.min.time <= column.max.time;
    add(is_rising ? column.min : column.max, !column.is_joined);
    if (column.min.time != column.max.time) add(is_rising ? column.max : column.min, false);
  };
  bool can_join = false;
  series::instant last_time = std::numeric_limits<series::instant>::min();
  for (const auto& sample : samples) {
    if (sample.time < projection.start || sample.time > projection.end || sample.time <= last_time) continue;
    if (std::isnan(sample.value)) {
      can_join = false;
      continue;
    }
    const series::sample clamped{sample.time, clamp_extremes(sample.value)};
    const auto index = static_cast<std::int64_t>((projection.x_of(sample.time) - projection.area.x) / column_width);
    if (index != column.index) {
      flush();
      column = {index, clamped, clamped, can_join && is_joined(last_time, sample.time, step)};
    } else {
      if (clamped.value < column.min.value) column.min = clamped;
      if (clamped.value > column.max.value) column.max = clamped;
    }
    can_join = true;
    last_time = sample.time;
  }
  flush();
  // A run of one point is not a line.
  path lines;
  for (std::size_t run = 0; run < out.runs.starts.size(); ++run) {
    const std::size_t begin = out.runs.starts[run];
    const std::size_t end = run + 1 < out.runs.starts.size() ? out.runs.starts[run + 1] : out.runs.points.size();
    if (end - begin == 1) {
      out.isolated.push_back(out.runs.points[begin]);
      continue;
    }
    lines.starts.push_back(lines.points.size());
    lines.points.insert(lines.points.end(), out.runs.points.begin() + static_cast<std::ptrdiff_t>(begin),
                        out.runs.points.begin() + static_cast<std::ptrdiff_t>(end));
  }
  out.runs = std::move(lines);
  return out;
}

namespace {

constexpr double missing_value = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t no_column = std::numeric_limits<std::size_t>::max();

struct time_column {
  series::duration mean = 0;  ///< Since the start of the chart.
  series::duration count = 0;
};

class time_columns {
 public:
  time_columns(series::instant start, series::instant end, std::size_t count)
      : start_(start), end_(end), columns_(count), indexes_(count, no_column) {}

  [[nodiscard]] std::size_t column_of(series::instant time) const noexcept {
    const auto share = static_cast<double>(time - start_) / static_cast<double>(end_ - start_);
    return std::min(static_cast<std::size_t>(share * static_cast<double>(columns_.size())), columns_.size() - 1);
  }
  [[nodiscard]] bool contains(series::instant time) const noexcept { return time >= start_ && time <= end_; }
  void add(series::instant time) noexcept {
    auto& column = columns_[column_of(time)];
    // A running mean, since a sum of times could overflow.
    ++column.count;
    column.mean += (time - start_ - column.mean) / column.count;
  }
  /// The times of the columns that contain samples.
  [[nodiscard]] std::vector<series::instant> times() {
    std::vector<series::instant> out;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (columns_[i].count == 0) continue;
      indexes_[i] = out.size();
      out.push_back(start_ + columns_[i].mean);
    }
    return out;
  }
  [[nodiscard]] std::size_t index_of(series::instant time) const noexcept { return indexes_[column_of(time)]; }

 private:
  series::instant start_, end_;
  std::vector<time_column> columns_;
  std::vector<std::size_t> indexes_;
};

/// The values of a line at the times of the stack, and where it is not joined to the previous time.
std::vector<double> values_of(const line& line, const time_columns& columns, const std::vector<series::instant>& times,
                              series::duration step, std::vector<bool>& starts) {
  std::vector<double> out(times.size(), missing_value);
  starts.assign(times.size(), false);
  std::vector<double> counts(times.size(), 0);
  std::size_t last_index = no_column;
  series::instant last_time = std::numeric_limits<series::instant>::min();
  bool can_join = false;
  for (const auto& sample : line.samples) {
    if (!columns.contains(sample.time) || sample.time <= last_time) continue;
    if (std::isnan(sample.value)) {
      can_join = false;
      continue;
    }
    const std::size_t index = columns.index_of(sample.time);
    const double value = clamp_extremes(sample.value);
    if (!can_join || !is_joined(last_time, sample.time, step)) {
      if (index != last_index) starts[index] = true;
    } else {
      for (std::size_t i = last_index + 1; i < index; ++i) {
        const double share =
            static_cast<double>(times[i] - times[last_index]) / static_cast<double>(times[index] - times[last_index]);
        out[i] = out[last_index] + (value - out[last_index]) * share;
      }
    }
    const double count = ++counts[index];
    out[index] = count == 1 ? value : out[index] + (value - out[index]) / count;
    last_index = index;
    last_time = sample.time;
    can_join = true;
  }
  return out;
}

}  // namespace

stack stack_lines(const std::vector<const line*>& lines, series::instant start, series::instant end, series::duration step,
                  std::size_t columns) {
  time_columns grid(start, end, std::max<std::size_t>(columns, 1));
  for (const auto* const line : lines) {
    for (const auto& sample : line->samples) {
      if (grid.contains(sample.time)) grid.add(sample.time);
    }
  }
  stack out;
  out.times = grid.times();
  std::vector<double> positive(out.times.size(), 0);
  std::vector<double> negative(out.times.size(), 0);
  for (const auto* const stacked_line : lines) {
    layer added{std::vector<double>(out.times.size(), missing_value), std::vector<double>(out.times.size(), missing_value), {}};
    const auto values = values_of(*stacked_line, grid, out.times, step, added.starts);
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (std::isnan(values[i])) continue;
      auto& edge = values[i] < 0 ? negative[i] : positive[i];
      added.lower[i] = edge;
      edge = clamp_extremes(edge + values[i]);
      added.upper[i] = edge;
      if (std::isfinite(edge)) {
        out.low = std::min(out.low, edge);
        out.high = std::max(out.high, edge);
      }
    }
    out.layers.push_back(std::move(added));
  }
  return out;
}

}  // namespace hondana::charts
