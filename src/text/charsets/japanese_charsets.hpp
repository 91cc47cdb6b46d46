/// Recognizes and decodes Shift_JIS, EUC-JP and ISO-2022-JP byte by byte.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "text/charsets/charset_converter.hpp"

namespace hondana::charsets {

/// Statistics of bytes, if they are decoded with a given charset.
struct decoding_statistics {
  std::size_t characters = 0;  ///< Valid characters that are not ASCII.
  std::size_t invalid = 0;     ///< Positions that are invalid in this charset.
  std::size_t isolated = 0;    ///< Single characters between ASCII letters, which indicate Latin text.
  std::size_t kana = 0;        ///< Full-width kana.
  long score = 0;              ///< Similarity to Japanese: frequent characters raise it, rare and invalid ones lower it.

  /// Returns the average score per character and invalid position; 0 if there are none.
  [[nodiscard]] double mean_score() const noexcept {
    const auto total = characters + invalid;
    return total == 0 ? 0 : static_cast<double>(score) / static_cast<double>(total);
  }
};

[[nodiscard]] decoding_statistics scan_shift_jis(std::string_view bytes, const japanese_tables& tables);
[[nodiscard]] decoding_statistics scan_euc_jp(std::string_view bytes, const japanese_tables& tables);
/// `characters` is 0 if the text never selects a two-byte set or katakana.
[[nodiscard]] decoding_statistics scan_iso_2022_jp(std::string_view bytes, const japanese_tables& tables);

[[nodiscard]] converted_text decode_shift_jis(std::string_view bytes, const japanese_tables& tables);
[[nodiscard]] converted_text decode_euc_jp(std::string_view bytes, const japanese_tables& tables);
[[nodiscard]] converted_text decode_iso_2022_jp(std::string_view bytes, const japanese_tables& tables);

}  // namespace hondana::charsets
