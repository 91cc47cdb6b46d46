/// Reads plain text: paragraphs, and lines that are headings.

#include "base/ascii/ascii.hpp"
#include "text/markup/characters.hpp"
#include "text/markup/inlines.hpp"
#include "text/markup/pieces.hpp"

namespace hondana::markup {
namespace {

constexpr std::size_t max_plain_heading_bytes = 160;

/// The level of `1.2 Title` and `3.  Title` (two spaces, as in RFCs): one more than the number of numbers. 0: not a heading.
int numbered_level(std::string_view content) noexcept {
  int numbers = 0;
  std::size_t position = 0;
  while (position < content.size() && ascii::is_digit(content[position])) {
    const auto begin = position;
    while (position < content.size() && ascii::is_digit(content[position])) ++position;
    if (position - begin > 3) return 0;
    ++numbers;
    if (position >= content.size() || content[position] != '.') break;
    ++position;
  }
  if (numbers == 0 || position >= content.size() || content[position] != ' ') return 0;
  const bool has_two_spaces = position + 1 < content.size() && content[position + 1] == ' ';
  if (numbers == 1 && !has_two_spaces) return 0;
  const auto title = trim(content.substr(position));
  return title.empty() || ascii::is_digit(title.front()) ? 0 : std::min(numbers + 1, 6);
}

bool is_japanese_digit(char32_t point) noexcept {
  return (point >= '0' && point <= '9') || (point >= U'０' && point <= U'９') ||
         std::u32string_view(U"〇一二三四五六七八九十百千").find(point) != std::u32string_view::npos;
}

/// The level of `第1章 …`, `第二節 …`; 0: not a heading.
int chapter_level(std::string_view content) noexcept {
  if (!content.starts_with("第")) return 0;
  std::size_t position = std::string_view("第").size();
  std::size_t digits = 0;
  while (position < content.size()) {
    const auto character = character_at(content, position);
    position += character.bytes;
    if (is_japanese_digit(character.point)) {
      if (++digits > 8) return 0;
      continue;
    }
    if (digits == 0) return 0;
    // The title must be separated, or missing.
    if (position < content.size() && content[position] != ' ' && content[position] != '\t' && content[position] != ':' &&
        !content.substr(position).starts_with("　") && !content.substr(position).starts_with("："))
      return 0;
    switch (character.point) {
      case U'部':
      case U'編':
        return 1;
      case U'章':
        return 2;
      case U'節':
        return 3;
      case U'条':
      case U'項':
        return 4;
      default:
        return 0;
    }
  }
  return 0;
}

bool is_bracketed(std::string_view content) noexcept {
  constexpr std::string_view open = "【";
  constexpr std::string_view close = "】";
  return content.size() > open.size() + close.size() && content.starts_with(open) && content.ends_with(close) &&
         content.find(close) == content.size() - close.size();
}

int plain_underline_level(std::string_view content) noexcept {
  if (content.size() < 3 || (content.front() != '=' && content.front() != '-' && content.front() != '~')) return 0;
  if (content.find_first_not_of(content.front()) != std::string_view::npos) return 0;
  return content.front() == '=' ? 1 : content.front() == '-' ? 2 : 3;
}

/// The level of a line that is a paragraph of its own; 0: not a heading.
int standalone_level(std::string_view content) noexcept {
  if (content.empty() || content.size() > max_plain_heading_bytes || content.find("...") != std::string_view::npos) return 0;
  if (content.ends_with('.') || content.ends_with(',') || content.ends_with("。") || content.ends_with("、")) return 0;
  if (is_bracketed(content)) return 2;
  const int chapter = chapter_level(content);
  return chapter != 0 ? chapter : numbered_level(content);
}

void emit_urls(piece_collector& collector, const piece& piece) {
  if (piece.kind == piece_kind::mark || !collector.wants_links()) return;
  const auto raw = collector.text().substr(0, piece.end);
  auto number = piece.first_line;
  auto counted = piece.begin;
  for (auto position = raw.find("://", piece.begin); position != std::string_view::npos;
       position = raw.find("://", position + 3)) {
    const auto length = raw.substr(0, position).ends_with("https") ? 5u : 4u;
    if (position < piece.begin + length) continue;
    const auto end = end_of_url(raw, position - length);
    if (end == position - length) continue;
    number += static_cast<std::size_t>(std::count(raw.begin() + static_cast<std::ptrdiff_t>(counted),
                                                  raw.begin() + static_cast<std::ptrdiff_t>(position), '\n'));
    counted = position;
    std::string url(raw.substr(position - length, end - position + length));
    collector.emit_link({url, url, number, false});
    // A URL inside a URL is not a link.
    position = std::max(position, end - std::min<std::size_t>(end, 3));
  }
}

}  // namespace

void read_plain(std::string_view text, markup_listener& listener) {
  piece_collector collector(text, listener);
  line_reader lines(text);
  text_line line;
  text_line next_line;
  bool is_after_blank = true;
  while (collector.accepts_more() && lines.read(line)) {
    const auto content = trim(collector.content_of(line));
    if (content.empty()) {
      emit_urls(collector, collector.close());
      is_after_blank = true;
      continue;
    }
    const bool has_next = lines.peek(next_line);
    const auto next_content = has_next ? trim(collector.content_of(next_line)) : std::string_view();
    int level = 0;
    bool is_underlined = false;
    if (is_after_blank && content.size() <= max_plain_heading_bytes) {
      level = next_content.empty() ? standalone_level(content) : 0;
      const int underline = plain_underline_level(next_content);
      if (underline != 0 && plain_underline_level(content) == 0 && next_content.size() * 2 >= display_width(content)) {
        level = underline;
        is_underlined = true;
      }
    }
    is_after_blank = false;
    if (level == 0) {
      collector.extend(piece_kind::prose, line);
      continue;
    }
    if (is_underlined) (void)lines.read(next_line);
    const auto& last = is_underlined ? next_line : line;
    collector.emit({piece_kind::heading, line.begin, last.end, line.number, last.number, level, std::string(content), {}});
    is_after_blank = true;
  }
  emit_urls(collector, collector.close());
}

}  // namespace hondana::markup
