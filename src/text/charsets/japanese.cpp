/// How much a text looks like Japanese, and what it says.
#include "text/charsets/japanese.hpp"

#include "base/ascii/characters.hpp"
#include "base/ascii/utf8.hpp"
#include "text/charsets/frequent_kanji.hpp"
#include "text/charsets/steps.hpp"

namespace hondana::charsets {
namespace {

constexpr int of_bad = -24;
constexpr int of_isolated = -12;

/// Of a character of full width.
int score_of(const step& one) noexcept {
  const auto c = one.is.first;
  if (c >= 0x3041 && c <= 0x3096) return 12;
  if ((c >= 0x30A1 && c <= 0x30FA) || c == 0x30FC) return 8;
  if (c >= 0x3000 && c <= 0x303F) return 4;
  if (c >= 0xFF01 && c <= 0xFF5E) return 4;
  if (c >= 0xE000 && c <= 0xF8FF) return -16;
  if (c >= 0x4E00 && c <= 0x9FFF) return is_frequent_kanji(c) ? 8 : one.is_rare ? -6 : -1;
  return c >= 0x2000 && c <= 0x2FFF ? 1 : -4;
}

/// Of half-width katakana, which few texts have: a voiced mark where it can be is what a word looks like.
int score_of_half(char32_t c, char32_t before) noexcept {
  const bool is_after_kana = before >= 0xFF66 && before <= 0xFF9F;
  if (c == 0xFF9E) return (before >= 0xFF76 && before <= 0xFF84) || (before >= 0xFF8A && before <= 0xFF8E) ? 8 : -8;
  if (c == 0xFF9F) return before >= 0xFF8A && before <= 0xFF8E ? 8 : -8;
  if (c == 0xFF70) return is_after_kana ? 4 : -8;
  if (c >= 0xFF67 && c <= 0xFF6F && !is_after_kana) return -8;
  return c <= 0xFF65 ? -2 : -1;
}

class judge {
 public:
  void hear(const step& one) {
    if (one.how == width::ascii) {
      const bool is_letter = one.is.first < 0x80 && ascii::is_letter(static_cast<char>(one.is.first));
      if (run_ == 1 && is_letter && is_letter_before_) {
        ++found_.isolated;
        found_.score += of_isolated;
      }
      run_ = 0;
      is_letter_before_ = is_letter;
      before_ = 0;
      return;
    }
    ++run_;
    if (one.how == width::bad) {
      ++found_.bad;
      found_.score += of_bad;
    } else {
      ++found_.characters;
      found_.score += one.how == width::half ? score_of_half(one.is.first, before_) : score_of(one);
      if (one.is.first >= 0x3041 && one.is.first <= 0x30FC) ++found_.kana;
    }
    before_ = one.is.first;
  }
  [[nodiscard]] const reading& found() const noexcept { return found_; }

 private:
  reading found_{};
  std::size_t run_ = 0;
  bool is_letter_before_ = false;
  char32_t before_ = 0;
};

class writer {
 public:
  explicit writer(std::size_t bytes) { out_.text.reserve(bytes + bytes / 2); }
  void hear(const step& one) {
    if (one.how == width::bad) {
      ascii::append(out_.text, ascii::replacement);
      ++out_.replaced;
    } else if (one.is.first != 0) {
      ascii::append(out_.text, one.is.first);
      if (one.is.second != 0) ascii::append(out_.text, one.is.second);
    }
  }
  [[nodiscard]] converted&& take() noexcept { return std::move(out_); }

 private:
  converted out_{};
};

template <class Hearer, class Next>
void walk(std::string_view bytes, Hearer& hearer, const Next& next) {
  while (!bytes.empty()) {
    const step one = next(bytes);
    hearer.hear(one);
    bytes.remove_prefix(one.bytes);
  }
}

template <class Next>
reading judged(std::string_view bytes, const Next& next) {
  judge by;
  walk(bytes, by, next);
  return by.found();
}

template <class Next>
converted written(std::string_view bytes, const Next& next) {
  writer by(bytes.size());
  walk(bytes, by, next);
  return by.take();
}

}  // namespace

reading read_shift_jis(std::string_view bytes, const japanese_tables& by) {
  return judged(bytes, [&by](std::string_view rest) { return next_of_shift_jis(rest, by); });
}
reading read_euc_jp(std::string_view bytes, const japanese_tables& by) {
  return judged(bytes, [&by](std::string_view rest) { return next_of_euc_jp(rest, by); });
}
reading read_iso_2022_jp(std::string_view bytes, const japanese_tables& by) {
  iso_2022_jp_steps steps;
  auto out = judged(bytes, [&](std::string_view rest) { return steps.next(rest, by); });
  if (!steps.has_chosen()) out.characters = 0;
  return out;
}

converted from_shift_jis(std::string_view bytes, const japanese_tables& by) {
  return written(bytes, [&by](std::string_view rest) { return next_of_shift_jis(rest, by); });
}
converted from_euc_jp(std::string_view bytes, const japanese_tables& by) {
  return written(bytes, [&by](std::string_view rest) { return next_of_euc_jp(rest, by); });
}
converted from_iso_2022_jp(std::string_view bytes, const japanese_tables& by) {
  iso_2022_jp_steps steps;
  return written(bytes, [&](std::string_view rest) { return steps.next(rest, by); });
}

}  // namespace hondana::charsets
