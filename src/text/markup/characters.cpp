/// Characters of UTF-8 with their classes, and lines of a text.
#include "text/markup/characters.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace hondana::markup {
namespace {

constexpr bool is_continuation_byte(char c) noexcept { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }
utf8proc_category_t category_of(char32_t point) noexcept { return utf8proc_category(static_cast<utf8proc_int32_t>(point)); }

}  // namespace

character character_at(std::string_view text, std::size_t position) noexcept {
  const auto first = static_cast<unsigned char>(text[position]);
  if (first < 0x80) return {first, 1};
  const std::size_t bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || position + bytes > text.size()) return {0xFFFD, 1};
  char32_t point = first & (0xFFu >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    if (!is_continuation_byte(text[position + i])) return {0xFFFD, 1};
    point = point << 6 | (static_cast<unsigned char>(text[position + i]) & 0x3Fu);
  }
  const bool is_valid = point >= (bytes == 4   ? 0x10000u
                                  : bytes == 3 ? 0x800u
                                               : 0x80u) &&
                        point <= 0x10FFFF && (point < 0xD800 || point > 0xDFFF);
  return is_valid ? character{point, bytes} : character{0xFFFD, 1};
}

void append_utf8(std::string& out, char32_t point) {
  if (point > 0x10FFFF || (point >= 0xD800 && point < 0xE000)) point = 0xFFFD;
  const auto add = [&out](char32_t byte) { out += static_cast<char>(static_cast<unsigned char>(byte)); };
  if (point < 0x80) return add(point);
  if (point < 0x800) {
    add(0xC0 | point >> 6);
  } else {
    if (point < 0x10000) {
      add(0xE0 | point >> 12);
    } else {
      add(0xF0 | point >> 18);
      add(0x80 | (point >> 12 & 0x3F));
    }
    add(0x80 | (point >> 6 & 0x3F));
  }
  add(0x80 | (point & 0x3F));
}

std::size_t boundary_before(std::string_view text, std::size_t position) noexcept {
  if (position >= text.size()) return text.size();
  // A run of more than three continuation bytes is malformed; cut it anywhere.
  for (std::size_t distance = 0; distance < 4 && distance <= position; ++distance)
    if (!is_continuation_byte(text[position - distance])) return position - distance;
  return position;
}

std::string_view utf8_prefix(std::string_view text, std::size_t max_bytes) noexcept {
  return text.substr(0, boundary_before(text, max_bytes));
}

bool is_combining_mark(char32_t point) noexcept {
  if (point < 0x300) return false;
  const auto category = category_of(point);
  return category == UTF8PROC_CATEGORY_MN || category == UTF8PROC_CATEGORY_MC || category == UTF8PROC_CATEGORY_ME ||
         point == 0x200D || point == 0xFF9E || point == 0xFF9F;
}

bool is_word_character(char32_t point) noexcept {
  if (point < 0x80) {
    return (point >= 'a' && point <= 'z') || (point >= 'A' && point <= 'Z') || (point >= '0' && point <= '9') || point == '_';
  }
  switch (category_of(point)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_PC:
      return true;
    default:
      return false;
  }
}

bool is_punctuation(char32_t point) noexcept {
  if (point < 0x80) return point > ' ' && point != 0x7F && (!is_word_character(point) || point == '_');
  const auto category = category_of(point);
  return category >= UTF8PROC_CATEGORY_PC && category <= UTF8PROC_CATEGORY_SO;
}

char32_t to_lower(char32_t point) noexcept {
  if (point < 0x80) return point >= 'A' && point <= 'Z' ? point + ('a' - 'A') : point;
  return static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(point)));
}

namespace {

struct script_character {
  std::string_view plain;
  std::string_view superscript;
  std::string_view subscript;  ///< Empty: none.
};
constexpr std::array<script_character, 18> script_characters{{{"0", "⁰", "₀"},
                                                              {"1", "¹", "₁"},
                                                              {"2", "²", "₂"},
                                                              {"3", "³", "₃"},
                                                              {"4", "⁴", "₄"},
                                                              {"5", "⁵", "₅"},
                                                              {"6", "⁶", "₆"},
                                                              {"7", "⁷", "₇"},
                                                              {"8", "⁸", "₈"},
                                                              {"9", "⁹", "₉"},
                                                              {"+", "⁺", "₊"},
                                                              {"-", "⁻", "₋"},
                                                              {"−", "⁻", "₋"},
                                                              {"=", "⁼", "₌"},
                                                              {"(", "⁽", "₍"},
                                                              {")", "⁾", "₎"},
                                                              {"n", "ⁿ", {}},
                                                              {"i", "ⁱ", {}}}};

std::optional<std::string> to_script(std::string_view text, std::string_view script_character::* form) {
  std::string out;
  for (std::size_t position = 0; position < text.size();) {
    const auto plain = text.substr(position, character_at(text, position).bytes);
    const auto match = std::find_if(script_characters.begin(), script_characters.end(),
                                    [plain](const script_character& entry) { return entry.plain == plain; });
    if (match == script_characters.end() || ((*match).*form).empty()) return std::nullopt;
    out += (*match).*form;
    position += plain.size();
  }
  return out;
}

}  // namespace

std::optional<std::string> to_superscript(std::string_view text) { return to_script(text, &script_character::superscript); }

std::optional<std::string> to_subscript(std::string_view text) { return to_script(text, &script_character::subscript); }

std::size_t display_width(std::string_view text) noexcept {
  std::size_t columns = 0;
  for (std::size_t position = 0; position < text.size();) {
    const auto character = character_at(text, position);
    columns += character.point < 0x80
                   ? 1
                   : static_cast<std::size_t>(std::max(0, utf8proc_charwidth(static_cast<std::int32_t>(character.point))));
    position += character.bytes;
  }
  return columns;
}

}  // namespace hondana::markup
