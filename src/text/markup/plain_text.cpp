/// Reads plain text: paragraphs, and lines that are headings.

#include "base/ascii/ascii.hpp"
#include "text/markup/characters.hpp"
#include "text/markup/inlines.hpp"
#include "text/markup/pieces.hpp"

namespace hondana::markup {
namespace {

constexpr std::size_t longest_plain_heading = 160;

/// The level of `1.2 Title` and `3.  Title` (two spaces, as in RFCs): one more than the number of numbers. 0: not a heading.
int numbered_level(std::string_view content) noexcept {
  int numbers = 0;
  std::size_t at = 0;
  while (at < content.size() && ascii::is_digit(content[at])) {
    const auto begin = at;
    while (at < content.size() && ascii::is_digit(content[at])) ++at;
    if (at - begin > 3) return 0;
    ++numbers;
    if (at >= content.size() || content[at] != '.') break;
    ++at;
  }
  if (numbers == 0 || at >= content.size() || content[at] != ' ') return 0;
  const bool has_two_spaces = at + 1 < content.size() && content[at + 1] == ' ';
  if (numbers == 1 && !has_two_spaces) return 0;
  const auto title = trimmed(content.substr(at));
  return title.empty() || ascii::is_digit(title.front()) ? 0 : std::min(numbers + 1, 6);
}

bool is_japanese_digit(char32_t point) noexcept {
  return (point >= '0' && point <= '9') || (point >= U'０' && point <= U'９') ||
         std::u32string_view(U"〇一二三四五六七八九十百千").find(point) != std::u32string_view::npos;
}

/// The level of `第1章 …`, `第二節 …`; 0: not a heading.
int chapter_level(std::string_view content) noexcept {
  if (!content.starts_with("第")) return 0;
  std::size_t at = std::string_view("第").size();
  std::size_t digits = 0;
  while (at < content.size()) {
    const auto one = character_at(content, at);
    at += one.bytes;
    if (is_japanese_digit(one.point)) {
      if (++digits > 8) return 0;
      continue;
    }
    if (digits == 0) return 0;
    // The title must be separated, or missing.
    if (at < content.size() && content[at] != ' ' && content[at] != '\t' && content[at] != ':' &&
        !content.substr(at).starts_with("　") && !content.substr(at).starts_with("："))
      return 0;
    switch (one.point) {
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
  constexpr std::string_view shut = "】";
  return content.size() > open.size() + shut.size() && content.starts_with(open) && content.ends_with(shut) &&
         content.find(shut) == content.size() - shut.size();
}

int underline_of(std::string_view content) noexcept {
  if (content.size() < 3 || (content.front() != '=' && content.front() != '-' && content.front() != '~')) return 0;
  if (content.find_first_not_of(content.front()) != std::string_view::npos) return 0;
  return content.front() == '=' ? 1 : content.front() == '-' ? 2 : 3;
}

/// The level of a line that is a paragraph of its own; 0: not a heading.
int level_alone(std::string_view content) noexcept {
  if (content.empty() || content.size() > longest_plain_heading || content.find("...") != std::string_view::npos) return 0;
  if (content.ends_with('.') || content.ends_with(',') || content.ends_with("。") || content.ends_with("、")) return 0;
  if (is_bracketed(content)) return 2;
  const int chapter = chapter_level(content);
  return chapter != 0 ? chapter : numbered_level(content);
}

void refer_urls(gatherer& gathered, const piece& one) {
  if (one.what == part::mark || !gathered.wants_links()) return;
  const auto raw = gathered.text().substr(0, one.end);
  auto number = one.first_line;
  auto counted = one.begin;
  for (auto at = raw.find("://", one.begin); at != std::string_view::npos; at = raw.find("://", at + 3)) {
    const auto length = raw.substr(0, at).ends_with("https") ? 5u : 4u;
    if (at < one.begin + length) continue;
    const auto end = end_of_url(raw, at - length);
    if (end == at - length) continue;
    number += static_cast<std::size_t>(
        std::count(raw.begin() + static_cast<std::ptrdiff_t>(counted), raw.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
    counted = at;
    std::string url(raw.substr(at - length, end - at + length));
    gathered.refer({url, url, number, false});
    // A URL inside a URL is not a link.
    at = std::max(at, end - std::min<std::size_t>(end, 3));
  }
}

}  // namespace

void read_plain(std::string_view text, hearer& to) {
  gatherer gathered(text, to);
  line_reader lines(text);
  line one;
  line next;
  bool is_after_blank = true;
  while (gathered.is_wanted() && lines.read(one)) {
    const auto content = trimmed(gathered.in(one));
    if (content.empty()) {
      refer_urls(gathered, gathered.close());
      is_after_blank = true;
      continue;
    }
    const bool has_next = lines.look(next);
    const auto below = has_next ? trimmed(gathered.in(next)) : std::string_view();
    int level = 0;
    bool is_underlined = false;
    if (is_after_blank && content.size() <= longest_plain_heading) {
      level = below.empty() ? level_alone(content) : 0;
      const int underlined = underline_of(below);
      if (underlined != 0 && underline_of(content) == 0 && below.size() * 2 >= columns_of(content)) {
        level = underlined;
        is_underlined = true;
      }
    }
    is_after_blank = false;
    if (level == 0) {
      gathered.extend(part::prose, one);
      continue;
    }
    if (is_underlined) (void)lines.read(next);
    const auto& last = is_underlined ? next : one;
    gathered.emit({part::heading, one.begin, last.end, one.number, last.number, level, std::string(content), {}});
    is_after_blank = true;
  }
  refer_urls(gathered, gathered.close());
}

}  // namespace hondana::markup
