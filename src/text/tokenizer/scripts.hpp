/// How characters are written: as words with spaces or without.
#pragma once

#include <cstdint>

namespace hondana::tokenizer {

enum class writing : std::uint8_t {
  gap,       ///< Spaces, marks, symbols, and what is no character.
  word,      ///< Letters and digits of scripts that write words.
  japanese,  ///< Han and kana.
  hangul,    ///< Words with spaces, each with endings of its own.
  unspaced,  ///< Thai, Lao, Khmer, Myanmar.
};

/// Of a folded character.
[[nodiscard]] writing writing_of(char32_t c) noexcept;

}  // namespace hondana::tokenizer
