/// Makes text from outside safe to display: control characters, invisible characters and invalid UTF-8.
#include "sources/metrics/charts/display_text.hpp"

#include <cstdint>
#include <optional>

namespace hondana::charts {
namespace {

constexpr char32_t replacement = U'\uFFFD';

/// Removes and returns the first character. Spec: Unicode, table 3-7.
char32_t take_character(std::string_view& text) noexcept {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  const unsigned char first = byte(0);
  const std::size_t size = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  if (size == 1) {
    text.remove_prefix(1);
    return first;
  }
  if (size == 0) {
    text.remove_prefix(1);
    return replacement;
  }
  char32_t out = first & (0x7fu >> size);
  for (std::size_t at = 1; at < size; ++at) {
    const unsigned low = at == 1 && first == 0xe0 ? 0xa0u : at == 1 && first == 0xf0 ? 0x90u : 0x80u;
    const unsigned high = at == 1 && first == 0xed ? 0x9fu : at == 1 && first == 0xf4 ? 0x8fu : 0xbfu;
    if (at >= text.size() || byte(at) < low || byte(at) > high) {
      text.remove_prefix(at);
      return replacement;
    }
    out = out << 6 | (byte(at) & 0x3fu);
  }
  text.remove_prefix(size);
  return out;
}

/// The character to show instead. Nothing if it is removed.
std::optional<char32_t> shown_character(char32_t c) noexcept {
  if (c < 0x20) return 0x2400 + c;
  if (c == 0x7f) return U'\u2421';
  if (c < 0xa0 && c > 0x7f) return replacement;
  if (c == 0x2028 || c == 0x2029) return U'\u2424';
  const bool is_hidden = c == 0xad || c == 0x61c || c == 0x180e || c == 0x200b || c == 0x200e || c == 0x200f ||
                         (c >= 0x202a && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) || c == 0xfeff ||
                         (c >= 0xfff9 && c <= 0xfffb) || (c >= 0xe0000 && c <= 0xe0fff);
  if (is_hidden) return std::nullopt;
  if ((c >= 0xfdd0 && c <= 0xfdef) || (c & 0xfffe) == 0xfffe) return replacement;
  return c;
}

void append_character(std::string& to, char32_t c) {
  const auto put = [&](std::uint32_t value) { to.push_back(static_cast<char>(value)); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xc0 | c >> 6);
    put(0x80 | (c & 0x3f));
  } else if (c < 0x10000) {
    put(0xe0 | c >> 12);
    put(0x80 | (c >> 6 & 0x3f));
    put(0x80 | (c & 0x3f));
  } else {
    put(0xf0 | c >> 18);
    put(0x80 | (c >> 12 & 0x3f));
    put(0x80 | (c >> 6 & 0x3f));
    put(0x80 | (c & 0x3f));
  }
}

}  // namespace

std::string shown_text(std::string_view text, std::size_t most) {
  std::u32string all;
  while (!text.empty()) {
    if (const auto c = shown_character(take_character(text))) all.push_back(*c);
  }
  std::string out;
  if (all.size() > most) {
    const std::size_t head = most / 2;
    const std::size_t tail = most - head - 1;
    for (std::size_t at = 0; at < head; ++at) append_character(out, all[at]);
    append_character(out, U'…');
    for (std::size_t at = all.size() - tail; at < all.size(); ++at) append_character(out, all[at]);
  } else {
    for (const char32_t c : all) append_character(out, c);
  }
  return out;
}

}  // namespace hondana::charts
