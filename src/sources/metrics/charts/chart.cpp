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
  const chart* of = nullptr;
  std::vector<const line*> lines{};  ///< At most `most_lines`.
  std::vector<std::string> names{};  ///< Names as shown in the legend.
  std::size_t left_out = 0;
  series::instant start = 0, end = 1;  ///< As in the chart, but `start` is always before `end`.
};

/// Chooses the lines to draw: if there are too many, those that vary most.
[[nodiscard]] plot plot_of(const chart& what);
/// A description for readers who cannot see the chart: title, start and end, and the least, greatest and last value of each
/// line.
[[nodiscard]] std::string description_of(const plot& what, const zone& in);
/// Draws the whole chart.
void draw_plot(const plot& what, canvas& on, const typesetter& letters, const zone& in, const size& how);

/// The lines, areas and thresholds of a plot, which must outlive this object.
class marks {
 public:
  /// `columns`: approximate number of pixel columns.
  marks(const plot& of, std::size_t columns);

  /// The finite range of all drawn values, extended to thresholds that are close to it.
  [[nodiscard]] double low() const noexcept { return low_; }
  [[nodiscard]] double high() const noexcept { return high_; }
  /// Whether the value axis has anything to measure.
  [[nodiscard]] bool has_numbers() const noexcept { return has_numbers_; }
  [[nodiscard]] bool is_empty() const noexcept { return is_empty_; }

  void draw(canvas& on, const projection& to, bool is_dark) const;
  /// A threshold beyond the axis is marked at its edge.
  void draw_thresholds(canvas& on, const typesetter& letters, const projection& to, bool is_dark) const;

 private:
  void draw_line(canvas& on, const projection& to, std::size_t line, bool is_dark) const;
  void draw_layer(canvas& on, const projection& to, std::size_t line, bool is_dark) const;

  const plot* of_;
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
constexpr double farthest_threshold = 1.5;

/// The index after the run of a layer that starts at `begin`.
std::size_t end_of_run(const layer& of, std::size_t begin) {
  std::size_t end = begin;
  while (end < of.to.size() && !std::isnan(of.to[end]) && (end == begin || !of.begins[end])) ++end;
  return end;
}

bool overlaps(const box& a, const box& b) noexcept {
  return a.x < b.right() && b.x < a.right() && a.y < b.bottom() && b.y < a.bottom();
}

/// Whether a line crosses the box, or comes close to it.
bool is_crossed(const box& by, const std::vector<const line*>& lines, const projection& to) {
  for (const auto* const one : lines) {
    bool has_before = false;
    point before;
    for (const auto& sample : one->samples) {
      if (sample.at < to.start || sample.at > to.end || std::isnan(sample.value)) continue;
      const point here{to.x_of(sample.at), to.y_of(sample.value)};
      if (here.x >= by.x) {
        const auto& from = has_before ? before : here;
        const auto [top, bottom] = std::minmax(from.y, here.y);
        if (from.x <= by.right() && top <= by.bottom() && bottom >= by.y) return true;
      }
      if (here.x > by.right()) break;
      before = here;
      has_before = true;
    }
  }
  return false;
}

}  // namespace

marks::marks(const plot& of, std::size_t columns) : of_(&of), columns_(columns) {
  // Each line takes up to two points per column: least and greatest value, or both edges of an area.
  const std::size_t lines = std::max<std::size_t>(of.lines.size(), 1);
  columns_ = std::min(columns_, std::max<std::size_t>(most_points / (2 * lines), 40));
  low_ = std::numeric_limits<double>::infinity();
  high_ = -low_;
  for (const auto* const one : of.lines) {
    for (const auto& sample : one->samples) {
      if (sample.at < of.start || sample.at > of.end || std::isnan(sample.value)) continue;
      is_empty_ = false;
      const double value = tamed(sample.value);
      if (!std::isfinite(value)) continue;
      has_numbers_ = true;
      low_ = std::min(low_, value);
      high_ = std::max(high_, value);
    }
  }
  if (of.of->is_stacked) {
    stack_ = stacked(of.lines, of.start, of.end, of.of->step, columns_);
    low_ = stack_.low;
    high_ = stack_.high;
  }
  const bool has_values = high_ >= low_;
  if (!has_values) low_ = high_ = 0;
  // Halved, since the difference of two large values could overflow to infinity.
  const double reach = std::max({high_ / 2 - low_ / 2, std::abs(high_) / 4, std::abs(low_) / 4}) * 2 * farthest_threshold;
  const double data_low = low_;
  const double data_high = high_;
  for (const auto& one : of.of->thresholds) {
    const double at = tamed(one.at);
    if (!std::isfinite(at)) continue;
    has_numbers_ = true;
    if (has_values && (at > data_high + reach || at < data_low - reach)) continue;
    low_ = has_values || low_ != high_ ? std::min(low_, at) : std::min(0.0, at);
    high_ = std::max(high_, at);
  }
}

void marks::draw(canvas& on, const projection& to, bool is_dark) const {
  for (std::size_t line = 0; line < of_->lines.size(); ++line) {
    on.begin_group(of_->names[line]);
    if (of_->of->is_stacked) {
      draw_layer(on, to, line, is_dark);
    } else {
      draw_line(on, to, line, is_dark);
    }
    on.end_group();
  }
}

void marks::draw_line(canvas& on, const projection& to, std::size_t line, bool is_dark) const {
  const auto shown = reduced(of_->lines[line]->samples, to, of_->of->step, to.in.width / static_cast<double>(columns_));
  const auto with = pen_of(line, is_dark);
  // A single line gets a tinted area below it.
  if (of_->lines.size() == 1 && to.low == 0) {
    path below;
    for (std::size_t run = 0; run < shown.runs.begins.size(); ++run) {
      const std::size_t begin = shown.runs.begins[run];
      const std::size_t end = run + 1 < shown.runs.begins.size() ? shown.runs.begins[run + 1] : shown.runs.points.size();
      below.begin({shown.runs.points[begin].x, to.in.bottom()});
      for (std::size_t at = begin; at < end; ++at) below.go(shown.runs.points[at]);
      below.go({shown.runs.points[end - 1].x, to.in.bottom()});
    }
    on.fill(below, with.ink.at(0.12));
  }
  on.stroke(shown.runs, with);
  on.dots(shown.alone, dot_radius, with.ink);
}

void marks::draw_layer(canvas& on, const projection& to, std::size_t line, bool is_dark) const {
  const auto& own = stack_.layers[line];
  path area;
  path edge;
  std::size_t at = 0;
  while (at < own.to.size()) {
    const std::size_t end = end_of_run(own, at);
    if (end == at) {
      ++at;
      continue;
    }
    // A single point is drawn as a bar.
    const double spread = end - at == 1 ? dot_radius : 0;
    const auto x = [&](std::size_t of) { return to.x_of(stack_.at[of]); };
    for (std::size_t up = at; up < end; ++up) {
      const point here{x(up) - spread, to.y_of(own.to[up])};
      if (up == at) {
        area.begin(here);
        edge.begin(here);
      } else {
        area.go(here);
        edge.go(here);
      }
    }
    if (spread > 0) {
      area.go({x(at) + spread, to.y_of(own.to[at])});
      edge.go({x(at) + spread, to.y_of(own.to[at])});
    }
    for (std::size_t down = end; down-- > at;) area.go({x(down) + spread, to.y_of(own.from[down])});
    if (spread > 0) area.go({x(at) - spread, to.y_of(own.from[at])});
    at = end;
  }
  auto with = pen_of(line, is_dark);
  with.width = 1;
  on.fill(area, area_of(line, is_dark));
  on.stroke(edge, with);
}

void marks::draw_thresholds(canvas& on, const typesetter& letters, const projection& to, bool is_dark) const {
  const auto& colours = palette_of(is_dark);
  std::vector<box> taken;  // by labels
  std::size_t drawn = 0;
  for (const auto& one : of_->of->thresholds) {
    if (std::isnan(one.at)) continue;
    if (drawn++ == most_thresholds) break;
    const double value = tamed(one.at);
    const bool is_above = value > to.high;
    const bool is_below = value < to.low;
    const double y = to.y_of(value);
    if (!is_above && !is_below) {
      path rule;
      rule.begin({to.in.x, y});
      rule.go({to.in.right(), y});
      on.stroke(rule, {colours.limit, 1.3, dash::long_ones});
    }
    const auto number = number_text(one.at, of_->of->unit, false);
    auto text = shown_text(one.name);
    if (text.empty()) {
      text = number;
    } else {
      text += " " + number;
    }
    if (is_above) text = "↑ " + text;
    if (is_below) text = "↓ " + text;
    const double room = to.in.width * 0.6;
    text = letters.fitted(text, threshold_font, room);
    const double width = letters.width_of(text, threshold_font);
    // The label goes above its line on the left. Other positions follow if it does not fit, or overlaps a label or data.
    const double left = to.in.x + 6;
    const double right = std::max(left, to.in.right() - 6 - width);
    const std::array<point, 8> places{{{left, y - 5},
                                       {left, y + 14},
                                       {right, y - 5},
                                       {right, y + 14},
                                       {left, y - 19},
                                       {left, y + 28},
                                       {right, y - 19},
                                       {right, y + 28}}};
    const auto box_at = [&](point base) { return box{base.x, base.y - 11, width, 13}; };
    const auto is_free = [&](point base) {
      const auto by = box_at(base);
      return by.y >= to.in.y && base.y <= to.in.bottom() - 2 &&
             std::none_of(taken.begin(), taken.end(), [&](const box& other) { return overlaps(by, other); });
    };
    const auto* place = std::find_if(places.begin(), places.end(), [&](point base) {
      return is_free(base) && (of_->of->is_stacked || !is_crossed(box_at(base), of_->lines, to));
    });
    if (place == places.end()) place = std::find_if(places.begin(), places.end(), is_free);
    point base = place == places.end() ? places.front() : *place;
    base.y = std::clamp(base.y, to.in.y + 11, to.in.bottom() - 3);
    taken.push_back(box_at(base));
    on.write(base, text, {threshold_font, colours.limit, anchor::start, width, room, colours.background});
  }
}

namespace {

constexpr font title_font{15, true};
constexpr font subtitle_font{12, false};
constexpr font tick_font{11.5, false};
constexpr double margin = 14;

/// The difference of greatest and least value. -1 if no value is finite.
double spread_of(const line& of, series::instant start, series::instant end) {
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (const auto& one : of.samples) {
    const double value = tamed(one.value);
    if (one.at < start || one.at > end || !std::isfinite(value)) continue;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  return high < low ? -1 : high - low;
}

/// Decides which tick labels of a row have enough space.
class label_row {
 public:
  explicit label_row(double gap) : gap_(gap) {}
  [[nodiscard]] bool has_room(double left, double right) {
    if (left < free_from_) return false;
    free_from_ = right + gap_;
    return true;
  }

 private:
  double gap_;
  double free_from_ = -std::numeric_limits<double>::infinity();
};

/// Draws title and subtitle. Returns the y coordinate below them.
double draw_head(const plot& what, canvas& on, const typesetter& letters, const size& how) {
  const auto& colours = palette_of(how.is_dark);
  const double room = how.width - 2 * margin;
  double y = 8;
  const std::size_t most_title_lines = how.height >= 300 ? 2 : 1;
  for (const auto& row : letters.broken(shown_text(what.of->title), title_font, room, most_title_lines)) {
    y += 18;
    on.write({margin, y - 3}, row,
             {title_font, colours.text, anchor::start, letters.width_of(row, title_font), room, {0, 0, 0, 0}});
  }
  if (!what.of->subtitle.empty() && how.height >= 240) {
    const auto row = letters.fitted(shown_text(what.of->subtitle), subtitle_font, room);
    y += 16;
    on.write({margin, y - 2}, row,
             {subtitle_font, colours.faint_text, anchor::start, letters.width_of(row, subtitle_font), room, {0, 0, 0, 0}});
  }
  return y + 6;
}

void draw_times(const plot& what, canvas& on, const typesetter& letters, const zone& in, const projection& to, bool is_dark) {
  const auto& colours = palette_of(is_dark);
  const double widest = letters.width_of("00:00:00", tick_font);
  const auto most = static_cast<unsigned>(std::max(2.0, to.in.width / (widest + 16)));
  label_row clocks(6);
  label_row dates(8);
  const auto ticks = time_ticks(what.start, what.end, in, most);
  // The first date is left out if another day begins soon after it.
  const bool has_early_change =
      ticks.size() > 1 && std::any_of(ticks.begin() + 1, ticks.end(), [&](const time_tick& one) {
        return one.is_change && to.x_of(one.at) - to.x_of(ticks.front().at) < letters.width_of("2026-11-24", tick_font) + 12;
      });
  for (const auto& tick : ticks) {
    const double x = to.x_of(tick.at);
    path rule;
    rule.begin({x, to.in.y});
    rule.go({x, to.in.bottom() + 4});
    on.stroke(rule, {tick.is_change ? colours.axis : colours.grid, 1, dash::solid});
    const auto write = [&](label_row& row, const std::string& text, double y, colour ink) {
      const double width = letters.width_of(text, tick_font);
      const double middle =
          std::clamp(x, to.in.x - margin + width / 2, std::max(to.in.right() + margin - 4 - width / 2, to.in.x));
      if (!row.has_room(middle - width / 2, middle + width / 2)) return;
      on.write({middle, y}, text, {tick_font, ink, anchor::middle, width, 0, {0, 0, 0, 0}});
    };
    write(clocks, tick.text, to.in.bottom() + 17, colours.text);
    if (!tick.date.empty() && !(has_early_change && &tick == ticks.data())) {
      write(dates, tick.date, to.in.bottom() + 31, colours.faint_text);
    }
  }
}

void draw_numbers(const number_axis& axis, canvas& on, const typesetter& letters, const projection& to, bool is_dark,
                  bool has_labels) {
  const auto& colours = palette_of(is_dark);
  for (const auto& tick : axis.ticks) {
    const double y = to.y_of(tick.at);
    path rule;
    rule.begin({to.in.x, y});
    rule.go({to.in.right(), y});
    const bool is_base = tick.at == 0 || (axis.low > 0 && &tick == axis.ticks.data());
    on.stroke(rule, {is_base ? colours.axis : colours.grid, 1, dash::solid});
    if (!has_labels) continue;
    on.write({to.in.x - 7, y + 4}, tick.text,
             {tick_font, colours.text, anchor::end, letters.width_of(tick.text, tick_font), 0, {0, 0, 0, 0}});
  }
}

void draw_nothing(const plot& what, canvas& on, const typesetter& letters, const zone& in, const box& within, bool is_dark) {
  const auto& colours = palette_of(is_dark);
  const auto from = instant_text(what.of->start, in);
  const auto to = instant_text(what.of->end, in);
  double y = within.y + within.height / 2;
  auto rows = letters.broken("no samples between " + from + " and " + to, subtitle_font, within.width - 16, 3);
  y -= static_cast<double>(rows.size() - 1) * 8;
  for (const auto& row : rows) {
    on.write({within.x + within.width / 2, y + 4}, row,
             {subtitle_font, colours.faint_text, anchor::middle, letters.width_of(row, subtitle_font), within.width,
              colours.background});
    y += 17;
  }
}

}  // namespace

plot plot_of(const chart& what) {
  plot out{&what, {}, {}, 0, what.start, what.end};
  if (out.start == out.end) {
    const auto half = std::max<series::duration>(what.step, 1000);
    out.start -= half;
    out.end += half;
  }
  std::vector<std::size_t> order(what.lines.size());
  std::iota(order.begin(), order.end(), 0);
  if (order.size() > most_lines) {
    std::vector<double> spreads;
    spreads.reserve(what.lines.size());
    for (const auto& one : what.lines) spreads.push_back(spread_of(one, out.start, out.end));
    std::nth_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(most_lines), order.end(),
                     [&](std::size_t a, std::size_t b) { return std::pair(-spreads[a], a) < std::pair(-spreads[b], b); });
    out.left_out = order.size() - most_lines;
    order.resize(most_lines);
    std::sort(order.begin(), order.end());
  }
  for (const std::size_t at : order) {
    out.lines.push_back(&what.lines[at]);
    out.names.push_back(shown_text(what.lines[at].name));
  }
  return out;
}

std::string description_of(const plot& what, const zone& in) {
  std::string out = shown_text(what.of->subtitle);
  if (!out.empty()) out += ". ";
  out += "From " + instant_text(what.of->start, in) + " to " + instant_text(what.of->end, in) + ", " +
         in.text(what.start, what.end) + ".";
  for (std::size_t at = 0; at < what.lines.size(); ++at) {
    std::optional<double> least;
    std::optional<double> greatest;
    std::optional<double> last;
    for (const auto& one : what.lines[at]->samples) {
      if (one.at < what.start || one.at > what.end || std::isnan(one.value)) continue;
      least = least ? std::min(*least, one.value) : one.value;
      greatest = greatest ? std::max(*greatest, one.value) : one.value;
      last = one.value;
    }
    out += "\n" + (what.names[at].empty() ? "The line" : what.names[at]) + ": ";
    if (!last) {
      out += "no samples.";
      continue;
    }
    out += "least " + number_text(*least, what.of->unit) + ", greatest " + number_text(*greatest, what.of->unit) + ", last " +
           number_text(*last, what.of->unit) + ".";
  }
  if (what.left_out > 0) out += "\nLines not drawn because they vary less: " + std::to_string(what.left_out) + ".";
  return out;
}

void draw_plot(const plot& what, canvas& on, const typesetter& letters, const zone& in, const size& how) {
  const auto& colours = palette_of(how.is_dark);
  const double width = how.width;
  const double height = how.height;
  on.fill(box{0, 0, width, height}, colours.background);
  const double head = draw_head(what, on, letters, how);

  const bool has_names = what.names.size() > 1 || (what.names.size() == 1 && !what.names.front().empty());
  constexpr double below_axis = 38;
  constexpr double caption_height = 16;
  const double for_legend = std::min(height * 0.36, height - head - below_axis - caption_height - 70);
  const auto most_rows = static_cast<std::size_t>(std::max(0.0, for_legend / legend::row_height));
  const legend key(letters, has_names ? what.names : std::vector<std::string>(), what.left_out, width - 2 * margin, most_rows);

  const double top = head + caption_height;
  const double bottom = height - below_axis - key.height() - (key.height() > 0 ? 8 : 2);
  // The width of the labels depends only on the axis, which depends only on the data.
  marks data(what, static_cast<std::size_t>(std::max(width - 2 * margin - 40, 50.0)));
  const auto axis = number_axis_for(data.low(), data.high(), what.of->unit,
                                    static_cast<unsigned>(std::clamp((bottom - top) / 24, 3.0, 12.0)));
  double labels = 0;
  if (data.has_numbers()) {
    for (const auto& tick : axis.ticks) labels = std::max(labels, letters.width_of(tick.text, tick_font));
  }
  const double left = margin + labels + 7;
  const projection to{{left, top, width - margin - 2 - left, bottom - top}, what.start, what.end, axis.low, axis.high};

  const font small = tick_font;
  if (!axis.caption.empty()) {
    const auto text = letters.fitted(axis.caption, small, width / 2 - margin);
    on.write({margin, top - 8}, text,
             {small, colours.faint_text, anchor::start, letters.width_of(text, small), 0, {0, 0, 0, 0}});
  }
  const auto zone_text = letters.fitted(in.text(what.start, what.end), small, width / 2 - margin);
  on.write({width - margin - 2, top - 8}, zone_text,
           {small, colours.faint_text, anchor::end, letters.width_of(zone_text, small), 0, {0, 0, 0, 0}});

  draw_times(what, on, letters, in, to, how.is_dark);
  draw_numbers(axis, on, letters, to, how.is_dark, data.has_numbers());
  data.draw(on, to, how.is_dark);
  data.draw_thresholds(on, letters, to, how.is_dark);
  if (data.is_empty()) draw_nothing(what, on, letters, in, to.in, how.is_dark);
  key.draw(on, {margin, height - key.height() - 6}, what.of->is_stacked, how.is_dark);
}

namespace {

constexpr unsigned least_side = 200;
constexpr unsigned greatest_side = 4000;
// 0001-01-01 and 9999-12-31, less one day for time zones.
constexpr series::instant first_instant = -62'135'510'400'000;
constexpr series::instant last_instant = 253'402'214'400'000;

result<void> check(const chart& what, picture as, const size& how) {
  const auto refuse = [](std::string text) { return fail(errc::invalid_argument, std::move(text)); };
  for (const unsigned side : {how.width, how.height}) {
    if (side < least_side || side > greatest_side) {
      return refuse("a chart's width and height must be from 200 to 4000 pixels, not " + std::to_string(side));
    }
  }
  if (!(how.scale >= 1 && how.scale <= 4)) return refuse("a chart's scale must be from 1 to 4");
  if (what.start < first_instant || what.end > last_instant) return refuse("a chart's times must be in the years 1 to 9999");
  if (what.end < what.start) return refuse("a chart's end is before its start");
  if (as == picture::png && how.width * how.scale * how.height * how.scale > static_cast<double>(most_pixels)) {
    return fail(errc::response_too_large, "the image would have more than " + std::to_string(most_pixels) +
                                              " pixels; request a smaller width, height or scale, or SVG");
  }
  return {};
}

}  // namespace

result<std::string> draw(const chart& what, picture as, const size& how) {
  HONDANA_TRY(check(what, as, how));
  HONDANA_TRY(const auto letters, typesetter::borrowed());
  const zone in(letters.library(), what.zone);
  const auto plan = plot_of(what);
  if (as == picture::png) {
    png_canvas on(letters, how.width, how.height, how.scale);
    draw_plot(plan, on, letters, in, how);
    return on.finish();
  }
  const auto title = shown_text(what.title);
  svg_canvas on(how.width, how.height, title.empty() ? "chart" : title, description_of(plan, in));
  draw_plot(plan, on, letters, in, how);
  return std::move(on).finish();
}

}  // namespace hondana::charts
