/// Charsets and what they are called.
#include "text/charsets/labels.hpp"

#include <array>
#include <cstddef>
#include <string>

#include "base/ascii/characters.hpp"
#include "text/charsets/converting.hpp"

namespace hondana::charsets {
namespace {

struct labelled {
  charset is{};
  /// In lower case without `-`, `_` and spaces, each between spaces.
  std::string_view labels{};
};

constexpr auto by_c = family::of_c_library;
constexpr std::array all{
    labelled{{"UTF-8", "UTF-8", family::utf_8}, " utf8 muleutf8 unicode11utf8 cp65001 utf8n utf8emacs "},
    labelled{{"UTF-16", "UTF-16", family::utf_16}, " utf16 unicode ucs2 "},
    labelled{{"UTF-16LE", "UTF-16LE", family::utf_16le}, " utf16le unicodelittle utf16lewithsignature "},
    labelled{{"UTF-16BE", "UTF-16BE", family::utf_16be}, " utf16be unicodebig utf16bewithsignature "},
    labelled{
        {"Shift_JIS", "CP932", family::shift_jis},
        " shiftjis sjis xsjis mskanji windows31j cp932 ms932 csshiftjis cswindows31j japaneseshiftjis sjismac shiftjis2004 "},
    labelled{{"EUC-JP", "EUC-JP-MS", family::euc_jp},
             " eucjp xeucjp ujis eucjpms eucjpwin cseucpkdfmtjapanese japaneseiso8bit eucjisx0213 eucjis2004 "},
    labelled{{"ISO-2022-JP", "ISO-2022-JP-3", family::iso_2022_jp},
             " iso2022jp csiso2022jp iso2022jp1 iso2022jp2 iso2022jp3 iso2022jp2004 jis junet cp50220 cp50221 cp50222 "},
    labelled{{"windows-1252", "CP1252", by_c}, " windows1252 cp1252 iso88591 latin1 l1 cp819 usascii ascii ansi "},
    labelled{{"windows-1250", "CP1250", by_c}, " windows1250 cp1250 "},
    labelled{{"windows-1251", "CP1251", by_c}, " windows1251 cp1251 "},
    labelled{{"windows-1253", "CP1253", by_c}, " windows1253 cp1253 "},
    labelled{{"windows-1254", "CP1254", by_c}, " windows1254 cp1254 "},
    labelled{{"windows-1255", "CP1255", by_c}, " windows1255 cp1255 "},
    labelled{{"windows-1256", "CP1256", by_c}, " windows1256 cp1256 "},
    labelled{{"windows-1257", "CP1257", by_c}, " windows1257 cp1257 "},
    labelled{{"windows-1258", "CP1258", by_c}, " windows1258 cp1258 "},
    labelled{{"ISO-8859-2", "ISO-8859-2", by_c}, " iso88592 latin2 "},
    labelled{{"ISO-8859-3", "ISO-8859-3", by_c}, " iso88593 latin3 "},
    labelled{{"ISO-8859-4", "ISO-8859-4", by_c}, " iso88594 latin4 "},
    labelled{{"ISO-8859-5", "ISO-8859-5", by_c}, " iso88595 "},
    labelled{{"ISO-8859-6", "ISO-8859-6", by_c}, " iso88596 "},
    labelled{{"ISO-8859-7", "ISO-8859-7", by_c}, " iso88597 "},
    labelled{{"ISO-8859-8", "ISO-8859-8", by_c}, " iso88598 iso88598i "},
    labelled{{"ISO-8859-9", "ISO-8859-9", by_c}, " iso88599 latin5 "},
    labelled{{"ISO-8859-10", "ISO-8859-10", by_c}, " iso885910 latin6 "},
    labelled{{"TIS-620", "TIS-620", by_c}, " tis620 iso885911 windows874 "},
    labelled{{"ISO-8859-13", "ISO-8859-13", by_c}, " iso885913 "},
    labelled{{"ISO-8859-15", "ISO-8859-15", by_c}, " iso885915 latin9 "},
    labelled{{"ISO-8859-16", "ISO-8859-16", by_c}, " iso885916 "},
    labelled{{"KOI8-R", "KOI8-R", by_c}, " koi8r koi8 "},
    labelled{{"KOI8-U", "KOI8-U", by_c}, " koi8u "},
    labelled{{"IBM852", "IBM852", by_c}, " ibm852 cp852 "},
    labelled{{"IBM855", "IBM855", by_c}, " ibm855 cp855 "},
    labelled{{"IBM865", "IBM865", by_c}, " ibm865 cp865 "},
    labelled{{"IBM866", "IBM866", by_c}, " ibm866 cp866 "},
    labelled{{"macintosh", "MACINTOSH", by_c}, " macintosh xmacroman mac "},
    labelled{{"x-mac-cyrillic", "MAC-CYRILLIC", by_c}, " maccyrillic xmaccyrillic "},
    labelled{{"VISCII", "VISCII", by_c}, " viscii "},
    labelled{{"GB18030", "GB18030", by_c}, " gb18030 gbk gb2312 euccn cp936 xgbk chineseiso8bit "},
    labelled{{"Big5", "BIG5-HKSCS", by_c}, " big5 big5hkscs cp950 "},
    labelled{{"EUC-TW", "EUC-TW", by_c}, " euctw "},
    labelled{{"EUC-KR", "CP949", by_c}, " euckr cp949 uhc ksc56011987 windows949 koreaniso8bit "},
};

constexpr std::size_t longest_label = 40;

}  // namespace

const charset* charset_of(std::string_view label) noexcept {
  constexpr std::string_view member = "charset=";
  for (std::size_t at = 0; at + member.size() <= label.size() && at < 256; ++at)
    if (ascii::begins_with(label.substr(at), member)) {
      label.remove_prefix(at + member.size());
      break;
    }
  label = label.substr(0, label.find_first_of(";,"));
  for (const std::string_view ending : {"-unix", "-dos", "-mac"})
    if (ascii::ends_with(label, ending)) label.remove_suffix(ending.size());
  std::array<char, longest_label + 3> plain{};
  std::size_t size = 0;
  plain[size++] = ' ';
  for (const char c : label) {
    if (c == '-' || c == '_' || c == ' ' || c == '\t' || c == '"' || c == '\'') continue;
    if (!ascii::is_letter(c) && !(c >= '0' && c <= '9')) return nullptr;
    if (size > longest_label) return nullptr;
    plain[size++] = ascii::lower(c);
  }
  if (size == 1) return nullptr;
  plain[size++] = ' ';
  for (const auto& one : all)
    if (one.labels.find(std::string_view(plain.data(), size)) != std::string_view::npos) return &one.is;
  return nullptr;
}

void keep_all_converters() {
  for (const auto& one : all)
    if (one.is.is == by_c) keep_converter(one.is.converter);
}

}  // namespace hondana::charsets
