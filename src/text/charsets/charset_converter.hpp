/// The C library's iconv converters, and tables of Japanese character sets.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hondana::charsets {

/// What one code of a table is: a character, with a second one that combines with it, or 0: none.
struct coded {
  char32_t first = 0;
  char32_t second = 0;
};

/// The characters of the Japanese sets, by their codes. Made once; 400 KiB.
struct japanese_tables {
  static constexpr std::size_t rows = 94;
  using set = std::array<coded, rows * rows>;
  set jis_x_0208{};                        ///< With NEC's and IBM's extensions, as EUC-JP-MS has them.
  set jis_x_0212{};                        ///< Likewise.
  set jis_x_0213_1{};                      ///< JIS X 0213, plane 1,
  set jis_x_0213_2{};                      ///< and plane 2.
  std::array<char32_t, 60 * 188> cp932{};  ///< Shift_JIS as CP932 has it.
};

/// Null: the C library has no converters, or may not read them.
[[nodiscard]] const japanese_tables* loaded_tables();

/// Text as UTF-8 with U+FFFD for each byte that is none of that charset, as often as `replaced` says.
struct converted {
  std::string text{};
  std::size_t replaced = 0;
};
/// Converts from a charset that the C library knows. Nothing: it cannot. Time: linear.
[[nodiscard]] std::optional<converted> convert(std::string_view bytes, const char* from);
/// Keeps the C library's converter of a charset in memory until the process ends.
void keep_converter(const char* from);

}  // namespace hondana::charsets
