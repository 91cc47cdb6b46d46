/// Makes text from outside safe to display: control characters, invisible characters and invalid UTF-8.
#include "sources/metrics/charts/display_text.hpp"

#include <cstdint>
#include <optional>

namespace hondana::charts {
namespace {

constexpr char32_t replacement = U'\uFFFD';

/// Removes and returns the first character. Spec: Unicode, table 3-7.
char32_t decode_character(std::string_view& text) noexcept {
  const auto byte = [&](std::size_t index) { return static_cast<unsigned char>(text[index]); };
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
  for (std::size_t i = 1; i < size; ++i) {
    const unsigned low = i == 1 && first == 0xe0 ? 0xa0u : i == 1 && first == 0xf0 ? 0x90u : 0x80u;
    const unsigned high = i == 1 && first == 0xed ? 0x9fu : i == 1 && first == 0xf4 ? 0x8fu : 0xbfu;
    if (i >= text.size() || byte(i) < low || byte(i) > high) {
      text.remove_prefix(i);
      return replacement;
    }
    out = out << 6 | (byte(i) & 0x3fu);
  }
  text.remove_prefix(size);
  return out;
}

/// The character to show instead. Nothing if it is removed.
std::optional<char32_t> display_character(char32_t c) noexcept {
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

void append_character(std::string& output, char32_t c) {
  const auto append_byte = [&](std::uint32_t value) { output.push_back(static_cast<char>(value)); };
  if (c < 0x80) {
    append_byte(c);
  } else if (c < 0x800) {
    append_byte(0xc0 | c >> 6);
    append_byte(0x80 | (c & 0x3f));
  } else if (c < 0x10000) {
    append_byte(0xe0 | c >> 12);
    append_byte(0x80 | (c >> 6 & 0x3f));
    append_byte(0x80 | (c & 0x3f));
  } else {
    append_byte(0xf0 | c >> 18);
    append_byte(0x80 | (c >> 12 & 0x3f));
    append_byte(0x80 | (c >> 6 & 0x3f));
    append_byte(0x80 | (c & 0x3f));
  }
}

}  // namespace

std::string display_text(std::string_view text, std::size_t max_characters) {
  std::u32string characters;
  while (!text.empty()) {
    if (const auto c = display_character(decode_character(text))) characters.push_back(*c);
  }
  std::string out;
  if (characters.size() > max_characters) {
    const std::size_t head = max_characters / 2;
    const std::size_t tail = max_characters - head - 1;
    for (std::size_t i = 0; i < head; ++i) append_character(out, characters[i]);
    append_character(out, U'…');
    for (std::size_t j = characters.size() - tail; j < characters.size(); ++j) append_character(out, characters[j]);
  } else {
    for (const char32_t c : characters) append_character(out, c);
  }
  return out;
}

}  // namespace hondana::charts
