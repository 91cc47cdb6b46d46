/// The C library's iconv converters, and tables of Japanese character sets.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hondana::charsets {

/// The character for one code of a table, with a combining character if it needs one. 0: none.
struct mapped_character {
  char32_t first = 0;
  char32_t second = 0;
};

/// The characters of the Japanese sets, indexed by code. Created once; 400 KiB.
struct japanese_tables {
  static constexpr std::size_t rows = 94;
  using charset_table = std::array<mapped_character, rows * rows>;
  charset_table jis_x_0208{};              ///< With the extensions of NEC and IBM, as in EUC-JP-MS.
  charset_table jis_x_0212{};              ///< With the same extensions.
  charset_table jis_x_0213_1{};            ///< JIS X 0213, plane 1.
  charset_table jis_x_0213_2{};            ///< JIS X 0213, plane 2.
  std::array<char32_t, 60 * 188> cp932{};  ///< Shift_JIS as defined by CP932, by first and second byte.
};

/// Returns the tables, which the first call creates. Null: the C library has no converters, or cannot read their files.
[[nodiscard]] const japanese_tables* load_japanese_tables();

/// Text as UTF-8. Each byte that is invalid in the charset, and NUL, becomes U+FFFD.
struct converted_text {
  std::string text{};
  std::size_t replacements = 0;  ///< Number of such U+FFFD.
};
/// Converts from a charset with this name for iconv. No value: the C library does not support it. Time: linear.
[[nodiscard]] std::optional<converted_text> convert(std::string_view bytes, const char* charset);
/// Keeps the C library's converter of a charset loaded until the process ends.
void preload_converter(const char* charset);

}  // namespace hondana::charsets
