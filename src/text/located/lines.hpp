/// Lines of a text, for the formats that are read line by line.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace hondana::located {

[[nodiscard]] constexpr bool is_blank(char c) noexcept { return c == ' ' || c == '\t' || c == '\f' || c == '\v' || c == '\r'; }

/// A stretch of a text.
struct stretch {
  std::size_t begin = 0;
  std::size_t end = 0;

  [[nodiscard]] bool empty() const noexcept { return begin == end; }
  [[nodiscard]] std::string_view of(std::string_view text) const noexcept { return text.substr(begin, end - begin); }
};

/// The line that begins at `begin`, without its end.
[[nodiscard]] inline stretch line_from(std::string_view text, std::size_t begin) noexcept {
  auto end = std::min(text.find('\n', begin), text.size());
  if (end > begin && text[end - 1] == '\r') --end;
  return {begin, end};
}

/// Where the line behind `line` begins; beyond the text when there is none.
[[nodiscard]] inline std::size_t behind(std::string_view text, stretch line) noexcept {
  const auto end = text.find('\n', line.end);
  return end == std::string_view::npos ? text.size() + 1 : end + 1;
}

/// Without blanks at either end.
[[nodiscard]] inline stretch trimmed(std::string_view text, stretch from) noexcept {
  while (from.begin < from.end && is_blank(text[from.begin])) ++from.begin;
  while (from.begin < from.end && is_blank(text[from.end - 1])) --from.end;
  return from;
}

}  // namespace hondana::located
