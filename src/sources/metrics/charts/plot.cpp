/// A chart on a canvas.
#include "sources/metrics/charts/plot.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "sources/metrics/charts/legend.hpp"
#include "sources/metrics/charts/marks.hpp"
#include "sources/metrics/charts/number_axis.hpp"
#include "sources/metrics/charts/palette.hpp"
#include "sources/metrics/charts/shown_text.hpp"
#include "sources/metrics/charts/time_axis.hpp"

namespace hondana::charts {
namespace {

constexpr font title_font{15, true};
constexpr font subtitle_font{12, false};
constexpr font tick_font{11.5, false};
constexpr double margin = 14;

/// How much a line varies; what is nowhere finite, less than anything.
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

/// Ticks that are too close for their labels lose them.
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

/// Title, subtitle and what stands above the axes; answers where the data may begin.
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
  // The first date gives way to that of a day that begins soon after.
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
  // How wide the labels are depends on the axis, which depends on the data and on nothing else.
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

}  // namespace hondana::charts
