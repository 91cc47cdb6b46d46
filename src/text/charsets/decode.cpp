/// Which charset a text is in.
#include <uchardet/uchardet.h>

#include <algorithm>
#include <memory>
#include <type_traits>
#include <utility>

#include "text/charsets/charsets.hpp"
#include "text/charsets/converting.hpp"
#include "text/charsets/japanese.hpp"
#include "text/charsets/labels.hpp"
#include "text/charsets/unicode.hpp"

namespace hondana::charsets {
namespace {

using answer = std::optional<decoded>;

answer made(converted&& by, std::string_view charset) { return decoded{std::move(by.text), std::string(charset), by.replaced}; }

std::size_t count_of_high(std::string_view bytes) noexcept {
  return static_cast<std::size_t>(
      std::count_if(bytes.begin(), bytes.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x80; }));
}

/// One byte in thirty that no text has, or NUL.
bool is_binary(std::string_view bytes) noexcept {
  std::size_t controls = 0;
  for (const char c : bytes) {
    if (c == '\0') return true;
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && !(byte >= 0x08 && byte <= 0x0D) && byte != 0x1B) || byte == 0x7F) ++controls;
  }
  return controls > 1 && controls * 30 > bytes.size();
}

/// What a mark at the beginning says.
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

/// UTF-16 with as many malformed places as a declaration may be believed in spite of.
answer by_declared_utf16(std::string_view bytes, family which) {
  auto evident = evident_utf16(bytes);
  if (which != family::utf_16) evident = which == family::utf_16be ? order::big : order::little;
  if (evident == order::none) evident = order::big;  // RFC 2781, 4.3
  auto out = from_utf16(bytes, evident == order::big);
  if (out.replaced * 20 > bytes.size() / 2) return std::nullopt;
  return made(std::move(out), evident == order::big ? "UTF-16BE" : "UTF-16LE");
}

/// Latin text of the West, which is too short for statistics: letters with few others, all of them usual.
bool is_western(std::string_view bytes, std::size_t high) noexcept {
  constexpr std::string_view usual =
      "\x80\x85\x91\x92\x93\x94\x95\x96\x97\x99\xa0\xa1\xa3\xa7\xa9\xab\xae\xb0\xb4\xb7\xba\xbb\xbf"
      "\xc0\xc1\xc2\xc4\xc5\xc6\xc7\xc8\xc9\xca\xcb\xcd\xce\xcf\xd1\xd3\xd4\xd6\xd8\xd9\xda\xdb\xdc\xdf"
      "\xe0\xe1\xe2\xe3\xe4\xe5\xe6\xe7\xe8\xe9\xea\xeb\xec\xed\xee\xef\xf1\xf2\xf3\xf4\xf5\xf6\xf8\xf9\xfa\xfb\xfc";
  if (high > 256 || high * 3 > bytes.size()) return false;
  return std::all_of(bytes.begin(), bytes.end(),
                     [&](char c) { return static_cast<unsigned char>(c) < 0x80 || usual.find(c) != std::string_view::npos; });
}

/// Beginning where it stops being ASCII, and from the middle on.
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

  /// Whether well-formed UTF-8 is nevertheless the Japanese that is declared: that reads as common words.
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

  /// The best of UTF-8, Shift_JIS and EUC-JP, if it fits at all.
  answer by_fit() const {
    const auto of_utf8 = static_cast<long>(utf8_.good) * 8 - static_cast<long>(utf8_.bad) * 12;
    const auto which = shift_.score > euc_.score ? family::shift_jis : family::euc_jp;
    const auto& best = which == family::shift_jis ? shift_ : euc_;
    if (of_utf8 > 0 && (tables_ == nullptr || of_utf8 >= best.score)) return made(from_utf8(bytes_), "UTF-8");
    if (tables_ == nullptr || best.characters == 0) return std::nullopt;
    const bool is_plain = best.mean() >= 2 && best.bad * 4 <= best.characters;
    // Names in rare kanji, and in half-width katakana. Longer texts without kana may be of another language.
    const bool is_short = best.characters < 12 && best.bad == 0 && best.isolated == 0 && best.mean() >= -6;
    return is_plain || is_short ? japanese(which) : std::nullopt;
  }

  [[nodiscard]] answer of_library(std::string_view name) const {
    const auto* const is = charset_of(name);
    if (is == nullptr) return std::nullopt;
    auto out = convert(bytes_, is->converter);
    return out ? made(std::move(*out), is->name) : std::nullopt;
  }

  /// Something fits a little, or these are no characters.
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
