/// Draws time series as an SVG or PNG chart with axes, legend, thresholds and gaps.
#include "sources/metrics/charts/chart.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sources/metrics/charts/canvas.hpp"
#include "sources/metrics/charts/display_text.hpp"
#include "sources/metrics/charts/downsampling.hpp"
#include "sources/metrics/charts/legend.hpp"
#include "sources/metrics/charts/number_axis.hpp"
#include "sources/metrics/charts/svg_png_canvas.hpp"
#include "sources/metrics/charts/time_axis.hpp"
#include "sources/metrics/charts/typesetter.hpp"

namespace hondana::charts {

/// The part of a chart that is drawn.
struct plot {
  const chart* source = nullptr;
  std::vector<const line*> lines{};  ///< At most `max_lines`.
  std::vector<std::string> names{};  ///< Names as shown in the legend.
  std::size_t omitted_lines = 0;
  series::instant start = 0, end = 1;  ///< As in the chart, but `start` is always before `end`.
};

/// Chooses the lines to draw: if there are too many, those that vary most.
[[nodiscard]] plot make_plot(const chart& chart);
/// A description for readers who cannot see the chart: title, start and end, and the least, greatest and last value of each
/// line.
[[nodiscard]] std::string describe(const plot& plot, const zone& zone);
/// Draws the whole chart.
void draw_plot(const plot& plot, canvas& canvas, const typesetter& typesetter, const zone& zone, const image_size& size);

/// The lines, areas and thresholds of a plot, which must outlive this object.
class marks {
 public:
  /// `columns`: approximate number of pixel columns.
  marks(const plot& plot, std::size_t columns);

  /// The finite range of all drawn values, extended to thresholds that are close to it.
  [[nodiscard]] double low() const noexcept { return low_; }
  [[nodiscard]] double high() const noexcept { return high_; }
  /// Whether the value axis has anything to measure.
  [[nodiscard]] bool has_numbers() const noexcept { return has_numbers_; }
  [[nodiscard]] bool is_empty() const noexcept { return is_empty_; }

  void draw(canvas& canvas, const projection& projection, bool is_dark) const;
  /// A threshold beyond the axis is marked at its edge.
  void draw_thresholds(canvas& canvas, const typesetter& typesetter, const projection& projection, bool is_dark) const;

 private:
  void draw_line(canvas& canvas, const projection& projection, std::size_t line, bool is_dark) const;
  void draw_layer(canvas& canvas, const projection& projection, std::size_t line, bool is_dark) const;

  const plot* plot_;
  stack stack_{};
  std::size_t columns_;
  double low_ = 0, high_ = 0;
  bool is_empty_ = true;
  bool has_numbers_ = false;
};

namespace {

constexpr font threshold_font{11.5, true};
constexpr double dot_radius = 2.2;
/// A threshold may make the axis this many times longer than the data need.
constexpr double max_threshold_factor = 1.5;

/// The index after the run of a layer that starts at `begin`.
std::size_t run_end(const layer& layer, std::size_t begin) {
  std::size_t end = begin;
  while (end < layer.upper.size() && !std::isnan(layer.upper[end]) && (end == begin || !layer.starts[end])) ++end;
  return end;
}

bool overlaps(const box& a, const box& b) noexcept {
  return a.x < b.right() && b.x < a.right() && a.y < b.bottom() && b.y < a.bottom();
}

/// Whether a line crosses the box, or comes close to it.
bool crosses(const box& box, const std::vector<const line*>& lines, const projection& projection) {
  for (const auto* const line : lines) {
    bool has_previous = false;
    point previous;
    for (const auto& sample : line->samples) {
      if (sample.time < projection.start || sample.time > projection.end || std::isnan(sample.value)) continue;
      const point current{projection.x_of(sample.time), projection.y_of(sample.value)};
      if (current.x >= box.x) {
        const auto& start = has_previous ? previous : current;
        const auto [top, bottom] = std::minmax(start.y, current.y);
        if (start.x <= box.right() && top <= box.bottom() && bottom >= box.y) return true;
      }
      if (current.x > box.right()) break;
      previous = current;
      has_previous = true;
    }
  }
  return false;
}

}  // namespace

marks::marks(const plot& plot, std::size_t columns) : plot_(&plot), columns_(columns) {
  // Each line takes up to two points per column: least and greatest value, or both edges of an area.
  const std::size_t lines = std::max<std::size_t>(plot.lines.size(), 1);
  columns_ = std::min(columns_, std::max<std::size_t>(max_points / (2 * lines), 40));
  low_ = std::numeric_limits<double>::infinity();
  high_ = -low_;
  for (const auto* const line : plot.lines) {
    for (const auto& sample : line->samples) {
      if (sample.time < plot.start || sample.time > plot.end || std::isnan(sample.value)) continue;
      is_empty_ = false;
      const double value = clamp_extremes(sample.value);
      if (!std::isfinite(value)) continue;
      has_numbers_ = true;
      low_ = std::min(low_, value);
      high_ = std::max(high_, value);
    }
  }
  if (plot.source->is_stacked) {
    stack_ = stack_lines(plot.lines, plot.start, plot.end, plot.source->step, columns_);
    low_ = stack_.low;
    high_ = stack_.high;
  }
  const bool has_values = high_ >= low_;
  if (!has_values) low_ = high_ = 0;
  // Halved, since the difference of two large values could overflow to infinity.
  const double max_distance =
      std::max({high_ / 2 - low_ / 2, std::abs(high_) / 4, std::abs(low_) / 4}) * 2 * max_threshold_factor;
  const double data_low = low_;
  const double data_high = high_;
  for (const auto& threshold : plot.source->thresholds) {
    const double level = clamp_extremes(threshold.value);
    if (!std::isfinite(level)) continue;
    has_numbers_ = true;
    if (has_values && (level > data_high + max_distance || level < data_low - max_distance)) continue;
    low_ = has_values || low_ != high_ ? std::min(low_, level) : std::min(0.0, level);
    high_ = std::max(high_, level);
  }
}

void marks::draw(canvas& canvas, const projection& projection, bool is_dark) const {
  for (std::size_t line = 0; line < plot_->lines.size(); ++line) {
    canvas.begin_group(plot_->names[line]);
    if (plot_->source->is_stacked) {
      draw_layer(canvas, projection, line, is_dark);
    } else {
      draw_line(canvas, projection, line, is_dark);
    }
    canvas.end_group();
  }
}

void marks::draw_line(canvas& canvas, const projection& projection, std::size_t line, bool is_dark) const {
  const auto visible = reduce_line(plot_->lines[line]->samples, projection, plot_->source->step,
                                   projection.area.width / static_cast<double>(columns_));
  const auto pen = line_pen(line, is_dark);
  // A single line gets a tinted area below it.
  if (plot_->lines.size() == 1 && projection.low == 0) {
    path area;
    for (std::size_t run = 0; run < visible.runs.starts.size(); ++run) {
      const std::size_t begin = visible.runs.starts[run];
      const std::size_t end = run + 1 < visible.runs.starts.size() ? visible.runs.starts[run + 1] : visible.runs.points.size();
      area.move_to({visible.runs.points[begin].x, projection.area.bottom()});
      for (std::size_t i = begin; i < end; ++i) area.line_to(visible.runs.points[i]);
      area.line_to({visible.runs.points[end - 1].x, projection.area.bottom()});
    }
    canvas.fill(area, pen.color.with_alpha(0.12));
  }
  canvas.stroke(visible.runs, pen);
  canvas.dots(visible.isolated, dot_radius, pen.color);
}

void marks::draw_layer(canvas& canvas, const projection& projection, std::size_t line, bool is_dark) const {
  const auto& layer = stack_.layers[line];
  path area;
  path edge;
  std::size_t run_begin = 0;
  while (run_begin < layer.upper.size()) {
    const std::size_t end = run_end(layer, run_begin);
    if (end == run_begin) {
      ++run_begin;
      continue;
    }
    // A single point is drawn as a bar.
    const double spread = end - run_begin == 1 ? dot_radius : 0;
    const auto x = [&](std::size_t index) { return projection.x_of(stack_.times[index]); };
    for (std::size_t i = run_begin; i < end; ++i) {
      const point corner{x(i) - spread, projection.y_of(layer.upper[i])};
      if (i == run_begin) {
        area.move_to(corner);
        edge.move_to(corner);
      } else {
        area.line_to(corner);
        edge.line_to(corner);
      }
    }
    if (spread > 0) {
      area.line_to({x(run_begin) + spread, projection.y_of(layer.upper[run_begin])});
      edge.line_to({x(run_begin) + spread, projection.y_of(layer.upper[run_begin])});
    }
    for (std::size_t j = end; j-- > run_begin;) area.line_to({x(j) + spread, projection.y_of(layer.lower[j])});
    if (spread > 0) area.line_to({x(run_begin) - spread, projection.y_of(layer.lower[run_begin])});
    run_begin = end;
  }
  auto pen = line_pen(line, is_dark);
  pen.width = 1;
  canvas.fill(area, area_color(line, is_dark));
  canvas.stroke(edge, pen);
}

void marks::draw_thresholds(canvas& canvas, const typesetter& typesetter, const projection& projection, bool is_dark) const {
  const auto& colors = palette_of(is_dark);
  std::vector<box> occupied;  // by labels
  std::size_t drawn = 0;
  for (const auto& threshold : plot_->source->thresholds) {
    if (std::isnan(threshold.value)) continue;
    if (drawn++ == max_thresholds) break;
    const double value = clamp_extremes(threshold.value);
    const bool is_above = value > projection.high;
    const bool is_below = value < projection.low;
    const double y = projection.y_of(value);
    if (!is_above && !is_below) {
      path segment;
      segment.move_to({projection.area.x, y});
      segment.line_to({projection.area.right(), y});
      canvas.stroke(segment, {colors.limit, 1.3, dash::long_dashes});
    }
    const auto number = number_text(threshold.value, plot_->source->unit, false);
    auto text = display_text(threshold.name);
    if (text.empty()) {
      text = number;
    } else {
      text += " " + number;
    }
    if (is_above) text = "↑ " + text;
    if (is_below) text = "↓ " + text;
    const double max_width = projection.area.width * 0.6;
    text = typesetter.fit(text, threshold_font, max_width);
    const double width = typesetter.width_of(text, threshold_font);
    // The label goes above its line on the left. Other positions follow if it does not fit, or overlaps a label or data.
    const double left = projection.area.x + 6;
    const double right = std::max(left, projection.area.right() - 6 - width);
    const std::array<point, 8> candidates{{{left, y - 5},
                                           {left, y + 14},
                                           {right, y - 5},
                                           {right, y + 14},
                                           {left, y - 19},
                                           {left, y + 28},
                                           {right, y - 19},
                                           {right, y + 28}}};
    const auto box_at = [&](point base) { return box{base.x, base.y - 11, width, 13}; };
    const auto is_free = [&](point base) {
      const auto label_box = box_at(base);
      return label_box.y >= projection.area.y && base.y <= projection.area.bottom() - 2 &&
             std::none_of(occupied.begin(), occupied.end(), [&](const box& other) { return overlaps(label_box, other); });
    };
    const auto* choice = std::find_if(candidates.begin(), candidates.end(), [&](point base) {
      return is_free(base) && (plot_->source->is_stacked || !crosses(box_at(base), plot_->lines, projection));
    });
    if (choice == candidates.end()) choice = std::find_if(candidates.begin(), candidates.end(), is_free);
    point base = choice == candidates.end() ? candidates.front() : *choice;
    base.y = std::clamp(base.y, projection.area.y + 11, projection.area.bottom() - 3);
    occupied.push_back(box_at(base));
    canvas.write(base, text, {threshold_font, colors.limit, anchor::start, width, max_width, colors.background});
  }
}

namespace {

constexpr font title_font{15, true};
constexpr font subtitle_font{12, false};
constexpr font tick_font{11.5, false};
constexpr double margin = 14;

/// The difference of greatest and least value. -1 if no value is finite.
double value_range(const line& line, series::instant start, series::instant end) {
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (const auto& sample : line.samples) {
    const double value = clamp_extremes(sample.value);
    if (sample.time < start || sample.time > end || !std::isfinite(value)) continue;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  return high < low ? -1 : high - low;
}

/// Decides which tick labels of a row have enough space.
class label_row {
 public:
  explicit label_row(double gap) : gap_(gap) {}
  [[nodiscard]] bool reserve(double left, double right) {
    if (left < free_from_) return false;
    free_from_ = right + gap_;
    return true;
  }

 private:
  double gap_;
  double free_from_ = -std::numeric_limits<double>::infinity();
};

/// Draws title and subtitle. Returns the y coordinate below them.
double draw_title(const plot& plot, canvas& canvas, const typesetter& typesetter, const image_size& size) {
  const auto& colors = palette_of(size.is_dark);
  const double max_width = size.width - 2 * margin;
  double y = 8;
  const std::size_t max_title_lines = size.height >= 300 ? 2 : 1;
  for (const auto& row : typesetter.wrap(display_text(plot.source->title), title_font, max_width, max_title_lines)) {
    y += 18;
    canvas.write({margin, y - 3}, row,
                 {title_font, colors.text, anchor::start, typesetter.width_of(row, title_font), max_width, {0, 0, 0, 0}});
  }
  if (!plot.source->subtitle.empty() && size.height >= 240) {
    const auto row = typesetter.fit(display_text(plot.source->subtitle), subtitle_font, max_width);
    y += 16;
    canvas.write(
        {margin, y - 2}, row,
        {subtitle_font, colors.faint_text, anchor::start, typesetter.width_of(row, subtitle_font), max_width, {0, 0, 0, 0}});
  }
  return y + 6;
}

void draw_time_axis(const plot& plot, canvas& canvas, const typesetter& typesetter, const zone& zone,
                    const projection& projection, bool is_dark) {
  const auto& colors = palette_of(is_dark);
  const double label_width = typesetter.width_of("00:00:00", tick_font);
  const auto max_ticks = static_cast<unsigned>(std::max(2.0, projection.area.width / (label_width + 16)));
  label_row clock_row(6);
  label_row date_row(8);
  const auto ticks = time_ticks(plot.start, plot.end, zone, max_ticks);
  // The first date is left out if another day begins soon after it.
  const bool has_early_change =
      ticks.size() > 1 && std::any_of(ticks.begin() + 1, ticks.end(), [&](const time_tick& candidate) {
        return candidate.is_change && projection.x_of(candidate.time) - projection.x_of(ticks.front().time) <
                                          typesetter.width_of("2026-11-24", tick_font) + 12;
      });
  for (const auto& tick : ticks) {
    const double x = projection.x_of(tick.time);
    path segment;
    segment.move_to({x, projection.area.y});
    segment.line_to({x, projection.area.bottom() + 4});
    canvas.stroke(segment, {tick.is_change ? colors.axis : colors.grid, 1, dash::solid});
    const auto draw_label = [&](label_row& row, const std::string& text, double y, rgba color) {
      const double width = typesetter.width_of(text, tick_font);
      const double middle = std::clamp(x, projection.area.x - margin + width / 2,
                                       std::max(projection.area.right() + margin - 4 - width / 2, projection.area.x));
      if (!row.reserve(middle - width / 2, middle + width / 2)) return;
      canvas.write({middle, y}, text, {tick_font, color, anchor::middle, width, 0, {0, 0, 0, 0}});
    };
    draw_label(clock_row, tick.text, projection.area.bottom() + 17, colors.text);
    if (!tick.date.empty() && !(has_early_change && &tick == ticks.data())) {
      draw_label(date_row, tick.date, projection.area.bottom() + 31, colors.faint_text);
    }
  }
}

void draw_value_axis(const number_axis& axis, canvas& canvas, const typesetter& typesetter, const projection& projection,
                     bool is_dark, bool has_labels) {
  const auto& colors = palette_of(is_dark);
  for (const auto& tick : axis.ticks) {
    const double y = projection.y_of(tick.value);
    path segment;
    segment.move_to({projection.area.x, y});
    segment.line_to({projection.area.right(), y});
    const bool is_base = tick.value == 0 || (axis.low > 0 && &tick == axis.ticks.data());
    canvas.stroke(segment, {is_base ? colors.axis : colors.grid, 1, dash::solid});
    if (!has_labels) continue;
    canvas.write({projection.area.x - 7, y + 4}, tick.text,
                 {tick_font, colors.text, anchor::end, typesetter.width_of(tick.text, tick_font), 0, {0, 0, 0, 0}});
  }
}

void draw_empty_message(const plot& plot, canvas& canvas, const typesetter& typesetter, const zone& zone, const box& bounds,
                        bool is_dark) {
  const auto& colors = palette_of(is_dark);
  const auto start_text = instant_text(plot.source->start, zone);
  const auto end_text = instant_text(plot.source->end, zone);
  double y = bounds.y + bounds.height / 2;
  auto rows = typesetter.wrap("no samples between " + start_text + " and " + end_text, subtitle_font, bounds.width - 16, 3);
  y -= static_cast<double>(rows.size() - 1) * 8;
  for (const auto& row : rows) {
    canvas.write({bounds.x + bounds.width / 2, y + 4}, row,
                 {subtitle_font, colors.faint_text, anchor::middle, typesetter.width_of(row, subtitle_font), bounds.width,
                  colors.background});
    y += 17;
  }
}

}  // namespace

plot make_plot(const chart& chart) {
  plot out{&chart, {}, {}, 0, chart.start, chart.end};
  if (out.start == out.end) {
    const auto half = std::max<series::duration>(chart.step, 1000);
    out.start -= half;
    out.end += half;
  }
  std::vector<std::size_t> order(chart.lines.size());
  std::iota(order.begin(), order.end(), 0);
  if (order.size() > max_lines) {
    std::vector<double> spreads;
    spreads.reserve(chart.lines.size());
    for (const auto& line : chart.lines) spreads.push_back(value_range(line, out.start, out.end));
    std::nth_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(max_lines), order.end(),
                     [&](std::size_t a, std::size_t b) { return std::pair(-spreads[a], a) < std::pair(-spreads[b], b); });
    out.omitted_lines = order.size() - max_lines;
    order.resize(max_lines);
    std::sort(order.begin(), order.end());
  }
  for (const std::size_t index : order) {
    out.lines.push_back(&chart.lines[index]);
    out.names.push_back(display_text(chart.lines[index].name));
  }
  return out;
}

std::string describe(const plot& plot, const zone& zone) {
  std::string out = display_text(plot.source->subtitle);
  if (!out.empty()) out += ". ";
  out += "From " + instant_text(plot.source->start, zone) + " to " + instant_text(plot.source->end, zone) + ", " +
         zone.text(plot.start, plot.end) + ".";
  for (std::size_t index = 0; index < plot.lines.size(); ++index) {
    std::optional<double> min;
    std::optional<double> max;
    std::optional<double> last;
    for (const auto& sample : plot.lines[index]->samples) {
      if (sample.time < plot.start || sample.time > plot.end || std::isnan(sample.value)) continue;
      min = min ? std::min(*min, sample.value) : sample.value;
      max = max ? std::max(*max, sample.value) : sample.value;
      last = sample.value;
    }
    out += "\n" + (plot.names[index].empty() ? "The line" : plot.names[index]) + ": ";
    if (!last) {
      out += "no samples.";
      continue;
    }
    out += "least " + number_text(*min, plot.source->unit) + ", greatest " + number_text(*max, plot.source->unit) + ", last " +
           number_text(*last, plot.source->unit) + ".";
  }
  if (plot.omitted_lines > 0) out += "\nLines not drawn because they vary less: " + std::to_string(plot.omitted_lines) + ".";
  return out;
}

void draw_plot(const plot& plot, canvas& canvas, const typesetter& typesetter, const zone& zone, const image_size& size) {
  const auto& colors = palette_of(size.is_dark);
  const double width = size.width;
  const double height = size.height;
  canvas.fill(box{0, 0, width, height}, colors.background);
  const double head = draw_title(plot, canvas, typesetter, size);

  const bool has_names = plot.names.size() > 1 || (plot.names.size() == 1 && !plot.names.front().empty());
  constexpr double below_axis = 38;
  constexpr double caption_height = 16;
  const double legend_height = std::min(height * 0.36, height - head - below_axis - caption_height - 70);
  const auto max_rows = static_cast<std::size_t>(std::max(0.0, legend_height / legend::row_height));
  const legend key(typesetter, has_names ? plot.names : std::vector<std::string>(), plot.omitted_lines, width - 2 * margin,
                   max_rows);

  const double top = head + caption_height;
  const double bottom = height - below_axis - key.height() - (key.height() > 0 ? 8 : 2);
  // The width of the labels depends only on the axis, which depends only on the data.
  marks data(plot, static_cast<std::size_t>(std::max(width - 2 * margin - 40, 50.0)));
  const auto axis = number_axis_for(data.low(), data.high(), plot.source->unit,
                                    static_cast<unsigned>(std::clamp((bottom - top) / 24, 3.0, 12.0)));
  double label_width = 0;
  if (data.has_numbers()) {
    for (const auto& tick : axis.ticks) label_width = std::max(label_width, typesetter.width_of(tick.text, tick_font));
  }
  const double left = margin + label_width + 7;
  const projection projection{{left, top, width - margin - 2 - left, bottom - top}, plot.start, plot.end, axis.low, axis.high};

  const font small = tick_font;
  if (!axis.caption.empty()) {
    const auto text = typesetter.fit(axis.caption, small, width / 2 - margin);
    canvas.write({margin, top - 8}, text,
                 {small, colors.faint_text, anchor::start, typesetter.width_of(text, small), 0, {0, 0, 0, 0}});
  }
  const auto zone_text = typesetter.fit(zone.text(plot.start, plot.end), small, width / 2 - margin);
  canvas.write({width - margin - 2, top - 8}, zone_text,
               {small, colors.faint_text, anchor::end, typesetter.width_of(zone_text, small), 0, {0, 0, 0, 0}});

  draw_time_axis(plot, canvas, typesetter, zone, projection, size.is_dark);
  draw_value_axis(axis, canvas, typesetter, projection, size.is_dark, data.has_numbers());
  data.draw(canvas, projection, size.is_dark);
  data.draw_thresholds(canvas, typesetter, projection, size.is_dark);
  if (data.is_empty()) draw_empty_message(plot, canvas, typesetter, zone, projection.area, size.is_dark);
  key.draw(canvas, {margin, height - key.height() - 6}, plot.source->is_stacked, size.is_dark);
}

namespace {

constexpr unsigned min_side = 200;
constexpr unsigned max_side = 4000;
// 0001-01-01 and 9999-12-31, less one day for time zones.
constexpr series::instant min_time = -62'135'510'400'000;
constexpr series::instant max_time = 253'402'214'400'000;

result<void> check_arguments(const chart& chart, image_format format, const image_size& size) {
  const auto reject = [](std::string text) { return fail(errc::invalid_argument, std::move(text)); };
  for (const unsigned side : {size.width, size.height}) {
    if (side < min_side || side > max_side) {
      return reject("a chart's width and height must be from 200 to 4000 pixels, not " + std::to_string(side));
    }
  }
  if (!(size.scale >= 1 && size.scale <= 4)) return reject("a chart's scale must be from 1 to 4");
  if (chart.start < min_time || chart.end > max_time) return reject("a chart's times must be in the years 1 to 9999");
  if (chart.end < chart.start) return reject("a chart's end is before its start");
  if (format == image_format::png && size.width * size.scale * size.height * size.scale > static_cast<double>(max_pixels)) {
    return fail(errc::response_too_large, "the image would have more than " + std::to_string(max_pixels) +
                                              " pixels; request a smaller width, height or scale, or SVG");
  }
  return {};
}

}  // namespace

result<std::string> draw(const chart& chart, image_format format, const image_size& size) {
  HONDANA_TRY(check_arguments(chart, format, size));
  HONDANA_TRY(const auto setter, typesetter::create());
  const zone zone(setter.library(), chart.zone);
  const auto plot = make_plot(chart);
  if (format == image_format::png) {
    png_canvas canvas(setter, size.width, size.height, size.scale);
    draw_plot(plot, canvas, setter, zone, size);
    return canvas.finish();
  }
  const auto title = display_text(chart.title);
  svg_canvas output(size.width, size.height, title.empty() ? "chart" : title, describe(plot, zone));
  draw_plot(plot, output, setter, zone, size);
  return std::move(output).finish();
}

}  // namespace hondana::charts
