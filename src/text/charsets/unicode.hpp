/// Texts that are Unicode already.
#pragma once

#include <cstddef>
#include <string_view>

#include "text/charsets/converting.hpp"

namespace hondana::charsets {

struct utf8_reading {
  std::size_t good = 0;  ///< Characters that are not ASCII.
  std::size_t bad = 0;   ///< Places that are not UTF-8.
};
[[nodiscard]] utf8_reading read_utf8(std::string_view bytes) noexcept;
/// U+FFFD for what is malformed, and for NUL.
[[nodiscard]] converted from_utf8(std::string_view bytes);
/// Likewise for lone surrogates and half a unit at the end.
[[nodiscard]] converted from_utf16(std::string_view bytes, bool is_big_endian);
[[nodiscard]] converted from_utf32(std::string_view bytes, bool is_big_endian);

enum class order : unsigned char { none, little, big };
/// In which order bytes without a mark evidently are UTF-16: well-formed, without control characters, and of plausible
/// characters.
[[nodiscard]] order evident_utf16(std::string_view bytes) noexcept;

}  // namespace hondana::charsets
