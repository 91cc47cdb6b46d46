/// Decodes and encodes single code points of UTF-8.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace hondana::ascii {

/// U+FFFD, the code point that replaces malformed bytes.
inline constexpr char32_t replacement_character = 0xFFFD;

/// A decoded code point, or a malformed part of a text.
struct character {
  char32_t code = replacement_character;
  std::uint8_t bytes = 1;  ///< Its length in the text. Malformed: that of the maximal subpart (Unicode 15, 3.9, U+FFFD).
  bool is_well_formed = false;
};

/// Decodes the first code point of `text`, which must not be empty.
[[nodiscard]] constexpr character first_character(std::string_view text) noexcept {
  const auto byte = [text](std::size_t index) { return static_cast<unsigned char>(text[index]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1, true};
  const std::uint8_t bytes = lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;
  if (bytes == 0) return {};
  // The range of the second byte excludes overlong forms, surrogates and code points above U+10FFFF.
  const unsigned char min_second = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const unsigned char max_second = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  char32_t code = lead & (0x7Fu >> bytes);
  for (std::uint8_t index = 1; index < bytes; ++index) {
    const bool is_valid = index < text.size() && byte(index) >= (index == 1 ? min_second : 0x80) &&
                          byte(index) <= (index == 1 ? max_second : 0xBF);
    if (!is_valid) return {replacement_character, index, false};
    code = code << 6 | (byte(index) & 0x3Fu);
  }
  return {code, bytes, true};
}

/// Appends the UTF-8 encoding of `code`, which must be at most U+10FFFF and not a surrogate.
inline void append_utf8(std::string& out, char32_t code) {
  const auto append_byte = [&out](char32_t bits) { out += static_cast<char>(static_cast<unsigned char>(bits)); };
  if (code < 0x80) {
    append_byte(code);
  } else if (code < 0x800) {
    append_byte(0xC0 | code >> 6);
    append_byte(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    append_byte(0xE0 | code >> 12);
    append_byte(0x80 | (code >> 6 & 0x3F));
    append_byte(0x80 | (code & 0x3F));
  } else {
    append_byte(0xF0 | code >> 18);
    append_byte(0x80 | (code >> 12 & 0x3F));
    append_byte(0x80 | (code >> 6 & 0x3F));
    append_byte(0x80 | (code & 0x3F));
  }
}

}  // namespace hondana::ascii
