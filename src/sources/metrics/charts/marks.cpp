/// Lines, areas, dots and thresholds of a chart.
#include "sources/metrics/charts/marks.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "sources/metrics/charts/number_axis.hpp"
#include "sources/metrics/charts/palette.hpp"
#include "sources/metrics/charts/shown_text.hpp"

namespace hondana::charts {
namespace {

constexpr font threshold_font{11.5, true};
constexpr double dot_radius = 2.2;
/// A threshold may make the axis this much longer than the data need.
constexpr double farthest_threshold = 1.5;

/// From `begin`, while the layer is there.
std::size_t end_of_run(const layer& of, std::size_t begin) {
  std::size_t end = begin;
  while (end < of.to.size() && !std::isnan(of.to[end]) && (end == begin || !of.begins[end])) ++end;
  return end;
}

bool overlaps(const box& a, const box& b) noexcept {
  return a.x < b.right() && b.x < a.right() && a.y < b.bottom() && b.y < a.bottom();
}

/// Whether a line goes through the box, or nearly.
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
  // Two points a column and line; a layer has two edges.
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
  // Long spans are halved, so that no difference of them is infinite.
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
  // One line alone stands on a tint.
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
    // One alone is a bar.
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
    // Above its line at the left, or elsewhere where there is no room, another label or data.
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

}  // namespace hondana::charts
