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
constexpr double min_name_width = 150;

bool is_label_separator(char c) noexcept { return c == ',' || c == '{' || c == '}' || c == ' '; }

/// Removes the labels that all names have in common at their beginning and end, if something remains of each name.
std::vector<std::string> distinguishing_parts(const std::vector<std::string>& names) {
  std::size_t prefix = names.front().size();
  std::size_t suffix = prefix;
  const std::string& first = names.front();
  for (const auto& name : names) {
    const auto [a, b] =
        std::mismatch(first.begin(), first.begin() + static_cast<std::ptrdiff_t>(std::min(prefix, name.size())), name.begin());
    prefix = static_cast<std::size_t>(a - first.begin());
    const auto [c, d] = std::mismatch(
        first.rbegin(), first.rbegin() + static_cast<std::ptrdiff_t>(std::min(suffix, name.size())), name.rbegin());
    suffix = static_cast<std::size_t>(c - first.rbegin());
  }
  while (prefix > 0 && !is_label_separator(first[prefix - 1])) --prefix;
  while (suffix > 0 && !is_label_separator(first[first.size() - suffix])) --suffix;
  std::vector<std::string> out;
  for (const auto& name : names) {
    if (prefix + suffix >= name.size()) return names;
    out.push_back((prefix > 0 ? "…" : "") + name.substr(prefix, name.size() - prefix - suffix) + (suffix > 0 ? "…" : ""));
  }
  return out;
}

}  // namespace

legend::legend(const typesetter& typesetter, std::vector<std::string> names, std::size_t omitted, double width,
               std::size_t max_rows) {
  if (names.empty() || max_rows == 0) return;
  double max_width = 0;
  double total_width = 0;
  std::vector<double> widths;
  const auto measure = [&] {
    max_width = total_width = 0;
    widths.clear();
    for (const auto& name : names) {
      widths.push_back(typesetter.width_of(name, legend_font));
      max_width = std::max(max_width, widths.back());
      total_width += widths.back() + swatch_width + swatch_gap + column_gap;
    }
  };
  measure();
  // Long names of one metric differ in only one or two labels. Show those.
  if (names.size() > 1 && total_width > width && max_width > min_name_width) {
    names = distinguishing_parts(names);
    measure();
  }
  const auto note_text = [](std::size_t count) { return "and " + std::to_string(count) + " more"; };
  if (omitted == 0 && total_width - column_gap <= width) {
    double x = 0;
    for (std::size_t i = 0; i < names.size(); ++i) {
      entries_.push_back({names[i], widths[i], {x, 0}, false});
      x += widths[i] + swatch_width + swatch_gap + column_gap;
    }
    rows_ = 1;
    return;
  }
  const double swatch_space = swatch_width + swatch_gap;
  const auto columns_for = [&](double name_width) {
    return std::max<std::size_t>(1, static_cast<std::size_t>((width + column_gap) / (name_width + swatch_space + column_gap)));
  };
  std::size_t columns = columns_for(max_width);
  const std::size_t entry_count = names.size() + (omitted > 0 ? 1 : 0);
  if (columns * max_rows < entry_count || columns * 3 < entry_count) {
    // The fewest columns that fit all names while each keeps most of its text.
    const std::size_t needed =
        std::max<std::size_t>({columns, (entry_count + max_rows - 1) / max_rows, entry_count > 3 ? 2U : 1U});
    columns = std::min(needed, columns_for(std::min(max_width, min_name_width)));
  }
  const double column_width = (width + column_gap) / static_cast<double>(columns);
  max_text_width_ = column_width - column_gap - swatch_space;
  const std::size_t capacity = columns * max_rows;
  std::size_t visible = names.size();
  if (entry_count > capacity) visible = capacity - 1;
  for (std::size_t i = 0; i < visible; ++i) {
    entry item{typesetter.fit(names[i], legend_font, max_text_width_), 0, {}, false};
    item.width = typesetter.width_of(item.text, legend_font);
    entries_.push_back(std::move(item));
  }
  if (visible < names.size() || omitted > 0) {
    auto text = note_text(names.size() - visible + omitted);
    const double size = typesetter.width_of(text, legend_font);
    entries_.push_back({std::move(text), size, {}, true});
  }
  rows_ = (entries_.size() + columns - 1) / columns;
  for (std::size_t index = 0; index < entries_.size(); ++index) {
    const auto row = index / columns;
    entries_[index].position = {static_cast<double>(index % columns) * column_width, static_cast<double>(row) * row_height};
  }
}

void legend::draw(canvas& canvas, point position, bool is_stacked, bool is_dark) const {
  const auto& colors = palette_of(is_dark);
  std::size_t line = 0;
  for (const auto& item : entries_) {
    const double x = position.x + item.position.x;
    const double middle = position.y + item.position.y + row_height / 2;
    if (!item.is_note) {
      const auto pen = line_pen(line, is_dark);
      if (is_stacked) canvas.fill(box{x, middle - 4.5, swatch_width, 9}, area_color(line, is_dark));
      path mark;
      const double y = is_stacked ? middle - 4.5 : middle;
      mark.move_to({x, y});
      mark.line_to({x + swatch_width, y});
      canvas.stroke(mark, {pen.color, is_stacked ? pen.width : pen.width + 0.6, pen.pattern});
      ++line;
    }
    const double text_x = item.is_note ? x : x + swatch_width + swatch_gap;
    canvas.write({text_x, middle + 4}, item.text,
                 {legend_font,
                  item.is_note ? colors.faint_text : colors.text,
                  anchor::start,
                  item.width,
                  max_text_width_,
                  {0, 0, 0, 0}});
  }
}

}  // namespace hondana::charts
