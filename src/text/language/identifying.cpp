/// The language of a text by its scripts and its most frequent words.
#include <algorithm>
#include <array>
#include <utility>

#include "base/ascii/characters.hpp"
#include "base/ascii/utf8.hpp"
#include "text/language/frequent_words.hpp"
#include "text/language/language.hpp"

namespace hondana::language {
namespace {

constexpr std::size_t sample_bytes = std::size_t{16} * 1024;
/// What a Japanese character counts: about as much as three letters say.
constexpr std::size_t weight_of_ideographs = 3;
/// Han without kana are Japanese (a heading, a name of a file) up to here, where nothing speaks for Chinese.
constexpr std::size_t short_text = 64;

enum script : std::uint8_t {
  latin,
  kana,
  han,
  hangul,
  cyrillic,
  greek,
  arabic,
  hebrew,
  thai,
  devanagari,
  other,
  count_of_scripts
};

script script_of(char32_t c) noexcept {
  struct range {
    char32_t first;
    char32_t last;
    script is;
  };
  static constexpr std::array ranges{
      range{U'A', U'Z', latin},        range{U'a', U'z', latin},     range{0xAA, 0xAA, latin},
      range{0xBA, 0xBA, latin},        range{0xC0, 0xD6, latin},     range{0xD8, 0xF6, latin},
      range{0xF8, 0x24F, latin},       range{0x370, 0x3FF, greek},   range{0x400, 0x52F, cyrillic},
      range{0x591, 0x5F4, hebrew},     range{0x620, 0x6D3, arabic},  range{0x750, 0x77F, arabic},
      range{0x900, 0x97F, devanagari}, range{0xE01, 0xE4E, thai},    range{0x1100, 0x11FF, hangul},
      range{0x1E00, 0x1EFF, latin},    range{0x1F00, 0x1FFF, greek}, range{0x3005, 0x3007, han},
      range{0x3041, 0x309F, kana},     range{0x30A1, 0x30FA, kana},  range{0x30FC, 0x30FF, kana},
      range{0x3131, 0x318E, hangul},   range{0x3400, 0x4DBF, han},   range{0x4E00, 0x9FFF, han},
      range{0xAC00, 0xD7A3, hangul},   range{0xF900, 0xFAFF, han},   range{0xFB50, 0xFDFF, arabic},
      range{0xFE70, 0xFEFC, arabic},   range{0xFF21, 0xFF3A, latin}, range{0xFF41, 0xFF5A, latin},
      range{0xFF66, 0xFF9D, kana},     range{0x20000, 0x3FFFF, han},
  };
  const auto at =
      std::lower_bound(ranges.begin(), ranges.end(), c, [](const range& one, char32_t what) { return one.last < what; });
  return at != ranges.end() && c >= at->first ? at->is : other;
}

class census {
 public:
  void take(std::string_view text) {
    std::string word;
    while (!text.empty()) {
      const auto c = ascii::first_character(text);
      const auto is = script_of(c.code);
      if (is == latin) {
        if (word.size() < 32) ascii::append(word, lower_case(c.code));
      } else {
        take_word(word);
      }
      take(c.code, is);
      text.remove_prefix(c.bytes);
    }
    take_word(word);
  }

  [[nodiscard]] std::string answer() const {
    const std::size_t ideographs = (count_[kana] + count_[han]) * weight_of_ideographs;
    std::array<std::pair<std::size_t, script>, 9> by_letters{{{count_[latin], latin},
                                                              {ideographs, han},
                                                              {count_[hangul] * weight_of_ideographs, hangul},
                                                              {count_[cyrillic], cyrillic},
                                                              {count_[greek], greek},
                                                              {count_[arabic], arabic},
                                                              {count_[hebrew], hebrew},
                                                              {count_[thai], thai},
                                                              {count_[devanagari], devanagari}}};
    const auto most =
        std::max_element(by_letters.begin(), by_letters.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    if (most->first < 2) return {};
    switch (most->second) {
      case latin:
        return by_words();
      case han:
        return of_east_asia();
      case hangul:
        return "ko";
      case cyrillic:
        return ukrainian_ * 50 > count_[cyrillic] ? "uk" : "ru";
      case greek:
        return "el";
      case arabic:
        return persian_ * 50 > count_[arabic] ? "fa" : "ar";
      case hebrew:
        return "he";
      case thai:
        return "th";
      case devanagari:
        return "hi";
      default:
        return {};
    }
  }

 private:
  static char32_t lower_case(char32_t c) noexcept {
    if (c >= 0xFF21 && c <= 0xFF3A) return c - 0xFF21 + U'a';
    if (c >= 0xFF41 && c <= 0xFF5A) return c - 0xFF41 + U'a';
    return (c >= 0xC0 && c <= 0xDE && c != 0xD7) ? c + 0x20 : ascii::lower(c);
  }

  void take(char32_t c, script is) {
    ++count_[is];
    if (is == han) telling_ += japanese_or_chinese(c);
    // Of Ukrainian, not of Russian: є і ї ґ. Of Persian, not of Arabic: پ چ ژ ک گ ی.
    if (is == cyrillic)
      for (const char32_t one : {0x404, 0x406, 0x407, 0x454, 0x456, 0x457, 0x490, 0x491})
        if (c == one) ++ukrainian_;
    if (is == arabic)
      for (const char32_t one : {0x67E, 0x686, 0x698, 0x6A9, 0x6AF, 0x6CC})
        if (c == one) ++persian_;
    if (is == latin && c >= 0x80) {
      const auto where = where_usual(lower_case(c));
      for (std::size_t i = 0; i < count_of_told; ++i)
        if ((where >> i & 1) != 0) ++letters_[i];
    }
  }

  void take_word(std::string& word) {
    if (word.empty()) return;
    ++words_;
    if (const auto where = where_frequent(word); where != 0) {
      for (std::size_t i = 0; i < count_of_told; ++i)
        if ((where >> i & 1) != 0) ++hits_[i];
    }
    word.clear();
  }

  /// Kana is Japanese alone. Without, the Han that only one of the two writes so decide, and then the length.
  [[nodiscard]] std::string of_east_asia() const {
    if (count_[kana] * 20 >= count_[han]) return "ja";
    if (telling_ != 0) return telling_ > 0 ? "ja" : "zh";
    return count_[kana] > 0 || count_[han] <= short_text ? "ja" : "zh";
  }

  /// A language is named where one word in twelve is frequent in it, or its letters show, and no other has as many.
  [[nodiscard]] std::string by_words() const {
    std::array<std::size_t, count_of_told> score{};
    std::size_t best = 0;
    for (std::size_t i = 0; i < count_of_told; ++i) {
      score[i] = hits_[i] * 4 + std::min(letters_[i], hits_[i] * 2 + 2);
      if (score[i] > score[best]) best = i;
    }
    for (std::size_t i = 0; i < count_of_told; ++i)
      if (i != best && score[i] == score[best]) return {};
    if (hits_[best] == 0 || hits_[best] * 12 < words_ || (hits_[best] < 2 && words_ > 6)) return {};
    return std::string(told_by_words[best]);
  }

  std::array<std::size_t, count_of_scripts> count_{};
  std::array<std::size_t, count_of_told> hits_{};
  std::array<std::size_t, count_of_told> letters_{};
  std::size_t words_ = 0;
  std::size_t ukrainian_ = 0;
  std::size_t persian_ = 0;
  long telling_ = 0;
};

}  // namespace

std::string language_of(std::string_view text) {
  census found;
  if (text.size() <= 3 * sample_bytes) {
    found.take(text);
  } else {
    found.take(text.substr(0, sample_bytes));
    found.take(text.substr(text.size() / 2 - sample_bytes / 2, sample_bytes));
    found.take(text.substr(text.size() - sample_bytes));
  }
  return found.answer();
}

}  // namespace hondana::language
