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

enum class charset_family : std::uint8_t { utf_8, utf_16, utf_16le, utf_16be, shift_jis, euc_jp, iso_2022_jp, iconv };

struct charset {
  std::string_view name{};           ///< The IANA name.
  const char* iconv_name = nullptr;  ///< The name for iconv.
  charset_family family = charset_family::iconv;
};

/// The charset for a label: `Shift_JIS`, `text/html; charset=x-sjis`, `euc-jp-unix`. Null: unknown. Only charsets listed here
/// are ever passed to the C library.
[[nodiscard]] const charset* find_charset(std::string_view label) noexcept;
/// Keeps the converters of all listed charsets loaded.
void preload_all_converters();

namespace {

struct charset_entry {
  charset value{};
  /// In lower case without `-`, `_` and spaces; each label is surrounded by spaces.
  std::string_view labels{};
};

constexpr auto iconv_only = charset_family::iconv;
constexpr std::array known_charsets{
    charset_entry{{"UTF-8", "UTF-8", charset_family::utf_8}, " utf8 muleutf8 unicode11utf8 cp65001 utf8n utf8emacs "},
    charset_entry{{"UTF-16", "UTF-16", charset_family::utf_16}, " utf16 unicode ucs2 "},
    charset_entry{{"UTF-16LE", "UTF-16LE", charset_family::utf_16le}, " utf16le unicodelittle utf16lewithsignature "},
    charset_entry{{"UTF-16BE", "UTF-16BE", charset_family::utf_16be}, " utf16be unicodebig utf16bewithsignature "},
    charset_entry{
        {"Shift_JIS", "CP932", charset_family::shift_jis},
        " shiftjis sjis xsjis mskanji windows31j cp932 ms932 csshiftjis cswindows31j japaneseshiftjis sjismac shiftjis2004 "},
    charset_entry{{"EUC-JP", "EUC-JP-MS", charset_family::euc_jp},
                  " eucjp xeucjp ujis eucjpms eucjpwin cseucpkdfmtjapanese japaneseiso8bit eucjisx0213 eucjis2004 "},
    charset_entry{{"ISO-2022-JP", "ISO-2022-JP-3", charset_family::iso_2022_jp},
                  " iso2022jp csiso2022jp iso2022jp1 iso2022jp2 iso2022jp3 iso2022jp2004 jis junet cp50220 cp50221 cp50222 "},
    charset_entry{{"windows-1252", "CP1252", iconv_only}, " windows1252 cp1252 iso88591 latin1 l1 cp819 usascii ascii ansi "},
    charset_entry{{"windows-1250", "CP1250", iconv_only}, " windows1250 cp1250 "},
    charset_entry{{"windows-1251", "CP1251", iconv_only}, " windows1251 cp1251 "},
    charset_entry{{"windows-1253", "CP1253", iconv_only}, " windows1253 cp1253 "},
    charset_entry{{"windows-1254", "CP1254", iconv_only}, " windows1254 cp1254 "},
    charset_entry{{"windows-1255", "CP1255", iconv_only}, " windows1255 cp1255 "},
    charset_entry{{"windows-1256", "CP1256", iconv_only}, " windows1256 cp1256 "},
    charset_entry{{"windows-1257", "CP1257", iconv_only}, " windows1257 cp1257 "},
    charset_entry{{"windows-1258", "CP1258", iconv_only}, " windows1258 cp1258 "},
    charset_entry{{"ISO-8859-2", "ISO-8859-2", iconv_only}, " iso88592 latin2 "},
    charset_entry{{"ISO-8859-3", "ISO-8859-3", iconv_only}, " iso88593 latin3 "},
    charset_entry{{"ISO-8859-4", "ISO-8859-4", iconv_only}, " iso88594 latin4 "},
    charset_entry{{"ISO-8859-5", "ISO-8859-5", iconv_only}, " iso88595 "},
    charset_entry{{"ISO-8859-6", "ISO-8859-6", iconv_only}, " iso88596 "},
    charset_entry{{"ISO-8859-7", "ISO-8859-7", iconv_only}, " iso88597 "},
    charset_entry{{"ISO-8859-8", "ISO-8859-8", iconv_only}, " iso88598 iso88598i "},
    charset_entry{{"ISO-8859-9", "ISO-8859-9", iconv_only}, " iso88599 latin5 "},
    charset_entry{{"ISO-8859-10", "ISO-8859-10", iconv_only}, " iso885910 latin6 "},
    charset_entry{{"TIS-620", "TIS-620", iconv_only}, " tis620 iso885911 windows874 "},
    charset_entry{{"ISO-8859-13", "ISO-8859-13", iconv_only}, " iso885913 "},
    charset_entry{{"ISO-8859-15", "ISO-8859-15", iconv_only}, " iso885915 latin9 "},
    charset_entry{{"ISO-8859-16", "ISO-8859-16", iconv_only}, " iso885916 "},
    charset_entry{{"KOI8-R", "KOI8-R", iconv_only}, " koi8r koi8 "},
    charset_entry{{"KOI8-U", "KOI8-U", iconv_only}, " koi8u "},
    charset_entry{{"IBM852", "IBM852", iconv_only}, " ibm852 cp852 "},
    charset_entry{{"IBM855", "IBM855", iconv_only}, " ibm855 cp855 "},
    charset_entry{{"IBM865", "IBM865", iconv_only}, " ibm865 cp865 "},
    charset_entry{{"IBM866", "IBM866", iconv_only}, " ibm866 cp866 "},
    charset_entry{{"macintosh", "MACINTOSH", iconv_only}, " macintosh xmacroman mac "},
    charset_entry{{"x-mac-cyrillic", "MAC-CYRILLIC", iconv_only}, " maccyrillic xmaccyrillic "},
    charset_entry{{"VISCII", "VISCII", iconv_only}, " viscii "},
    charset_entry{{"GB18030", "GB18030", iconv_only}, " gb18030 gbk gb2312 euccn cp936 xgbk chineseiso8bit "},
    charset_entry{{"Big5", "BIG5-HKSCS", iconv_only}, " big5 big5hkscs cp950 "},
    charset_entry{{"EUC-TW", "EUC-TW", iconv_only}, " euctw "},
    charset_entry{{"EUC-KR", "CP949", iconv_only}, " euckr cp949 uhc ksc56011987 windows949 koreaniso8bit "},
};

constexpr std::size_t max_label_bytes = 40;

}  // namespace

const charset* find_charset(std::string_view label) noexcept {
  constexpr std::string_view parameter = "charset=";
  for (std::size_t position = 0; position + parameter.size() <= label.size() && position < 256; ++position)
    if (ascii::starts_with_ignore_case(label.substr(position), parameter)) {
      label.remove_prefix(position + parameter.size());
      break;
    }
  label = label.substr(0, label.find_first_of(";,"));
  for (const std::string_view ending : {"-unix", "-dos", "-mac"})
    if (ascii::ends_with_ignore_case(label, ending)) label.remove_suffix(ending.size());
  std::array<char, max_label_bytes + 3> normalized{};
  std::size_t size = 0;
  normalized[size++] = ' ';
  for (const char c : label) {
    if (c == '-' || c == '_' || c == ' ' || c == '\t' || c == '"' || c == '\'') continue;
    if (!ascii::is_letter(c) && !(c >= '0' && c <= '9')) return nullptr;
    if (size > max_label_bytes) return nullptr;
    normalized[size++] = ascii::to_lower(c);
  }
  if (size == 1) return nullptr;
  normalized[size++] = ' ';
  for (const auto& entry : known_charsets)
    if (entry.labels.find(std::string_view(normalized.data(), size)) != std::string_view::npos) return &entry.value;
  return nullptr;
}

void preload_all_converters() {
  for (const auto& entry : known_charsets)
    if (entry.value.family == iconv_only) preload_converter(entry.value.iconv_name);
}

struct utf8_statistics {
  std::size_t valid = 0;    ///< Characters that are not ASCII.
  std::size_t invalid = 0;  ///< Positions that are not valid UTF-8.
};
[[nodiscard]] utf8_statistics scan_utf8(std::string_view bytes) noexcept;
/// Replaces malformed bytes and NUL by U+FFFD.
[[nodiscard]] converted_text decode_utf8(std::string_view bytes);
/// Replaces malformed units, lone surrogates, an incomplete unit at the end and NUL by U+FFFD.
[[nodiscard]] converted_text decode_utf16(std::string_view bytes, bool is_big_endian);
[[nodiscard]] converted_text decode_utf32(std::string_view bytes, bool is_big_endian);

enum class byte_order : unsigned char { none, little, big };
/// The byte order in which bytes without a byte order mark are evidently UTF-16: well-formed, without control characters, and
/// with plausible characters.
[[nodiscard]] byte_order detect_utf16(std::string_view bytes) noexcept;

namespace {

void append_character(converted_text& out, char32_t c) {
  const bool is_bad = c == 0 || (c >= 0xD800 && c <= 0xDFFF) || c > 0x10FFFF;
  if (is_bad) ++out.replacements;
  ascii::append_utf8(out.text, is_bad ? ascii::replacement_character : c);
}

char32_t unit_at(std::string_view bytes, std::size_t position, bool is_big_endian) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<char32_t>(static_cast<unsigned char>(bytes[i])); };
  return is_big_endian ? byte(position) << 8 | byte(position + 1) : byte(position + 1) << 8 | byte(position);
}

bool is_high(char32_t unit) noexcept { return unit >= 0xD800 && unit <= 0xDBFF; }
bool is_low(char32_t unit) noexcept { return unit >= 0xDC00 && unit <= 0xDFFF; }

/// How plausible a unit is in a byte order. ASCII and kana score highest. Units with a zero low byte are rare, except for the
/// ideographic space.
int plausibility_score(char32_t unit) noexcept {
  if (unit < 0x80) return 2;
  if ((unit & 0xFF) == 0 && unit != 0x3000 && unit != 0x4E00) return -2;
  if (unit >= 0x3000 && unit <= 0x30FF) return 2;
  const bool is_common = unit < 0x700 || (unit >= 0xE00 && unit < 0xE80) || (unit >= 0x2010 && unit < 0x2700) ||
                         (unit >= 0x4E00 && unit < 0xA000) || (unit >= 0xAC00 && unit < 0xE000) || unit >= 0xFF00;
  return is_common ? 1 : -2;
}

/// The sum for all units; negative if the byte order is impossible.
long plausibility_score(std::string_view bytes, bool is_big_endian) noexcept {
  constexpr long impossible = -1;
  long out = 0;
  bool is_after_high = false;
  for (std::size_t position = 0; position + 1 < bytes.size(); position += 2) {
    const auto unit = unit_at(bytes, position, is_big_endian);
    if (is_low(unit) != is_after_high) return impossible;
    is_after_high = is_high(unit);
    const bool is_control = unit < 0x20 && !(unit >= 0x09 && unit <= 0x0D) && unit != 0x1B;
    if (is_control || unit == 0xFFFE || unit == 0xFFFF) return impossible;
    out += plausibility_score(unit);
  }
  // Requires a common character on average.
  return is_after_high || out < static_cast<long>(bytes.size() / 2) ? impossible : out;
}

}  // namespace

utf8_statistics scan_utf8(std::string_view bytes) noexcept {
  utf8_statistics out;
  while (!bytes.empty()) {
    const auto c = ascii::first_character(bytes);
    if (!c.is_well_formed)
      ++out.invalid;
    else if (c.code >= 0x80)
      ++out.valid;
    bytes.remove_prefix(c.bytes);
  }
  return out;
}

converted_text decode_utf8(std::string_view bytes) {
  converted_text out;
  out.text.reserve(bytes.size());
  while (!bytes.empty()) {
    const auto c = ascii::first_character(bytes);
    append_character(out, c.is_well_formed ? c.code : 0);
    bytes.remove_prefix(c.bytes);
  }
  return out;
}

converted_text decode_utf16(std::string_view bytes, bool is_big_endian) {
  converted_text out;
  out.text.reserve(bytes.size() + bytes.size() / 2);
  std::size_t position = 0;
  for (; position + 1 < bytes.size(); position += 2) {
    const auto unit = unit_at(bytes, position, is_big_endian);
    const auto next = position + 3 < bytes.size() ? unit_at(bytes, position + 2, is_big_endian) : 0;
    if (is_high(unit) && is_low(next)) {
      append_character(out, 0x10000 + ((unit - 0xD800) << 10) + (next - 0xDC00));
      position += 2;
    } else {
      append_character(out, unit);
    }
  }
  if (position < bytes.size()) append_character(out, 0);
  return out;
}

converted_text decode_utf32(std::string_view bytes, bool is_big_endian) {
  converted_text out;
  out.text.reserve(bytes.size());
  std::size_t position = 0;
  for (; position + 3 < bytes.size(); position += 4) {
    const auto first = unit_at(bytes, position, is_big_endian), second = unit_at(bytes, position + 2, is_big_endian);
    append_character(out, is_big_endian ? first << 16 | second : second << 16 | first);
  }
  if (position < bytes.size()) append_character(out, 0);
  return out;
}

byte_order detect_utf16(std::string_view bytes) noexcept {
  if (bytes.size() < 2 || bytes.size() % 2 != 0) return byte_order::none;
  const auto little = plausibility_score(bytes, false), big = plausibility_score(bytes, true);
  if (little == big || (little < 0 && big < 0)) return byte_order::none;
  return little > big ? byte_order::little : byte_order::big;
}

namespace {

using decode_result = std::optional<decoded_text>;

decode_result make_decoded(converted_text&& converted, std::string_view charset) {
  return decoded_text{std::move(converted.text), std::string(charset), converted.replacements};
}

std::size_t count_high_bytes(std::string_view bytes) noexcept {
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
decode_result decode_by_bom(std::string_view bytes) {
  using namespace std::string_view_literals;
  const auto begins_with = [bytes](std::string_view mark) { return bytes.substr(0, mark.size()) == mark; };
  if (begins_with("\xef\xbb\xbf"sv)) return make_decoded(decode_utf8(bytes.substr(3)), "UTF-8");
  if (begins_with("\xff\xfe\0\0"sv)) return make_decoded(decode_utf32(bytes.substr(4), false), "UTF-32LE");
  if (begins_with("\0\0\xfe\xff"sv)) return make_decoded(decode_utf32(bytes.substr(4), true), "UTF-32BE");
  if (begins_with("\xff\xfe"sv)) return make_decoded(decode_utf16(bytes.substr(2), false), "UTF-16LE");
  if (begins_with("\xfe\xff"sv)) return make_decoded(decode_utf16(bytes.substr(2), true), "UTF-16BE");
  return std::nullopt;
}

/// Decodes UTF-16 according to a declaration, unless too many positions are malformed.
decode_result decode_declared_utf16(std::string_view bytes, charset_family family) {
  auto order = detect_utf16(bytes);
  if (family != charset_family::utf_16) order = family == charset_family::utf_16be ? byte_order::big : byte_order::little;
  if (order == byte_order::none) order = byte_order::big;  // RFC 2781, 4.3
  auto out = decode_utf16(bytes, order == byte_order::big);
  if (out.replacements * 20 > bytes.size() / 2) return std::nullopt;
  return make_decoded(std::move(out), order == byte_order::big ? "UTF-16BE" : "UTF-16LE");
}

/// Whether this is a Western European text, too short for statistics: mostly ASCII, and all other bytes are usual letters and
/// marks.
bool is_western(std::string_view bytes, std::size_t high_bytes) noexcept {
  constexpr std::string_view common_bytes =
      "\x80\x85\x91\x92\x93\x94\x95\x96\x97\x99\xa0\xa1\xa3\xa7\xa9\xab\xae\xb0\xb4\xb7\xba\xbb\xbf"
      "\xc0\xc1\xc2\xc4\xc5\xc6\xc7\xc8\xc9\xca\xcb\xcd\xce\xcf\xd1\xd3\xd4\xd6\xd8\xd9\xda\xdb\xdc\xdf"
      "\xe0\xe1\xe2\xe3\xe4\xe5\xe6\xe7\xe8\xe9\xea\xeb\xec\xed\xee\xef\xf1\xf2\xf3\xf4\xf5\xf6\xf8\xf9\xfa\xfb\xfc";
  if (high_bytes > 256 || high_bytes * 3 > bytes.size()) return false;
  return std::all_of(bytes.begin(), bytes.end(), [&](char c) {
    return static_cast<unsigned char>(c) < 0x80 || common_bytes.find(c) != std::string_view::npos;
  });
}

/// Asks uchardet. It gets the text from the first byte that is not ASCII, and from the middle.
const charset* detect_with_uchardet(std::string_view bytes) {
  constexpr std::size_t max_bytes = std::size_t{512} * 1024;
  struct deleter {
    void operator()(uchardet_t detector) const noexcept { uchardet_delete(detector); }
  };
  const std::unique_ptr<std::remove_pointer_t<uchardet_t>, deleter> detector(uchardet_new());
  const auto first = static_cast<std::size_t>(
      std::find_if(bytes.begin(), bytes.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x80; }) - bytes.begin());
  const auto begin = first > 64 ? first - 64 : 0;
  const auto front = bytes.substr(begin, max_bytes);
  const auto remaining = bytes.substr(begin + front.size());
  if (uchardet_handle_data(detector.get(), front.data(), front.size()) != 0) return nullptr;
  if (!remaining.empty()) {
    const auto middle = remaining.substr(remaining.size() / 2, max_bytes);
    if (uchardet_handle_data(detector.get(), middle.data(), middle.size()) != 0) return nullptr;
  }
  uchardet_data_end(detector.get());
  return find_charset(uchardet_get_charset(detector.get()));
}

class heuristic_decoder {
 public:
  heuristic_decoder(std::string_view bytes, const charset* declared)
      : bytes_(bytes), declared_(declared), tables_(load_japanese_tables()) {
    high_bytes_ = count_high_bytes(bytes);
  }

  decode_result decode() {
    if (auto out = decode_by_escapes()) return out;
    if (high_bytes_ == 0) return make_decoded(decode_utf8(bytes_), "UTF-8");
    utf8_ = scan_utf8(bytes_);
    if (tables_ != nullptr) {
      shift_jis_ = scan_shift_jis(bytes_, *tables_);
      euc_jp_ = scan_euc_jp(bytes_, *tables_);
    }
    if (utf8_.invalid == 0 && !prefers_declared()) return make_decoded(decode_utf8(bytes_), "UTF-8");
    if (auto out = decode_declared()) return out;
    if (auto out = decode_best_fit()) return out;
    if (is_western(bytes_, high_bytes_)) return decode_with_iconv("windows-1252");
    if (const auto* const detected = detect_with_uchardet(bytes_);
        detected != nullptr && detected->family == charset_family::iconv)
      if (auto out = decode_with_iconv(detected->name)) return out;
    return decode_last_resort();
  }

 private:
  decode_result decode_by_escapes() const {
    if (tables_ == nullptr || bytes_.find('\x1b') == std::string_view::npos) return std::nullopt;
    const auto statistics = scan_iso_2022_jp(bytes_, *tables_);
    const bool is_declared = declared_ != nullptr && declared_->family == charset_family::iso_2022_jp;
    if (statistics.characters == 0 || statistics.invalid * (is_declared ? 2 : 4) > statistics.characters) return std::nullopt;
    return make_decoded(decode_iso_2022_jp(bytes_, *tables_), "ISO-2022-JP");
  }

  /// Whether well-formed UTF-8 is nevertheless in the declared Japanese charset, because it decodes to common words there.
  [[nodiscard]] bool prefers_declared() const {
    const auto* const statistics = declared_ == nullptr ? nullptr : statistics_of(declared_->family);
    return statistics != nullptr && statistics->invalid == 0 && statistics->mean_score() >= 6;
  }
  [[nodiscard]] const decoding_statistics* statistics_of(charset_family family) const noexcept {
    if (tables_ == nullptr) return nullptr;
    return family == charset_family::shift_jis ? &shift_jis_ : family == charset_family::euc_jp ? &euc_jp_ : nullptr;
  }

  decode_result decode_declared() const {
    if (declared_ == nullptr) return std::nullopt;
    if (const auto* const statistics = statistics_of(declared_->family)) {
      if (statistics->invalid * 20 > statistics->characters) return std::nullopt;
      return decode_japanese(declared_->family);
    }
    if (declared_->family == charset_family::utf_8 && utf8_.invalid * 4 <= utf8_.valid)
      return make_decoded(decode_utf8(bytes_), "UTF-8");
    if (declared_->family != charset_family::iconv) return std::nullopt;
    auto out = convert(bytes_, declared_->iconv_name);
    if (!out || out->replacements * 20 > high_bytes_) return std::nullopt;
    return make_decoded(std::move(*out), declared_->name);
  }

  decode_result decode_japanese(charset_family family) const {
    if (family == charset_family::shift_jis) return make_decoded(decode_shift_jis(bytes_, *tables_), "Shift_JIS");
    return make_decoded(decode_euc_jp(bytes_, *tables_), "EUC-JP");
  }

  /// Selects the best of UTF-8, Shift_JIS and EUC-JP, if it fits at all.
  decode_result decode_best_fit() const {
    const auto utf8_score = static_cast<long>(utf8_.valid) * 8 - static_cast<long>(utf8_.invalid) * 12;
    const auto family = shift_jis_.score > euc_jp_.score ? charset_family::shift_jis : charset_family::euc_jp;
    const auto& best = family == charset_family::shift_jis ? shift_jis_ : euc_jp_;
    if (utf8_score > 0 && (tables_ == nullptr || utf8_score >= best.score)) return make_decoded(decode_utf8(bytes_), "UTF-8");
    if (tables_ == nullptr || best.characters == 0) return std::nullopt;
    const bool is_likely = best.mean_score() >= 2 && best.invalid * 4 <= best.characters;
    // Accepts names in rare kanji or half-width katakana. Longer texts without kana may be in another language.
    const bool is_short = best.characters < 12 && best.invalid == 0 && best.isolated == 0 && best.mean_score() >= -6;
    return is_likely || is_short ? decode_japanese(family) : std::nullopt;
  }

  [[nodiscard]] decode_result decode_with_iconv(std::string_view name) const {
    const auto* const match = find_charset(name);
    if (match == nullptr) return std::nullopt;
    auto out = convert(bytes_, match->iconv_name);
    return out ? make_decoded(std::move(*out), match->name) : std::nullopt;
  }

  /// Selects an encoding that fits poorly; no value if the bytes are probably not text.
  decode_result decode_last_resort() const {
    if (utf8_.valid > utf8_.invalid) return make_decoded(decode_utf8(bytes_), "UTF-8");
    if (tables_ != nullptr && shift_jis_.invalid * 4 <= shift_jis_.characters && shift_jis_.score >= euc_jp_.score)
      return decode_japanese(charset_family::shift_jis);
    if (tables_ != nullptr && euc_jp_.invalid * 4 <= euc_jp_.characters) return decode_japanese(charset_family::euc_jp);
    return high_bytes_ * 3 <= bytes_.size() ? decode_with_iconv("windows-1252") : std::nullopt;
  }

  std::string_view bytes_;
  const charset* declared_;
  const japanese_tables* tables_;
  std::size_t high_bytes_ = 0;
  utf8_statistics utf8_{};
  decoding_statistics shift_jis_{};
  decoding_statistics euc_jp_{};
};

}  // namespace

std::optional<decoded_text> decode(std::string_view bytes, std::string_view declared) {
  if (bytes.empty()) return decoded_text{{}, "UTF-8", 0};
  if (auto out = decode_by_bom(bytes)) {
    if (out->replacements > 1 && out->replacements * 10 > out->text.size() / 3) return std::nullopt;
    return out;
  }
  const auto* const declared_charset = find_charset(declared);
  const bool is_utf16 = declared_charset != nullptr && (declared_charset->family == charset_family::utf_16 ||
                                                        declared_charset->family == charset_family::utf_16le ||
                                                        declared_charset->family == charset_family::utf_16be);
  if (is_utf16)
    if (auto out = decode_declared_utf16(bytes, declared_charset->family)) return out;
  if (bytes.find('\0') != std::string_view::npos)
    if (const auto order = detect_utf16(bytes); order != byte_order::none)
      return make_decoded(decode_utf16(bytes, order == byte_order::big), order == byte_order::big ? "UTF-16BE" : "UTF-16LE");
  if (is_binary(bytes)) return std::nullopt;
  return heuristic_decoder(bytes, declared_charset).decode();
}

void load_converters() {
  static_cast<void>(load_japanese_tables());
  preload_all_converters();
}

}  // namespace hondana::charsets
