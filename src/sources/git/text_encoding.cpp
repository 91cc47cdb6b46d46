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
  const char* table;        // the name for iconv
  std::string_view called;  // other names, in lower case without '-', '_' and ':', each between spaces
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

const known_encoding* find_encoding(std::string_view said) noexcept {
  constexpr std::size_t longest_name = 40;
  if (said.empty() || said.size() > longest_name) return nullptr;
  std::array<char, longest_name + 2> plain{' '};
  std::size_t size = 1;
  for (const char c : said) {
    if (c == ' ' || static_cast<unsigned char>(c) >= 0x7f || c < ' ') return nullptr;
    if (c != '-' && c != '_' && c != ':') plain[size++] = ascii::lower(c);
  }
  if (size == 1) return nullptr;
  plain[size++] = ' ';
  const std::string_view wanted(plain.data(), size);
  const auto found = std::find_if(known_encodings.begin(), known_encodings.end(), [wanted](const known_encoding& one) {
    return one.called.find(wanted) != std::string_view::npos;
  });
  return found == known_encodings.end() ? nullptr : &*found;
}

struct closes_table {
  void operator()(iconv_t of) const noexcept { ::iconv_close(of); }
};
using table = std::unique_ptr<std::remove_pointer_t<iconv_t>, closes_table>;

}  // namespace

std::string_view encoding_called(std::string_view said) noexcept {
  const auto* const found = find_encoding(said);
  return found != nullptr ? found->name : std::string_view();
}

std::optional<std::string> decoded(std::string_view bytes, std::string_view encoding) {
  const auto* const found = find_encoding(encoding);
  if (found == nullptr) return std::nullopt;
  const iconv_t opened = ::iconv_open("UTF-8", found->table);
  if (reinterpret_cast<std::intptr_t>(opened) == -1) return std::nullopt;
  const table by(opened);
  std::string out;
  std::array<char, 16384> piece{};
  char* from = const_cast<char*>(bytes.data());  // iconv does not change it
  std::size_t left = bytes.size();
  for (;;) {
    char* into = piece.data();
    std::size_t room = piece.size();
    // The last call flushes what a shift state or a combining character held back.
    const bool is_last = left == 0;
    const auto count = ::iconv(opened, is_last ? nullptr : &from, &left, &into, &room);
    const int error = count == static_cast<std::size_t>(-1) ? errno : 0;
    out.append(piece.data(), piece.size() - room);
    if (error != 0 && error != E2BIG) return std::nullopt;
    if (error == 0 && is_last) return out;
  }
}

std::string decoded_windows_1252(std::string_view bytes) {
  constexpr char16_t lacking = 0xFFFD;
  constexpr std::array<char16_t, 32> upper{0x20AC,  lacking, 0x201A, 0x0192, 0x201E, 0x2026,  0x2020, 0x2021,
                                           0x02C6,  0x2030,  0x0160, 0x2039, 0x0152, lacking, 0x017D, lacking,
                                           lacking, 0x2018,  0x2019, 0x201C, 0x201D, 0x2022,  0x2013, 0x2014,
                                           0x02DC,  0x2122,  0x0161, 0x203A, 0x0153, lacking, 0x017E, 0x0178};
  std::string out;
  out.reserve(bytes.size() + bytes.size() / 8);
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) {
      out += c;
      continue;
    }
    const char16_t point = byte < 0xA0 ? upper[byte - 0x80U] : byte;
    if (point >= 0x800) {
      out += static_cast<char>(0xE0 | (point >> 12));
      out += static_cast<char>(0x80 | ((point >> 6) & 0x3F));
    } else {
      out += static_cast<char>(0xC0 | (point >> 6));
    }
    out += static_cast<char>(0x80 | (point & 0x3F));
  }
  return out;
}

namespace {

/// Reads the next code point of valid UTF-8.
char32_t next_point(std::string_view text, std::size_t& at) noexcept {
  const auto lead = static_cast<unsigned char>(text[at++]);
  if (lead < 0x80) return lead;
  const int more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : 1;
  char32_t point = lead & (0x3FU >> more);
  for (int i = 0; i < more; ++i) point = (point << 6) | (static_cast<unsigned char>(text[at++]) & 0x3FU);
  return point;
}

/// Whether text that was decoded from a Japanese encoding is likely to be Japanese. In a western text, an accented letter and
/// the letter after it can form a Japanese character, too. But that is then alone within a word of Latin letters.
bool is_likely_japanese(std::string_view text) noexcept {
  std::size_t fitting = 0, odd = 0, run = 0;
  bool has_full_width = false, is_touched = false;
  char32_t before = 0;
  const auto end_run = [&](char32_t behind) {
    if (run == 0) return;
    is_touched = is_touched || (behind < 0x80 && ascii::is_letter(static_cast<char>(behind)));
    (run == 1 && is_touched ? odd : fitting) += run;
    run = 0;
  };
  for (std::size_t at = 0; at < text.size();) {
    const auto point = next_point(text, at);
    // Private-use characters and controls result from bytes without a meaning in that encoding.
    if ((point >= 0x80 && point < 0xA0) || (point >= 0xE000 && point < 0xF900)) return false;
    if (point < 0x80) {
      end_run(point);
    } else {
      if (run++ == 0) is_touched = before < 0x80 && ascii::is_letter(static_cast<char>(before));
      has_full_width = has_full_width || (point >= 0x3000 && point < 0xFF61);
    }
    before = point;
  }
  end_run(0);
  return has_full_width && fitting > odd;
}

std::optional<converted> from_marked_utf16(std::string_view bytes) {
  const bool is_little = bytes.starts_with("\xFF\xFE");
  if (!is_little && !bytes.starts_with("\xFE\xFF")) return std::nullopt;
  const std::string_view name = is_little ? "UTF-16LE" : "UTF-16BE";
  auto text = decoded(bytes.substr(2), name);
  if (!text) return std::nullopt;
  return converted{std::move(*text), std::string(name)};
}

converted guessed(std::string_view bytes) {
  if (json::is_utf8(bytes)) return {std::string(bytes), {}};
  if (auto wide = from_marked_utf16(bytes)) return std::move(*wide);
  for (const std::string_view name : {"EUC-JP", "Shift_JIS"}) {
    auto text = decoded(bytes, name);
    if (text && is_likely_japanese(*text)) return {std::move(*text), std::string(name)};
  }
  return {decoded_windows_1252(bytes), "windows-1252"};
}

/// Whether there are control characters that texts do not have.
bool has_odd_controls(std::string_view bytes) noexcept {
  return std::any_of(bytes.begin(), bytes.end(), [](char c) {
    constexpr std::string_view usual = "\t\n\v\f\r\b\x1b\x1a";
    return c >= 0 && c < ' ' && usual.find(c) == std::string_view::npos;
  });
}

}  // namespace

converted to_utf8(std::string_view bytes, std::string_view said_to_be) {
  const auto name = encoding_called(said_to_be);
  // Text that is declared as UTF-8 but is invalid needs a guess, too.
  if (name.empty() || name == "UTF-8") return guessed(bytes);
  auto text = decoded(bytes, name);
  if (!text) return guessed(bytes);
  return {std::move(*text), std::string(name)};
}

std::optional<converted> text_of_file(std::string_view bytes) {
  if (auto wide = from_marked_utf16(bytes); wide && !json::has_nul(wide->text)) return wide;
  if (json::has_nul(bytes)) return std::nullopt;
  if (!json::is_utf8(bytes) && has_odd_controls(bytes)) return std::nullopt;
  return guessed(bytes);
}

std::string shown_path_of(std::string_view path) {
  std::string out;
  json::append_replacing(out, path);
  return out;
}

}  // namespace hondana::git
