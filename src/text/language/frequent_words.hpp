/// Words that give a language away.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace hondana::language {

/// The languages that are told apart by their words, in the order of their bits.
inline constexpr std::string_view told_by_words[] = {"en", "de", "fr", "es", "it", "pt", "nl", "sv"};
inline constexpr std::size_t count_of_told = sizeof told_by_words / sizeof told_by_words[0];

/// In which of these languages a word in lower case is frequent, a bit for each; 0: in none.
[[nodiscard]] std::uint8_t where_frequent(std::string_view word) noexcept;
/// In which of them a letter that is not ASCII is usual.
[[nodiscard]] std::uint8_t where_usual(char32_t letter) noexcept;
/// Characters of Japanese alone (+1: iteration marks, kokuji, simplified as in Japan only), of Chinese alone (-1), or neither.
[[nodiscard]] int japanese_or_chinese(char32_t han) noexcept;

}  // namespace hondana::language
