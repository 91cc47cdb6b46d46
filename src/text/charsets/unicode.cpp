/// UTF-8, UTF-16 and UTF-32.
#include "text/charsets/unicode.hpp"

#include "base/ascii/utf8.hpp"

namespace hondana::charsets {
namespace {

void put(converted& into, char32_t c) {
  const bool is_bad = c == 0 || (c >= 0xD800 && c <= 0xDFFF) || c > 0x10FFFF;
  if (is_bad) ++into.replaced;
  ascii::append(into.text, is_bad ? ascii::replacement : c);
}

char32_t unit_at(std::string_view bytes, std::size_t at, bool is_big_endian) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<char32_t>(static_cast<unsigned char>(bytes[i])); };
  return is_big_endian ? byte(at) << 8 | byte(at + 1) : byte(at + 1) << 8 | byte(at);
}

bool is_high(char32_t unit) noexcept { return unit >= 0xD800 && unit <= 0xDBFF; }
bool is_low(char32_t unit) noexcept { return unit >= 0xDC00 && unit <= 0xDFFF; }

/// What speaks for a unit in its order: ASCII and kana most; what has no low byte is rare, but for an ideographic space.
int plausibility_of(char32_t unit) noexcept {
  if (unit < 0x80) return 2;
  if ((unit & 0xFF) == 0 && unit != 0x3000 && unit != 0x4E00) return -2;
  if (unit >= 0x3000 && unit <= 0x30FF) return 2;
  const bool is_usual = unit < 0x700 || (unit >= 0xE00 && unit < 0xE80) || (unit >= 0x2010 && unit < 0x2700) ||
                        (unit >= 0x4E00 && unit < 0xA000) || (unit >= 0xAC00 && unit < 0xE000) || unit >= 0xFF00;
  return is_usual ? 1 : -2;
}

/// Least where it cannot be.
long plausibility_of(std::string_view bytes, bool is_big_endian) noexcept {
  constexpr long impossible = -1;
  long out = 0;
  bool is_after_high = false;
  for (std::size_t at = 0; at + 1 < bytes.size(); at += 2) {
    const auto unit = unit_at(bytes, at, is_big_endian);
    if (is_low(unit) != is_after_high) return impossible;
    is_after_high = is_high(unit);
    const bool is_control = unit < 0x20 && !(unit >= 0x09 && unit <= 0x0D) && unit != 0x1B;
    if (is_control || unit == 0xFFFE || unit == 0xFFFF) return impossible;
    out += plausibility_of(unit);
  }
  // On average everything is usual.
  return is_after_high || out < static_cast<long>(bytes.size() / 2) ? impossible : out;
}

}  // namespace

utf8_reading read_utf8(std::string_view bytes) noexcept {
  utf8_reading out;
  while (!bytes.empty()) {
    const auto c = ascii::first_character(bytes);
    if (!c.is_well_formed)
      ++out.bad;
    else if (c.code >= 0x80)
      ++out.good;
    bytes.remove_prefix(c.bytes);
  }
  return out;
}

converted from_utf8(std::string_view bytes) {
  converted out;
  out.text.reserve(bytes.size());
  while (!bytes.empty()) {
    const auto c = ascii::first_character(bytes);
    put(out, c.is_well_formed ? c.code : 0);
    bytes.remove_prefix(c.bytes);
  }
  return out;
}

converted from_utf16(std::string_view bytes, bool is_big_endian) {
  converted out;
  out.text.reserve(bytes.size() + bytes.size() / 2);
  std::size_t at = 0;
  for (; at + 1 < bytes.size(); at += 2) {
    const auto unit = unit_at(bytes, at, is_big_endian);
    const auto next = at + 3 < bytes.size() ? unit_at(bytes, at + 2, is_big_endian) : 0;
    if (is_high(unit) && is_low(next)) {
      put(out, 0x10000 + ((unit - 0xD800) << 10) + (next - 0xDC00));
      at += 2;
    } else {
      put(out, unit);
    }
  }
  if (at < bytes.size()) put(out, 0);
  return out;
}

converted from_utf32(std::string_view bytes, bool is_big_endian) {
  converted out;
  out.text.reserve(bytes.size());
  std::size_t at = 0;
  for (; at + 3 < bytes.size(); at += 4) {
    const auto first = unit_at(bytes, at, is_big_endian), second = unit_at(bytes, at + 2, is_big_endian);
    put(out, is_big_endian ? first << 16 | second : second << 16 | first);
  }
  if (at < bytes.size()) put(out, 0);
  return out;
}

order evident_utf16(std::string_view bytes) noexcept {
  if (bytes.size() < 2 || bytes.size() % 2 != 0) return order::none;
  const auto little = plausibility_of(bytes, false), big = plausibility_of(bytes, true);
  if (little == big || (little < 0 && big < 0)) return order::none;
  return little > big ? order::little : order::big;
}

}  // namespace hondana::charsets
