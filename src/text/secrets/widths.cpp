/// Telling widths by a front.
#include "text/secrets/widths.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>

#include "base/ascii/utf8.hpp"

namespace hondana::secrets {
namespace {

constexpr std::size_t least_front = 8;  // what is shorter has no secret in it

bool is_control(char32_t code) noexcept { return code < 0x20 && !(code >= 0x08 && code <= 0x0D) && code != 0x1B; }

/// UTF-8 that texts have, but for a character that the front cuts off.
bool is_plain(std::string_view front) noexcept {
  while (!front.empty()) {
    const auto one = ascii::first_character(front);
    if (!one.is_well_formed)
      return one.bytes == front.size() && front.size() < 4 && static_cast<unsigned char>(front[0]) >= 0xC2;
    if (is_control(one.code)) return false;
    front.remove_prefix(one.bytes);
  }
  return true;
}

char32_t unit_at(std::string_view text, std::size_t at, width how) noexcept {
  const auto bytes = bytes_of(how);
  const bool is_big = ascii_byte_of(how) != 0;
  char32_t code = 0;
  for (std::size_t i = 0; i < bytes; ++i)
    code = code << 8 | static_cast<unsigned char>(text[at + (is_big ? i : bytes - 1 - i)]);
  return code;
}

bool is_private(char32_t code) noexcept { return (code >= 0xE000 && code <= 0xF8FF) || code >= 0xF0000; }

/// Whether it has no more of what no text has, or few have, than one character in thirty. Of what is compressed or random,
/// private characters tell: one in ten of its units of 16 bits is one.
bool may_be(std::string_view front, width how) noexcept {
  const auto bytes = bytes_of(how);
  std::size_t units = 0, wrong = 0;
  bool is_after_high = false;
  for (std::size_t at = 0; at + bytes <= front.size(); at += bytes, ++units) {
    const auto code = unit_at(front, at, how);
    const bool is_low = code >= 0xDC00 && code <= 0xDFFF;
    const bool is_alone = bytes == 2 ? is_low != is_after_high : code >= 0xD800 && code <= 0xDFFF;
    is_after_high = bytes == 2 && code >= 0xD800 && code <= 0xDBFF;
    if (is_alone || is_control(code) || is_private(code) || code == 0xFFFE || code == 0xFFFF) ++wrong;
  }
  return wrong <= 1 || wrong * 30 <= units;
}

/// Such as a text of ASCII is written in.
std::optional<width> evident_width(std::string_view front) noexcept {
  const auto units = front.size() / 2;
  std::array<std::size_t, 2> zeros{};
  for (std::size_t i = 0; i < 2 * units; ++i) {
    if (front[i] == '\0') ++zeros[i % 2];
  }
  if (zeros[0] == 0 && zeros[1] * 2 >= units) return width::utf16_le;
  if (zeros[1] == 0 && zeros[0] * 2 >= units) return width::utf16_be;
  return std::nullopt;
}

/// Whether eight bytes are characters of ASCII in a width, none of them NUL: a number of so many bits in each lane, of which
/// `shift` say where in the lane its byte stands.
constexpr bool is_ascii_in(std::uint64_t word, std::uint64_t ones, unsigned shift) noexcept {
  const auto bytes = ones * 0xFF << shift;
  if ((word & ~bytes) != 0) return false;
  return (((word >> shift) + ones * 0x7F) & ones * 0x80) == ones * 0x80;
}
constexpr std::uint64_t ones_of_16 = 0x0001'0001'0001'0001, ones_of_32 = 0x0000'0001'0000'0001;
constexpr std::uint64_t beyond_ascii = 0x8080'8080'8080'8080;
static_assert(std::endian::native == std::endian::little);

template <std::size_t bytes>
std::string narrowed_by(std::string_view wide, std::size_t of_ascii) {
  std::string out(wide.size() / bytes, '\x80');
  for (std::size_t i = 0; i < out.size(); ++i) {
    unsigned others = 0;
    for (std::size_t k = 0; k < bytes; ++k) {
      if (k != of_ascii) others |= static_cast<unsigned char>(wide[bytes * i + k]);
    }
    const char low = wide[bytes * i + of_ascii];
    if (others == 0 && static_cast<unsigned char>(low) < 0x80) out[i] = low;
  }
  return out;
}

}  // namespace

widths widths_of(std::string_view front) noexcept {
  using namespace std::string_view_literals;
  front = front.substr(0, front_bytes);
  widths out;
  const auto begins_with_mark = [&](std::string_view mark, width how) {
    if (!front.starts_with(mark)) return;
    out.add(how);
    out.is_evident = true;
  };
  begins_with_mark("\xFF\xFE"sv, width::utf16_le);
  begins_with_mark("\xFE\xFF"sv, width::utf16_be);
  begins_with_mark("\xFF\xFE\0\0"sv, width::utf32_le);
  begins_with_mark("\0\0\xFE\xFF"sv, width::utf32_be);
  if (out.any() || front.size() < least_front || is_plain(front)) return out;
  if (const auto evident = evident_width(front)) {
    out.add(*evident);
    out.is_evident = true;
    return out;
  }
  for (const auto one : all_widths) {
    if (may_be(front, one)) out.add(one);
  }
  return out;
}

widths widths_within(std::string_view text) noexcept {
  // Of a row of 23 bytes or more one of these words is a part.
  constexpr std::size_t stride = 16;
  widths out;
  for (std::size_t at = 0; at + sizeof(std::uint64_t) <= text.size(); at += stride) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + at, sizeof word);
    if ((word & beyond_ascii) != 0) continue;
    if (is_ascii_in(word, ones_of_16, 0)) out.add(width::utf16_le);
    if (is_ascii_in(word, ones_of_16, 8)) out.add(width::utf16_be);
    if (is_ascii_in(word, ones_of_32, 0)) out.add(width::utf32_le);
    if (is_ascii_in(word, ones_of_32, 24)) out.add(width::utf32_be);
  }
  return out;
}

std::string narrowed(std::string_view wide, width how) {
  const auto of_ascii = ascii_byte_of(how);
  return bytes_of(how) == 2 ? narrowed_by<2>(wide, of_ascii) : narrowed_by<4>(wide, of_ascii);
}

}  // namespace hondana::secrets
