/// Detects the encoding of bytes from a repository and converts them to UTF-8.
#include "sources/git/text_encoding.hpp"

#include <iconv.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#include "base/ascii/ascii.hpp"
#include "base/json/utf8.hpp"

namespace hondana::git {
namespace {

struct known_encoding {
  std::string_view name;    // the proper name
  const char* iconv_name;   // the name for iconv
  std::string_view labels;  // other names, in lower case without '-', '_' and ':', each between spaces
};

// A fixed list: a name from a repository is never passed to the system, which would search for a module of that name.
constexpr std::array known_encodings{
    known_encoding{"UTF-8", "UTF-8", " utf8 usascii ascii ansix3.41968 646 iso646us "},
    known_encoding{"UTF-16LE", "UTF-16LE", " utf16le ucs2le "},
    known_encoding{"UTF-16BE", "UTF-16BE", " utf16be ucs2be "},
    // These tables are wider than their names say, with characters that Microsoft added, as is common.
    known_encoding{"Shift_JIS", "CP932", " shiftjis sjis mskanji cp932 ms932 windows31j windows932 xsjis csshiftjis "},
    known_encoding{"EUC-JP", "EUC-JP-MS", " eucjp ujis xeucjp eucjpms cp51932 "},
    known_encoding{"ISO-2022-JP", "ISO-2022-JP", " iso2022jp csiso2022jp jis "},
    known_encoding{"windows-1250", "CP1250", " windows1250 cp1250 "},
    known_encoding{"windows-1251", "CP1251", " windows1251 cp1251 "},
    known_encoding{"windows-1252", "CP1252", " windows1252 cp1252 "},
    known_encoding{"windows-1253", "CP1253", " windows1253 cp1253 "},
    known_encoding{"windows-1254", "CP1254", " windows1254 cp1254 "},
    known_encoding{"windows-1255", "CP1255", " windows1255 cp1255 "},
    known_encoding{"windows-1256", "CP1256", " windows1256 cp1256 "},
    known_encoding{"windows-1257", "CP1257", " windows1257 cp1257 "},
    known_encoding{"windows-1258", "CP1258", " windows1258 cp1258 "},
    known_encoding{"ISO-8859-1", "ISO-8859-1", " iso88591 latin1 l1 88591 ibm819 cp819 "},
    known_encoding{"ISO-8859-2", "ISO-8859-2", " iso88592 latin2 l2 88592 "},
    known_encoding{"ISO-8859-3", "ISO-8859-3", " iso88593 latin3 l3 "},
    known_encoding{"ISO-8859-4", "ISO-8859-4", " iso88594 latin4 l4 "},
    known_encoding{"ISO-8859-5", "ISO-8859-5", " iso88595 cyrillic "},
    known_encoding{"ISO-8859-6", "ISO-8859-6", " iso88596 arabic "},
    known_encoding{"ISO-8859-7", "ISO-8859-7", " iso88597 greek "},
    known_encoding{"ISO-8859-8", "ISO-8859-8", " iso88598 hebrew "},
    known_encoding{"ISO-8859-9", "ISO-8859-9", " iso88599 latin5 l5 "},
    known_encoding{"ISO-8859-10", "ISO-8859-10", " iso885910 latin6 l6 "},
    known_encoding{"ISO-8859-13", "ISO-8859-13", " iso885913 latin7 "},
    known_encoding{"ISO-8859-14", "ISO-8859-14", " iso885914 latin8 "},
    known_encoding{"ISO-8859-15", "ISO-8859-15", " iso885915 latin9 "},
    known_encoding{"ISO-8859-16", "ISO-8859-16", " iso885916 latin10 "},
    known_encoding{"KOI8-R", "KOI8-R", " koi8r "},
    known_encoding{"KOI8-U", "KOI8-U", " koi8u "},
    known_encoding{"GB18030", "GB18030", " gb18030 gbk gb2312 euccn cp936 windows936 "},
    known_encoding{"Big5", "BIG5-HKSCS", " big5 big5hkscs cp950 "},
    known_encoding{"EUC-KR", "UHC", " euckr uhc cp949 ksc56011987 "},
};

const known_encoding* find_encoding(std::string_view label) noexcept {
  constexpr std::size_t max_label_bytes = 40;
  if (label.empty() || label.size() > max_label_bytes) return nullptr;
  std::array<char, max_label_bytes + 2> normalized{' '};
  std::size_t size = 1;
  for (const char c : label) {
    if (c == ' ' || static_cast<unsigned char>(c) >= 0x7f || c < ' ') return nullptr;
    if (c != '-' && c != '_' && c != ':') normalized[size++] = ascii::to_lower(c);
  }
  if (size == 1) return nullptr;
  normalized[size++] = ' ';
  const std::string_view needle(normalized.data(), size);
  const auto match = std::find_if(known_encodings.begin(), known_encodings.end(), [needle](const known_encoding& encoding) {
    return encoding.labels.find(needle) != std::string_view::npos;
  });
  return match == known_encodings.end() ? nullptr : &*match;
}

struct iconv_closer {
  void operator()(iconv_t handle) const noexcept { ::iconv_close(handle); }
};
using iconv_handle = std::unique_ptr<std::remove_pointer_t<iconv_t>, iconv_closer>;

}  // namespace

std::string_view canonical_encoding(std::string_view label) noexcept {
  const auto* const match = find_encoding(label);
  return match != nullptr ? match->name : std::string_view();
}

std::optional<std::string> decode(std::string_view bytes, std::string_view encoding) {
  const auto* const match = find_encoding(encoding);
  if (match == nullptr) return std::nullopt;
  const iconv_t converter = ::iconv_open("UTF-8", match->iconv_name);
  if (reinterpret_cast<std::intptr_t>(converter) == -1) return std::nullopt;
  const iconv_handle closer(converter);
  std::string out;
  std::array<char, 16384> buffer{};
  char* input = const_cast<char*>(bytes.data());  // iconv does not change it
  std::size_t input_left = bytes.size();
  for (;;) {
    char* output = buffer.data();
    std::size_t space_left = buffer.size();
    // The last call flushes what a shift state or a combining character held back.
    const bool is_last = input_left == 0;
    const auto count = ::iconv(converter, is_last ? nullptr : &input, &input_left, &output, &space_left);
    const int error = count == static_cast<std::size_t>(-1) ? errno : 0;
    out.append(buffer.data(), buffer.size() - space_left);
    if (error != 0 && error != E2BIG) return std::nullopt;
    if (error == 0 && is_last) return out;
  }
}

std::string decode_windows_1252(std::string_view bytes) {
  constexpr char16_t replacement = 0xFFFD;
  constexpr std::array<char16_t, 32> high_characters{
      0x20AC, replacement, 0x201A,      0x0192, 0x201E,      0x2026,      0x2020, 0x2021,      0x02C6, 0x2030, 0x0160,
      0x2039, 0x0152,      replacement, 0x017D, replacement, replacement, 0x2018, 0x2019,      0x201C, 0x201D, 0x2022,
      0x2013, 0x2014,      0x02DC,      0x2122, 0x0161,      0x203A,      0x0153, replacement, 0x017E, 0x0178};
  std::string out;
  out.reserve(bytes.size() + bytes.size() / 8);
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) {
      out += c;
      continue;
    }
    const char16_t code_point = byte < 0xA0 ? high_characters[byte - 0x80U] : byte;
    if (code_point >= 0x800) {
      out += static_cast<char>(0xE0 | (code_point >> 12));
      out += static_cast<char>(0x80 | ((code_point >> 6) & 0x3F));
    } else {
      out += static_cast<char>(0xC0 | (code_point >> 6));
    }
    out += static_cast<char>(0x80 | (code_point & 0x3F));
  }
  return out;
}

namespace {

/// Reads the next code point of valid UTF-8.
char32_t next_code_point(std::string_view text, std::size_t& position) noexcept {
  const auto lead_byte = static_cast<unsigned char>(text[position++]);
  if (lead_byte < 0x80) return lead_byte;
  const int continuation_bytes = lead_byte >= 0xF0 ? 3 : lead_byte >= 0xE0 ? 2 : 1;
  char32_t code_point = lead_byte & (0x3FU >> continuation_bytes);
  for (int i = 0; i < continuation_bytes; ++i)
    code_point = (code_point << 6) | (static_cast<unsigned char>(text[position++]) & 0x3FU);
  return code_point;
}

/// Whether text that was decoded from a Japanese encoding is likely to be Japanese. In a western text, an accented letter and
/// the letter after it can form a Japanese character, too. But that is then alone within a word of Latin letters.
bool is_likely_japanese(std::string_view text) noexcept {
  std::size_t plausible = 0, suspicious = 0, run = 0;
  bool has_full_width = false, touches_letter = false;
  char32_t previous = 0;
  const auto end_run = [&](char32_t next) {
    if (run == 0) return;
    touches_letter = touches_letter || (next < 0x80 && ascii::is_letter(static_cast<char>(next)));
    (run == 1 && touches_letter ? suspicious : plausible) += run;
    run = 0;
  };
  for (std::size_t position = 0; position < text.size();) {
    const auto code_point = next_code_point(text, position);
    // Private-use characters and controls result from bytes without a meaning in that encoding.
    if ((code_point >= 0x80 && code_point < 0xA0) || (code_point >= 0xE000 && code_point < 0xF900)) return false;
    if (code_point < 0x80) {
      end_run(code_point);
    } else {
      if (run++ == 0) touches_letter = previous < 0x80 && ascii::is_letter(static_cast<char>(previous));
      has_full_width = has_full_width || (code_point >= 0x3000 && code_point < 0xFF61);
    }
    previous = code_point;
  }
  end_run(0);
  return has_full_width && plausible > suspicious;
}

std::optional<converted_text> decode_marked_utf16(std::string_view bytes) {
  const bool is_little_endian = bytes.starts_with("\xFF\xFE");
  if (!is_little_endian && !bytes.starts_with("\xFE\xFF")) return std::nullopt;
  const std::string_view name = is_little_endian ? "UTF-16LE" : "UTF-16BE";
  auto text = decode(bytes.substr(2), name);
  if (!text) return std::nullopt;
  return converted_text{std::move(*text), std::string(name)};
}

converted_text detect_and_decode(std::string_view bytes) {
  if (json::is_utf8(bytes)) return {std::string(bytes), {}};
  if (auto utf16 = decode_marked_utf16(bytes)) return std::move(*utf16);
  for (const std::string_view name : {"EUC-JP", "Shift_JIS"}) {
    auto text = decode(bytes, name);
    if (text && is_likely_japanese(*text)) return {std::move(*text), std::string(name)};
  }
  return {decode_windows_1252(bytes), "windows-1252"};
}

/// Whether there are control characters that texts do not have.
bool has_nontext_controls(std::string_view bytes) noexcept {
  return std::any_of(bytes.begin(), bytes.end(), [](char c) {
    constexpr std::string_view text_controls = "\t\n\v\f\r\b\x1b\x1a";
    return c >= 0 && c < ' ' && text_controls.find(c) == std::string_view::npos;
  });
}

}  // namespace

converted_text to_utf8(std::string_view bytes, std::string_view declared_encoding) {
  const auto name = canonical_encoding(declared_encoding);
  // Text that is declared as UTF-8 but is invalid needs a guess, too.
  if (name.empty() || name == "UTF-8") return detect_and_decode(bytes);
  auto text = decode(bytes, name);
  if (!text) return detect_and_decode(bytes);
  return {std::move(*text), std::string(name)};
}

std::optional<converted_text> decode_file(std::string_view bytes) {
  if (auto utf16 = decode_marked_utf16(bytes); utf16 && !json::has_nul(utf16->text)) return utf16;
  if (json::has_nul(bytes)) return std::nullopt;
  if (!json::is_utf8(bytes) && has_nontext_controls(bytes)) return std::nullopt;
  return detect_and_decode(bytes);
}

std::string display_path(std::string_view path) {
  std::string out;
  json::append_replacing(out, path);
  return out;
}

}  // namespace hondana::git
