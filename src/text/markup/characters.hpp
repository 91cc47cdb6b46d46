/// Characters of UTF-8 with their classes, and lines of a text.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "base/ascii/ascii.hpp"

namespace hondana::markup {

/// One line.
struct text_line {
  std::size_t begin = 0;
  std::size_t end = 0;     ///< End of its content, without CR and LF.
  std::size_t next = 0;    ///< Beginning of the next line.
  std::size_t number = 0;  ///< From 1.
};

/// Iterates over the lines of a text.
class line_reader {
 public:
  /// `begin`: where to begin; `number`: the number of the line there.
  explicit line_reader(std::string_view text, std::size_t begin = 0, std::size_t number = 1) noexcept
      : text_(text), next_(begin), number_(number) {}

  /// Reads the next line into `out`. Returns false at the end of the text.
  bool read(text_line& out) noexcept {
    if (next_ >= text_.size()) return false;
    out.begin = next_;
    out.number = number_++;
    const auto* newline = static_cast<const char*>(std::memchr(text_.data() + next_, '\n', text_.size() - next_));
    out.end = newline == nullptr ? text_.size() : static_cast<std::size_t>(newline - text_.data());
    out.next = next_ = newline == nullptr ? out.end : out.end + 1;
    if (out.end > out.begin && text_[out.end - 1] == '\r') --out.end;
    return true;
  }
  /// Reads the next line without advancing.
  [[nodiscard]] bool peek(text_line& out) const noexcept { return line_reader(*this).read(out); }

 private:
  std::string_view text_;
  std::size_t next_;
  std::size_t number_;
};

[[nodiscard]] constexpr bool is_punctuation(char c) noexcept {
  return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
}

[[nodiscard]] constexpr std::string_view trim(std::string_view text) noexcept {
  while (!text.empty() && ascii::is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && ascii::is_space(text.back())) text.remove_suffix(1);
  return text;
}
[[nodiscard]] constexpr bool is_blank(std::string_view text) noexcept {
  return std::all_of(text.begin(), text.end(), ascii::is_space);
}

/// Counts lines, also a last one without a newline.
[[nodiscard]] inline std::size_t count_lines(std::string_view text) noexcept {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + (text.empty() || text.back() == '\n' ? 0 : 1);
}

/// A code point, and its length in UTF-8.
struct character {
  char32_t point = 0;
  std::size_t bytes = 0;
};

/// Returns the character at `position`, which must be within the text. A byte that does not begin a character is U+FFFD with a
/// length of one byte.
[[nodiscard]] character character_at(std::string_view text, std::size_t position) noexcept;

/// Appends a code point; U+FFFD if it is invalid.
void append_utf8(std::string& out, char32_t point);

/// Returns the last position at or before `position` where a character begins; at most the size of the text.
[[nodiscard]] std::size_t boundary_before(std::string_view text, std::size_t position) noexcept;

/// Returns the longest prefix of at most `max_bytes` bytes, in whole characters.
[[nodiscard]] std::string_view utf8_prefix(std::string_view text, std::size_t max_bytes) noexcept;

[[nodiscard]] bool is_word_character(char32_t point) noexcept;  ///< A letter, mark, decimal digit or connector.
[[nodiscard]] bool is_combining_mark(char32_t point) noexcept;  ///< A character that combines with the one before it.
[[nodiscard]] bool is_punctuation(char32_t point) noexcept;     ///< Punctuation or a symbol.
[[nodiscard]] char32_t to_lower(char32_t point) noexcept;
/// Returns the text in superscript characters: `10` becomes `¹⁰`. No value unless all characters exist, which are digits and
/// `+ - = ( ) n i`.
[[nodiscard]] std::optional<std::string> to_superscript(std::string_view text);
/// The same for subscripts, without `n` and `i`.
[[nodiscard]] std::optional<std::string> to_subscript(std::string_view text);
/// Returns the width in columns of a terminal. A full-width Japanese character has two.
[[nodiscard]] std::size_t display_width(std::string_view text) noexcept;

}  // namespace hondana::markup
