/// How texts may be written: in bytes, and in characters of two or four bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace hondana::secrets {

/// Characters of more than one byte, all as wide as the others (a pair of surrogates counts as two).
enum class width : std::uint8_t { utf16_le, utf16_be, utf32_le, utf32_be };
inline constexpr std::array all_widths{width::utf16_le, width::utf16_be, width::utf32_le, width::utf32_be};

[[nodiscard]] constexpr std::size_t bytes_of(width one) noexcept {
  return one == width::utf16_le || one == width::utf16_be ? 2 : 4;
}
/// Which byte of an ASCII character is not NUL.
[[nodiscard]] constexpr std::size_t ascii_byte_of(width one) noexcept {
  return one == width::utf16_be ? 1 : one == width::utf32_be ? 3 : 0;
}

/// How much of the front of a source says how it is written.
inline constexpr std::size_t front_bytes = 512;

/// In what widths a text may be written, or a part of it: it may have bytes besides.
class widths {
 public:
  void add(width one) noexcept { bits_ = static_cast<std::uint8_t>(bits_ | bit_of(one)); }
  [[nodiscard]] bool has(width one) const noexcept { return (bits_ & bit_of(one)) != 0; }
  [[nodiscard]] bool any() const noexcept { return bits_ != 0; }
  /// Of the widest character.
  [[nodiscard]] std::size_t most_bytes() const noexcept {
    return !any() ? 1 : has(width::utf32_le) || has(width::utf32_be) ? 4 : 2;
  }

  /// Whether a mark says so, or NULs in half of the characters or more; else it is no more than possible.
  bool is_evident = false;

 private:
  static constexpr unsigned bit_of(width one) noexcept { return 1u << static_cast<unsigned>(one); }
  std::uint8_t bits_ = 0;
};

/// What the front says, by its byte order mark or by what it may be at all, which may be several: Japanese has NULs only where
/// ASCII or an ideographic space stands, so there may be none in the front. What is plain UTF-8 there is taken for that.
[[nodiscard]] widths widths_of(std::string_view front) noexcept;

/// Of a row of ASCII in wider characters that is always found.
inline constexpr std::size_t row_bytes = 24;

/// In what widths a dozen characters of ASCII stand in a row somewhere in `text`, at a multiple of their bytes (UTF-16 also one
/// byte off, as the other order): whatever the front says, a program may have appended what it writes otherwise.
[[nodiscard]] widths widths_within(std::string_view text) noexcept;

/// Its units as bytes, those that are no ASCII as one that nothing looks for.
[[nodiscard]] std::string narrowed(std::string_view wide, width how);

}  // namespace hondana::secrets
