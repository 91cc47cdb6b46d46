/// Characters by how they are written.
#include "text/tokenizer/scripts.hpp"

#include <utf8proc.h>

#include "base/ascii/characters.hpp"

namespace hondana::tokenizer {
namespace {

bool is_japanese(char32_t c) noexcept {
  return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3041 && c <= 0x309A) || (c >= 0x309D && c <= 0x309F) ||
         (c >= 0x30A1 && c <= 0x30FA) || (c >= 0x30FC && c <= 0x312F) || (c >= 0x3005 && c <= 0x3007) ||
         (c >= 0x3021 && c <= 0x3029) || c == 0x303B || (c >= 0x31A0 && c <= 0x31BF) || (c >= 0x31F0 && c <= 0x31FF) ||
         (c >= 0x3400 && c <= 0x4DBF) || (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x1B000 && c <= 0x1B16F) ||
         (c >= 0x20000 && c <= 0x3FFFF);
}

}  // namespace

writing writing_of(char32_t c) noexcept {
  if (c < 0x80) return ascii::is_letter(static_cast<char>(c)) || (c >= U'0' && c <= U'9') ? writing::word : writing::gap;
  if (c >= 0x3000 && is_japanese(c)) return writing::japanese;
  if ((c >= 0xAC00 && c <= 0xD7FF) || (c >= 0x1100 && c <= 0x11FF) || (c >= 0xA960 && c <= 0xA97F)) return writing::hangul;
  if ((c >= 0xE01 && c <= 0xE3A) || (c >= 0xE40 && c <= 0xE4E) || (c >= 0xE80 && c <= 0xEDF) || (c >= 0x1000 && c <= 0x109F) ||
      (c >= 0x1780 && c <= 0x17D3))
    return writing::unspaced;
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(c))) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
      return writing::word;
    default:
      return writing::gap;
  }
}

}  // namespace hondana::tokenizer
