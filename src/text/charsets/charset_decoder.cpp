/// Detects the charset of a text and decodes it to UTF-8.
#include "text/charsets/charset_decoder.hpp"

#include <uchardet/uchardet.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/ascii/ascii.hpp"
#include "base/ascii/code_points.hpp"
#include "text/charsets/charset_converter.hpp"
#include "text/charsets/japanese_charsets.hpp"

namespace hondana::charsets {

enum class family : std::uint8_t { utf_8, utf_16, utf_16le, utf_16be, shift_jis, euc_jp, iso_2022_jp, of_c_library };

struct charset {
  std::string_view name{};          ///< The IANA name.
  const char* converter = nullptr;  ///< The name for iconv.
  family is = family::of_c_library;
};

/// The charset for a label: `Shift_JIS`, `text/html; charset=x-sjis`, `euc-jp-unix`. Null: unknown. Only charsets listed here
/// are ever passed to the C library.
[[nodiscard]] const charset* charset_of(std::string_view label) noexcept;
/// Keeps the converters of all listed charsets loaded.
void keep_all_converters();

namespace {

struct labelled {
  charset is{};
  /// In lower case without `-`, `_` and spaces; each label is surrounded by spaces.
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

struct utf8_reading {
  std::size_t good = 0;  ///< Characters that are not ASCII.
  std::size_t bad = 0;   ///< Positions that are not valid UTF-8.
};
[[nodiscard]] utf8_reading read_utf8(std::string_view bytes) noexcept;
/// Replaces malformed bytes and NUL by U+FFFD.
[[nodiscard]] converted from_utf8(std::string_view bytes);
/// Replaces malformed units, lone surrogates, an incomplete unit at the end and NUL by U+FFFD.
[[nodiscard]] converted from_utf16(std::string_view bytes, bool is_big_endian);
[[nodiscard]] converted from_utf32(std::string_view bytes, bool is_big_endian);

enum class order : unsigned char { none, little, big };
/// The byte order in which bytes without a byte order mark are evidently UTF-16: well-formed, without control characters, and
/// with plausible characters.
[[nodiscard]] order evident_utf16(std::string_view bytes) noexcept;

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

/// How plausible a unit is in a byte order. ASCII and kana score highest. Units with a zero low byte are rare, except for the
/// ideographic space.
int plausibility_of(char32_t unit) noexcept {
  if (unit < 0x80) return 2;
  if ((unit & 0xFF) == 0 && unit != 0x3000 && unit != 0x4E00) return -2;
  if (unit >= 0x3000 && unit <= 0x30FF) return 2;
  const bool is_usual = unit < 0x700 || (unit >= 0xE00 && unit < 0xE80) || (unit >= 0x2010 && unit < 0x2700) ||
                        (unit >= 0x4E00 && unit < 0xA000) || (unit >= 0xAC00 && unit < 0xE000) || unit >= 0xFF00;
  return is_usual ? 1 : -2;
}

/// The sum for all units; negative if the byte order is impossible.
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
  // Requires a common character on average.
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

namespace {

using answer = std::optional<decoded>;

answer made(converted&& by, std::string_view charset) { return decoded{std::move(by.text), std::string(charset), by.replaced}; }

std::size_t count_of_high(std::string_view bytes) noexcept {
  return static_cast<std::size_t>(
      std::count_if(bytes.begin(), bytes.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x80; }));
}

/// Whether the bytes have a NUL, or more than one in thirty is another control character that texts do not contain.
bool is_binary(std::string_view bytes) noexcept {
  std::size_t controls = 0;
  for (const char c : bytes) {
    if (c == '\0') return true;
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && !(byte >= 0x08 && byte <= 0x0D) && byte != 0x1B) || byte == 0x7F) ++controls;
  }
  return controls > 1 && controls * 30 > bytes.size();
}

/// The encoding that a byte order mark at the beginning indicates.
answer by_mark(std::string_view bytes) {
  using namespace std::string_view_literals;
  const auto begins = [bytes](std::string_view mark) { return bytes.substr(0, mark.size()) == mark; };
  if (begins("\xef\xbb\xbf"sv)) return made(from_utf8(bytes.substr(3)), "UTF-8");
  if (begins("\xff\xfe\0\0"sv)) return made(from_utf32(bytes.substr(4), false), "UTF-32LE");
  if (begins("\0\0\xfe\xff"sv)) return made(from_utf32(bytes.substr(4), true), "UTF-32BE");
  if (begins("\xff\xfe"sv)) return made(from_utf16(bytes.substr(2), false), "UTF-16LE");
  if (begins("\xfe\xff"sv)) return made(from_utf16(bytes.substr(2), true), "UTF-16BE");
  return std::nullopt;
}

/// Decodes UTF-16 according to a declaration, unless too many positions are malformed.
answer by_declared_utf16(std::string_view bytes, family which) {
  auto evident = evident_utf16(bytes);
  if (which != family::utf_16) evident = which == family::utf_16be ? order::big : order::little;
  if (evident == order::none) evident = order::big;  // RFC 2781, 4.3
  auto out = from_utf16(bytes, evident == order::big);
  if (out.replaced * 20 > bytes.size() / 2) return std::nullopt;
  return made(std::move(out), evident == order::big ? "UTF-16BE" : "UTF-16LE");
}

/// Whether this is a Western European text, too short for statistics: mostly ASCII, and all other bytes are usual letters and
/// marks.
bool is_western(std::string_view bytes, std::size_t high) noexcept {
  constexpr std::string_view usual =
      "\x80\x85\x91\x92\x93\x94\x95\x96\x97\x99\xa0\xa1\xa3\xa7\xa9\xab\xae\xb0\xb4\xb7\xba\xbb\xbf"
      "\xc0\xc1\xc2\xc4\xc5\xc6\xc7\xc8\xc9\xca\xcb\xcd\xce\xcf\xd1\xd3\xd4\xd6\xd8\xd9\xda\xdb\xdc\xdf"
      "\xe0\xe1\xe2\xe3\xe4\xe5\xe6\xe7\xe8\xe9\xea\xeb\xec\xed\xee\xef\xf1\xf2\xf3\xf4\xf5\xf6\xf8\xf9\xfa\xfb\xfc";
  if (high > 256 || high * 3 > bytes.size()) return false;
  return std::all_of(bytes.begin(), bytes.end(),
                     [&](char c) { return static_cast<unsigned char>(c) < 0x80 || usual.find(c) != std::string_view::npos; });
}

/// Asks uchardet. It gets the text from the first byte that is not ASCII, and from the middle.
const charset* by_statistics(std::string_view bytes) {
  constexpr std::size_t most = std::size_t{512} * 1024;
  struct closing {
    void operator()(uchardet_t one) const noexcept { uchardet_delete(one); }
  };
  const std::unique_ptr<std::remove_pointer_t<uchardet_t>, closing> by(uchardet_new());
  const auto first = static_cast<std::size_t>(
      std::find_if(bytes.begin(), bytes.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x80; }) - bytes.begin());
  const auto from = first > 64 ? first - 64 : 0;
  const auto front = bytes.substr(from, most);
  const auto rest = bytes.substr(from + front.size());
  if (uchardet_handle_data(by.get(), front.data(), front.size()) != 0) return nullptr;
  if (!rest.empty()) {
    const auto middle = rest.substr(rest.size() / 2, most);
    if (uchardet_handle_data(by.get(), middle.data(), middle.size()) != 0) return nullptr;
  }
  uchardet_data_end(by.get());
  return charset_of(uchardet_get_charset(by.get()));
}

class deciding {
 public:
  deciding(std::string_view bytes, const charset* declared) : bytes_(bytes), declared_(declared), tables_(loaded_tables()) {
    high_ = count_of_high(bytes);
  }

  answer decide() {
    if (auto out = by_escapes()) return out;
    if (high_ == 0) return made(from_utf8(bytes_), "UTF-8");
    utf8_ = read_utf8(bytes_);
    if (tables_ != nullptr) {
      shift_ = read_shift_jis(bytes_, *tables_);
      euc_ = read_euc_jp(bytes_, *tables_);
    }
    if (utf8_.bad == 0 && !is_rather_declared()) return made(from_utf8(bytes_), "UTF-8");
    if (auto out = by_declaration()) return out;
    if (auto out = by_fit()) return out;
    if (is_western(bytes_, high_)) return of_library("windows-1252");
    if (const auto* const told = by_statistics(bytes_); told != nullptr && told->is == family::of_c_library)
      if (auto out = of_library(told->name)) return out;
    return by_last_resort();
  }

 private:
  answer by_escapes() const {
    if (tables_ == nullptr || bytes_.find('\x1b') == std::string_view::npos) return std::nullopt;
    const auto read = read_iso_2022_jp(bytes_, *tables_);
    const bool is_declared = declared_ != nullptr && declared_->is == family::iso_2022_jp;
    if (read.characters == 0 || read.bad * (is_declared ? 2 : 4) > read.characters) return std::nullopt;
    return made(from_iso_2022_jp(bytes_, *tables_), "ISO-2022-JP");
  }

  /// Whether well-formed UTF-8 is nevertheless in the declared Japanese charset, because it decodes to common words there.
  [[nodiscard]] bool is_rather_declared() const {
    const auto* const read = declared_ == nullptr ? nullptr : reading_of(declared_->is);
    return read != nullptr && read->bad == 0 && read->mean() >= 6;
  }
  [[nodiscard]] const reading* reading_of(family which) const noexcept {
    if (tables_ == nullptr) return nullptr;
    return which == family::shift_jis ? &shift_ : which == family::euc_jp ? &euc_ : nullptr;
  }

  answer by_declaration() const {
    if (declared_ == nullptr) return std::nullopt;
    if (const auto* const read = reading_of(declared_->is)) {
      if (read->bad * 20 > read->characters) return std::nullopt;
      return japanese(declared_->is);
    }
    if (declared_->is == family::utf_8 && utf8_.bad * 4 <= utf8_.good) return made(from_utf8(bytes_), "UTF-8");
    if (declared_->is != family::of_c_library) return std::nullopt;
    auto out = convert(bytes_, declared_->converter);
    if (!out || out->replaced * 20 > high_) return std::nullopt;
    return made(std::move(*out), declared_->name);
  }

  answer japanese(family which) const {
    if (which == family::shift_jis) return made(from_shift_jis(bytes_, *tables_), "Shift_JIS");
    return made(from_euc_jp(bytes_, *tables_), "EUC-JP");
  }

  /// Selects the best of UTF-8, Shift_JIS and EUC-JP, if it fits at all.
  answer by_fit() const {
    const auto of_utf8 = static_cast<long>(utf8_.good) * 8 - static_cast<long>(utf8_.bad) * 12;
    const auto which = shift_.score > euc_.score ? family::shift_jis : family::euc_jp;
    const auto& best = which == family::shift_jis ? shift_ : euc_;
    if (of_utf8 > 0 && (tables_ == nullptr || of_utf8 >= best.score)) return made(from_utf8(bytes_), "UTF-8");
    if (tables_ == nullptr || best.characters == 0) return std::nullopt;
    const bool is_plain = best.mean() >= 2 && best.bad * 4 <= best.characters;
    // Accepts names in rare kanji or half-width katakana. Longer texts without kana may be in another language.
    const bool is_short = best.characters < 12 && best.bad == 0 && best.isolated == 0 && best.mean() >= -6;
    return is_plain || is_short ? japanese(which) : std::nullopt;
  }

  [[nodiscard]] answer of_library(std::string_view name) const {
    const auto* const is = charset_of(name);
    if (is == nullptr) return std::nullopt;
    auto out = convert(bytes_, is->converter);
    return out ? made(std::move(*out), is->name) : std::nullopt;
  }

  /// Selects an encoding that fits poorly; no value if the bytes are probably not text.
  answer by_last_resort() const {
    if (utf8_.good > utf8_.bad) return made(from_utf8(bytes_), "UTF-8");
    if (tables_ != nullptr && shift_.bad * 4 <= shift_.characters && shift_.score >= euc_.score)
      return japanese(family::shift_jis);
    if (tables_ != nullptr && euc_.bad * 4 <= euc_.characters) return japanese(family::euc_jp);
    return high_ * 3 <= bytes_.size() ? of_library("windows-1252") : std::nullopt;
  }

  std::string_view bytes_;
  const charset* declared_;
  const japanese_tables* tables_;
  std::size_t high_ = 0;
  utf8_reading utf8_{};
  reading shift_{};
  reading euc_{};
};

}  // namespace

std::optional<decoded> decode(std::string_view bytes, std::string_view declared) {
  if (bytes.empty()) return decoded{{}, "UTF-8", 0};
  if (auto out = by_mark(bytes)) {
    if (out->replaced > 1 && out->replaced * 10 > out->text.size() / 3) return std::nullopt;
    return out;
  }
  const auto* const said = charset_of(declared);
  const bool is_utf16 =
      said != nullptr && (said->is == family::utf_16 || said->is == family::utf_16le || said->is == family::utf_16be);
  if (is_utf16)
    if (auto out = by_declared_utf16(bytes, said->is)) return out;
  if (bytes.find('\0') != std::string_view::npos)
    if (const auto evident = evident_utf16(bytes); evident != order::none)
      return made(from_utf16(bytes, evident == order::big), evident == order::big ? "UTF-16BE" : "UTF-16LE");
  if (is_binary(bytes)) return std::nullopt;
  return deciding(bytes, said).decide();
}

void load() {
  static_cast<void>(loaded_tables());
  keep_all_converters();
}

}  // namespace hondana::charsets
