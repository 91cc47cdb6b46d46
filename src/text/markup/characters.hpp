/// Characters of UTF-8 with their classes, and lines of a text.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>

#include "base/ascii/ascii.hpp"

namespace hondana::markup {

/// One line. `end`: the end of its content, without CR and LF; `next`: the beginning of the next line.
struct line {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t next = 0;
  std::size_t number = 0;  ///< From 1.
};

/// Iterates over the lines of a text. `number`: the number of the first line.
class line_reader {
 public:
  explicit line_reader(std::string_view text, std::size_t begin = 0, std::size_t number = 1) noexcept
      : text_(text), next_(begin), number_(number) {}

  /// Returns false at the end of the text.
  bool read(line& into) noexcept {
    if (next_ >= text_.size()) return false;
    into.begin = next_;
    into.number = number_++;
    const auto* found = static_cast<const char*>(std::memchr(text_.data() + next_, '\n', text_.size() - next_));
    into.end = found == nullptr ? text_.size() : static_cast<std::size_t>(found - text_.data());
    into.next = next_ = found == nullptr ? into.end : into.end + 1;
    if (into.end > into.begin && text_[into.end - 1] == '\r') --into.end;
    return true;
  }
  /// Reads the next line without advancing.
  [[nodiscard]] bool look(line& into) const noexcept { return line_reader(*this).read(into); }

 private:
  std::string_view text_;
  std::size_t next_;
  std::size_t number_;
};

[[nodiscard]] constexpr bool is_punctuation(char c) noexcept {
  return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
}

[[nodiscard]] constexpr std::string_view trimmed(std::string_view text) noexcept {
  while (!text.empty() && ascii::is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && ascii::is_space(text.back())) text.remove_suffix(1);
  return text;
}
[[nodiscard]] constexpr bool is_blank(std::string_view text) noexcept {
  return std::all_of(text.begin(), text.end(), ascii::is_space);
}

[[nodiscard]] inline std::size_t lines_in(std::string_view text) noexcept {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + (text.empty() || text.back() == '\n' ? 0 : 1);
}

struct character {
  char32_t point = 0;
  std::size_t bytes = 0;
};

/// The character at `at`, which is within the text. A byte that does not begin a character is U+FFFD with a length of one byte.
[[nodiscard]] character character_at(std::string_view text, std::size_t at) noexcept;

void append_character(std::string& out, char32_t point);

/// The last position at or before `at` where a character begins.
[[nodiscard]] std::size_t boundary_before(std::string_view text, std::size_t at) noexcept;

/// The longest prefix of at most `most` bytes, in whole characters.
[[nodiscard]] std::string_view front_of(std::string_view text, std::size_t most) noexcept;

[[nodiscard]] bool is_word(char32_t point) noexcept;         ///< A letter, mark, decimal digit or connector.
[[nodiscard]] bool is_mark(char32_t point) noexcept;         ///< A character that combines with the one before it.
[[nodiscard]] bool is_punctuation(char32_t point) noexcept;  ///< Punctuation or a symbol.
[[nodiscard]] char32_t in_lower_case(char32_t point) noexcept;
/// Width in columns of a terminal; Japanese characters have two.
[[nodiscard]] std::size_t columns_of(std::string_view text) noexcept;

}  // namespace hondana::markup
