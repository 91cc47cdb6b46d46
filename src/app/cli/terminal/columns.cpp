/// Fits tables to the width of a terminal, and measures the width of texts in columns.
#include "app/cli/terminal/columns.hpp"

#include <algorithm>
#include <array>

namespace hondana::cli {
namespace {

struct code_point_range {
  char32_t first;
  char32_t last;
};

// Ranges of EastAsianWidth.txt with W and F, with gaps of unassigned code points closed.
constexpr std::array wide_ranges{
    code_point_range{0x1100, 0x115F},   code_point_range{0x231A, 0x231B},   code_point_range{0x2329, 0x232A},
    code_point_range{0x23E9, 0x23EC},   code_point_range{0x23F0, 0x23F0},   code_point_range{0x23F3, 0x23F3},
    code_point_range{0x25FD, 0x25FE},   code_point_range{0x2614, 0x2615},   code_point_range{0x2648, 0x2653},
    code_point_range{0x267F, 0x267F},   code_point_range{0x2693, 0x2693},   code_point_range{0x26A1, 0x26A1},
    code_point_range{0x26AA, 0x26AB},   code_point_range{0x26BD, 0x26BE},   code_point_range{0x26C4, 0x26C5},
    code_point_range{0x26CE, 0x26CE},   code_point_range{0x26D4, 0x26D4},   code_point_range{0x26EA, 0x26EA},
    code_point_range{0x26F2, 0x26F3},   code_point_range{0x26F5, 0x26F5},   code_point_range{0x26FA, 0x26FA},
    code_point_range{0x26FD, 0x26FD},   code_point_range{0x2705, 0x2705},   code_point_range{0x270A, 0x270B},
    code_point_range{0x2728, 0x2728},   code_point_range{0x274C, 0x274C},   code_point_range{0x274E, 0x274E},
    code_point_range{0x2753, 0x2755},   code_point_range{0x2757, 0x2757},   code_point_range{0x2795, 0x2797},
    code_point_range{0x27B0, 0x27B0},   code_point_range{0x27BF, 0x27BF},   code_point_range{0x2B1B, 0x2B1C},
    code_point_range{0x2B50, 0x2B50},   code_point_range{0x2B55, 0x2B55},   code_point_range{0x2E80, 0x303E},
    code_point_range{0x3041, 0xA4CF},   code_point_range{0xA960, 0xA97C},   code_point_range{0xAC00, 0xD7A3},
    code_point_range{0xF900, 0xFAFF},   code_point_range{0xFE10, 0xFE19},   code_point_range{0xFE30, 0xFE6F},
    code_point_range{0xFF01, 0xFF60},   code_point_range{0xFFE0, 0xFFE6},   code_point_range{0x16FE0, 0x18DFF},
    code_point_range{0x1AFF0, 0x1B2FF}, code_point_range{0x1F004, 0x1F004}, code_point_range{0x1F0CF, 0x1F0CF},
    code_point_range{0x1F18E, 0x1F18E}, code_point_range{0x1F191, 0x1F19A}, code_point_range{0x1F200, 0x1F320},
    code_point_range{0x1F32D, 0x1F335}, code_point_range{0x1F337, 0x1F37C}, code_point_range{0x1F37E, 0x1F393},
    code_point_range{0x1F3A0, 0x1F3CA}, code_point_range{0x1F3CF, 0x1F3D3}, code_point_range{0x1F3E0, 0x1F3F0},
    code_point_range{0x1F3F4, 0x1F3F4}, code_point_range{0x1F3F8, 0x1F43E}, code_point_range{0x1F440, 0x1F440},
    code_point_range{0x1F442, 0x1F4FC}, code_point_range{0x1F4FF, 0x1F53D}, code_point_range{0x1F54B, 0x1F567},
    code_point_range{0x1F57A, 0x1F57A}, code_point_range{0x1F595, 0x1F596}, code_point_range{0x1F5A4, 0x1F5A4},
    code_point_range{0x1F5FB, 0x1F64F}, code_point_range{0x1F680, 0x1F6C5}, code_point_range{0x1F6CC, 0x1F6CC},
    code_point_range{0x1F6D0, 0x1F6DF}, code_point_range{0x1F6EB, 0x1F6FF}, code_point_range{0x1F7E0, 0x1F7F0},
    code_point_range{0x1F90C, 0x1F9FF}, code_point_range{0x1FA70, 0x1FAFF}, code_point_range{0x20000, 0x3FFFD},
};

// Zero width: combining marks of scripts that are common in names, joiners and variation selectors.
constexpr std::array zero_width_ranges{
    code_point_range{0x0300, 0x036F}, code_point_range{0x0483, 0x0489},   code_point_range{0x0591, 0x05BD},
    code_point_range{0x064B, 0x065F}, code_point_range{0x0900, 0x0902},   code_point_range{0x093C, 0x093C},
    code_point_range{0x0941, 0x0948}, code_point_range{0x0E31, 0x0E31},   code_point_range{0x0E34, 0x0E3A},
    code_point_range{0x0E47, 0x0E4E}, code_point_range{0x1AB0, 0x1AFF},   code_point_range{0x1DC0, 0x1DFF},
    code_point_range{0x200B, 0x200F}, code_point_range{0x2060, 0x2064},   code_point_range{0x20D0, 0x20FF},
    code_point_range{0x3099, 0x309A}, code_point_range{0xFE00, 0xFE0F},   code_point_range{0xFE20, 0xFE2F},
    code_point_range{0xFEFF, 0xFEFF}, code_point_range{0xE0100, 0xE01EF},
};

template <class Ranges>
bool contains(const Ranges& ranges, char32_t point) {
  const auto next_range =
      std::upper_bound(ranges.begin(), ranges.end(), point, [](char32_t p, const code_point_range& r) { return p < r.first; });
  return next_range != ranges.begin() && point <= std::prev(next_range)->last;
}

struct character {
  std::size_t bytes = 1;
  std::size_t width = 1;
};

/// The first character; `text` is not empty.
character first_character(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const std::size_t bytes = lead < 0x80 ? 1 : lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC2 ? 2 : 1;
  if (bytes == 1 || text.size() < bytes) return {};
  auto point = static_cast<char32_t>(lead & (0x7Fu >> bytes));
  for (std::size_t i = 1; i < bytes; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xC0u) != 0x80) return {};
    point = (point << 6u) | (byte & 0x3Fu);
  }
  return {bytes, contains(zero_width_ranges, point) ? 0u : contains(wide_ranges, point) ? 2u : 1u};
}

/// The longest prefix of `text` that fits, with the combining marks of its last character.
std::string_view prefix_within(std::string_view text, std::size_t columns) {
  std::size_t position = 0;
  for (std::size_t used = 0; position < text.size();) {
    const auto [bytes, width] = first_character(text.substr(position));
    if (used + width > columns) break;
    used += width;
    position += bytes;
  }
  return text.substr(0, position);
}

/// The longest suffix of `text` that fits.
std::string_view suffix_within(std::string_view text, std::size_t columns) {
  auto left = width_of(text);
  std::size_t position = 0;
  while (position < text.size() && left > columns) {
    const auto [bytes, width] = first_character(text.substr(position));
    left -= width;
    position += bytes;
  }
  while (position < text.size() && first_character(text.substr(position)).width == 0)
    position += first_character(text.substr(position)).bytes;
  return text.substr(position);
}

constexpr std::string_view ellipsis = "\xE2\x80\xA6";

}  // namespace

std::size_t width_of(std::string_view text) {
  std::size_t columns = 0;
  for (std::size_t position = 0; position < text.size();) {
    const auto [bytes, width] = first_character(text.substr(position));
    columns += width;
    position += bytes;
  }
  return columns;
}

std::string truncate_end(std::string_view text, std::size_t columns) {
  if (width_of(text) <= columns) return std::string(text);
  if (columns == 0) return {};
  return std::string(prefix_within(text, columns - 1)) + std::string(ellipsis);
}

std::string truncate_middle(std::string_view text, std::size_t columns) {
  if (width_of(text) <= columns) return std::string(text);
  if (columns == 0) return {};
  const auto front = (columns - 1) / 2;
  return std::string(prefix_within(text, front)) + std::string(ellipsis) +
         std::string(suffix_within(text, columns - 1 - front));
}

namespace {

constexpr std::size_t column_gap = 2;
// A cell narrower than this is not informative.
constexpr std::size_t min_column_width = 8;

std::string padding(std::size_t columns) { return std::string(columns, ' '); }

/// The width of the widest cell of each column, title included; 0 for a column without content.
std::vector<std::size_t> natural_widths(const std::vector<column>& columns, const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths(columns.size());
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < columns.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  }
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (widths[i] != 0) widths[i] = std::max(widths[i], width_of(columns[i].title));
  }
  return widths;
}

/// Narrows the widest columns that may be cut, until everything fits.
void shrink_columns(const std::vector<column>& columns, std::vector<std::size_t>& widths, std::size_t width) {
  std::size_t used = 0;
  std::vector<std::size_t> shrinkable;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (widths[i] == 0) continue;
    used += widths[i] + (used == 0 ? 0 : column_gap);
    if (columns[i].truncate != column::truncation::never) shrinkable.push_back(i);
  }
  while (used > width && !shrinkable.empty()) {
    std::sort(shrinkable.begin(), shrinkable.end(), [&](auto a, auto b) { return widths[a] > widths[b]; });
    const auto widest = widths[shrinkable[0]];
    if (widest <= min_column_width) return;
    std::size_t as_wide = 1;
    while (as_wide < shrinkable.size() && widths[shrinkable[as_wide]] == widest) ++as_wide;
    const auto next = as_wide < shrinkable.size() ? std::max(widths[shrinkable[as_wide]], min_column_width) : min_column_width;
    const auto max_step = std::max<std::size_t>(1, std::min(widest - next, (used - width + as_wide - 1) / as_wide));
    for (std::size_t k = 0; k < as_wide && used > width; ++k) {
      const auto step = std::min({max_step, used - width, widest - min_column_width});
      widths[shrinkable[k]] -= step;
      used -= step;
    }
  }
}

}  // namespace

fitted_table fit_table(const std::vector<column>& columns, const std::vector<std::vector<std::string>>& rows, std::size_t width,
                       bool has_bold_titles) {
  auto widths = natural_widths(columns, rows);
  shrink_columns(columns, widths, width);
  fitted_table table;
  const auto add_line = [&](const auto& cell_of, bool is_title) {
    std::string line;
    for (std::size_t i = 0, pending = 0; i < columns.size(); ++i) {
      if (widths[i] == 0) continue;
      const std::string& full_text = cell_of(i);
      const auto cell = columns[i].truncate == column::truncation::in_middle ? truncate_middle(full_text, widths[i])
                                                                             : truncate_end(full_text, widths[i]);
      table.was_truncated = table.was_truncated || (!is_title && cell.size() != full_text.size());
      const auto free = widths[i] - std::min(widths[i], width_of(cell));
      const bool is_right = columns[i].align == column::alignment::right;
      line += padding(pending + (is_right ? free : 0)) + cell;
      pending = column_gap + (is_right ? 0 : free);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    table.text += is_title && has_bold_titles ? "\x1b[1m" + line + "\x1b[0m\n" : line + '\n';
  };
  add_line([&](std::size_t i) -> const std::string& { return columns[i].title; }, true);
  for (const auto& row : rows) add_line([&](std::size_t i) -> const std::string& { return row[i]; }, false);
  return table;
}

}  // namespace hondana::cli
