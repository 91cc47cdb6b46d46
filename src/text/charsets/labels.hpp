/// Names of charsets.
#pragma once

#include <cstdint>
#include <string_view>

namespace hondana::charsets {

enum class family : std::uint8_t { utf_8, utf_16, utf_16le, utf_16be, shift_jis, euc_jp, iso_2022_jp, of_c_library };

struct charset {
  std::string_view name{};          ///< As IANA writes it.
  const char* converter = nullptr;  ///< What the C library calls it.
  family is = family::of_c_library;
};

/// What a label means: `Shift_JIS`, `text/html; charset=x-sjis`, `euc-jp-unix`. Null: nothing that is known. Only charsets that
/// are listed here are ever asked of the C library.
[[nodiscard]] const charset* charset_of(std::string_view label) noexcept;
/// Keeps the converters of all that are listed.
void keep_all_converters();

}  // namespace hondana::charsets
