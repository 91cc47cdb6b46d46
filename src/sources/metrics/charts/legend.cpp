/// The legend of a chart, which fits names into columns.
#include "sources/metrics/charts/legend.hpp"

#include <algorithm>

namespace hondana::charts {
namespace {

constexpr font legend_font{11.5, false};
constexpr double swatch_width = 20;
constexpr double swatch_gap = 6;
constexpr double column_gap = 16;
/// Names are shortened to fit more columns, but not below this width.
constexpr double least_name = 150;

bool parts_labels(char c) noexcept { return c == ',' || c == '{' || c == '}' || c == ' '; }

/// Removes the labels that all names have in common at their beginning and end, if something remains of each name.
std::vector<std::string> telling_parts(const std::vector<std::string>& names) {
  std::size_t before = names.front().size();
  std::size_t behind = before;
  const std::string& first = names.front();
  for (const auto& name : names) {
    const auto [a, b] =
        std::mismatch(first.begin(), first.begin() + static_cast<std::ptrdiff_t>(std::min(before, name.size())), name.begin());
    before = static_cast<std::size_t>(a - first.begin());
    const auto [c, d] = std::mismatch(
        first.rbegin(), first.rbegin() + static_cast<std::ptrdiff_t>(std::min(behind, name.size())), name.rbegin());
    behind = static_cast<std::size_t>(c - first.rbegin());
  }
  while (before > 0 && !parts_labels(first[before - 1])) --before;
  while (behind > 0 && !parts_labels(first[first.size() - behind])) --behind;
  std::vector<std::string> out;
  for (const auto& name : names) {
    if (before + behind >= name.size()) return names;
    out.push_back((before > 0 ? "…" : "") + name.substr(before, name.size() - before - behind) + (behind > 0 ? "…" : ""));
  }
  return out;
}

}  // namespace

legend::legend(const typesetter& letters, std::vector<std::string> names, std::size_t left_out, double width,
               std::size_t most_rows) {
  if (names.empty() || most_rows == 0) return;
  double widest = 0;
  double together = 0;
  std::vector<double> widths;
  const auto measure = [&] {
    widest = together = 0;
    widths.clear();
    for (const auto& name : names) {
      widths.push_back(letters.width_of(name, legend_font));
      widest = std::max(widest, widths.back());
      together += widths.back() + swatch_width + swatch_gap + column_gap;
    }
  };
  measure();
  // Long names of one metric differ in only one or two labels. Show those.
  if (names.size() > 1 && together > width && widest > least_name) {
    names = telling_parts(names);
    measure();
  }
  const auto note = [](std::size_t count) { return "and " + std::to_string(count) + " more"; };
  if (left_out == 0 && together - column_gap <= width) {
    double x = 0;
    for (std::size_t at = 0; at < names.size(); ++at) {
      entries_.push_back({names[at], widths[at], {x, 0}, false});
      x += widths[at] + swatch_width + swatch_gap + column_gap;
    }
    rows_ = 1;
    return;
  }
  const double beside = swatch_width + swatch_gap;
  const auto columns_for = [&](double name) {
    return std::max<std::size_t>(1, static_cast<std::size_t>((width + column_gap) / (name + beside + column_gap)));
  };
  std::size_t columns = columns_for(widest);
  const std::size_t wanted = names.size() + (left_out > 0 ? 1 : 0);
  if (columns * most_rows < wanted || columns * 3 < wanted) {
    // The fewest columns that fit all names while each keeps most of its text.
    const std::size_t needed = std::max<std::size_t>({columns, (wanted + most_rows - 1) / most_rows, wanted > 3 ? 2U : 1U});
    columns = std::min(needed, columns_for(std::min(widest, least_name)));
  }
  const double column_width = (width + column_gap) / static_cast<double>(columns);
  room_ = column_width - column_gap - beside;
  const std::size_t places = columns * most_rows;
  std::size_t shown = names.size();
  if (wanted > places) shown = places - 1;
  for (std::size_t at = 0; at < shown; ++at) {
    entry one{letters.fitted(names[at], legend_font, room_), 0, {}, false};
    one.width = letters.width_of(one.text, legend_font);
    entries_.push_back(std::move(one));
  }
  if (shown < names.size() || left_out > 0) {
    auto text = note(names.size() - shown + left_out);
    const double size = letters.width_of(text, legend_font);
    entries_.push_back({std::move(text), size, {}, true});
  }
  rows_ = (entries_.size() + columns - 1) / columns;
  for (std::size_t at = 0; at < entries_.size(); ++at) {
    const auto row = at / columns;
    entries_[at].at = {static_cast<double>(at % columns) * column_width, static_cast<double>(row) * row_height};
  }
}

void legend::draw(canvas& on, point at, bool is_stacked, bool is_dark) const {
  const auto& colours = palette_of(is_dark);
  std::size_t line = 0;
  for (const auto& one : entries_) {
    const double x = at.x + one.at.x;
    const double middle = at.y + one.at.y + row_height / 2;
    if (!one.is_note) {
      const auto ink = pen_of(line, is_dark);
      if (is_stacked) on.fill(box{x, middle - 4.5, swatch_width, 9}, area_of(line, is_dark));
      path mark;
      const double y = is_stacked ? middle - 4.5 : middle;
      mark.begin({x, y});
      mark.go({x + swatch_width, y});
      on.stroke(mark, {ink.ink, is_stacked ? ink.width : ink.width + 0.6, ink.pattern});
      ++line;
    }
    const double text_x = one.is_note ? x : x + swatch_width + swatch_gap;
    on.write({text_x, middle + 4}, one.text,
             {legend_font, one.is_note ? colours.faint_text : colours.text, anchor::start, one.width, room_, {0, 0, 0, 0}});
  }
}

}  // namespace hondana::charts
