/// Characters of UTF-8, one by one.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hondana::markup {

struct character {
  char32_t point = 0;
  std::size_t bytes = 0;
};

/// A byte that begins no character is U+FFFD, and one byte long. `at` is within the text.
[[nodiscard]] character character_at(std::string_view text, std::size_t at) noexcept;

void append_character(std::string& out, char32_t point);

/// The last place at or before `at` where a character begins.
[[nodiscard]] std::size_t boundary_before(std::string_view text, std::size_t at) noexcept;

/// At most `most` bytes of the front, in whole characters.
[[nodiscard]] std::string_view front_of(std::string_view text, std::size_t most) noexcept;

[[nodiscard]] bool is_word(char32_t point) noexcept;         ///< A letter, mark, decimal digit or connector.
[[nodiscard]] bool is_mark(char32_t point) noexcept;         ///< It combines with the character before it.
[[nodiscard]] bool is_punctuation(char32_t point) noexcept;  ///< Or a symbol.
[[nodiscard]] char32_t in_lower_case(char32_t point) noexcept;
/// In columns of a terminal; Japanese characters have two.
[[nodiscard]] std::size_t columns_of(std::string_view text) noexcept;

}  // namespace hondana::markup
