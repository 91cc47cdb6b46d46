/// Shift_JIS, EUC-JP and ISO-2022-JP, recognised and decoded byte by byte.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "text/charsets/charset_converter.hpp"

namespace hondana::charsets {

/// How a text reads in a charset.
struct reading {
  std::size_t characters = 0;  ///< That are not ASCII.
  std::size_t bad = 0;         ///< Places that are of another charset.
  std::size_t isolated = 0;    ///< Single characters between ASCII letters, which Latin text looks like.
  std::size_t kana = 0;        ///< Of full width.
  long score = 0;              ///< How much it looks like Japanese: frequent characters count for it, rare ones against it.

  /// Of a character.
  [[nodiscard]] double mean() const noexcept {
    const auto all = characters + bad;
    return all == 0 ? 0 : static_cast<double>(score) / static_cast<double>(all);
  }
};

[[nodiscard]] reading read_shift_jis(std::string_view bytes, const japanese_tables& by);
[[nodiscard]] reading read_euc_jp(std::string_view bytes, const japanese_tables& by);
/// Its `characters` are 0 where no two-byte set or katakana is ever chosen.
[[nodiscard]] reading read_iso_2022_jp(std::string_view bytes, const japanese_tables& by);

[[nodiscard]] converted from_shift_jis(std::string_view bytes, const japanese_tables& by);
[[nodiscard]] converted from_euc_jp(std::string_view bytes, const japanese_tables& by);
[[nodiscard]] converted from_iso_2022_jp(std::string_view bytes, const japanese_tables& by);

}  // namespace hondana::charsets
