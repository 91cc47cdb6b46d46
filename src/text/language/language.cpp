/// Detects the language of a text by its scripts and most frequent words.
#include "text/language/language.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ascii/ascii.hpp"
#include "base/ascii/code_points.hpp"

namespace hondana::language {

/// The languages that are detected by words, in the order of their bits.
inline constexpr std::string_view word_languages[] = {"en", "de", "fr", "es", "it", "pt", "nl", "sv"};
inline constexpr std::size_t word_language_count = sizeof word_languages / sizeof word_languages[0];

/// The languages in which a lower-case word is frequent, one bit each.
[[nodiscard]] std::uint8_t languages_with_word(std::string_view word) noexcept;
/// The languages in which a letter that is not ASCII is usual, one bit each.
[[nodiscard]] std::uint8_t languages_with_letter(char32_t letter) noexcept;
/// +1 for characters that only Japanese uses (iteration marks, kokuji, simplified as in Japan only), -1 for those that only
/// Chinese uses, otherwise 0.
[[nodiscard]] int japanese_or_chinese(char32_t han) noexcept;

namespace {

constexpr std::string_view english_words =
    "the of and to in is that it for was on are as with be at this by have from or an not but which you we can will if all has "
    "when what use used how they their been more one would these your should may must into than then only also about its any";
constexpr std::string_view german_words =
    "der die das und ist in den von zu mit sich auf für nicht ein eine als auch es an werden aus er hat dass sie nach wird bei "
    "einer um am sind noch wie einem über so zum kann oder wenn nur durch zur dem des im einen ihr wir man mehr diese dieser "
    "wurde muss können";
constexpr std::string_view french_words =
    "le la les de des et un une est en que qui dans pour pas sur au plus par ce avec il ne se du sont ou mais comme vous nous "
    "elle son sa ses cette aux être fait été peut tout leur si même ces sans votre aussi deux";
constexpr std::string_view spanish_words =
    "el la los las de que y en un una es por con no para del se lo al como más su sus o pero este esta son entre cuando muy "
    "sin "
    "sobre también ser hay fue todo desde está puede nos donde porque si ya esto qué han";
constexpr std::string_view italian_words =
    "il lo la i gli le di e che un una è in per non con del della dei delle da si al alla sono come più anche ma nel nella se "
    "questo questa ha essere o suo tra quando può degli dal dalla cui ai stato su loro ogni";
constexpr std::string_view portuguese_words =
    "o a os as de que e do da em um uma é para com não por no na dos das se ao mais como mas foi à seu sua ou ser quando muito "
    "há nos já está também pelo pela até isso ele entre são você pode este esta seus depois";
constexpr std::string_view dutch_words =
    "de het een en van in is dat op te zijn voor met die niet aan er om ook als dan maar bij nog uit naar door over ze hij "
    "wordt "
    "kan of heeft deze dit worden wij hebben geen moet meer wat je u tot zich werd";
constexpr std::string_view swedish_words =
    "och att det i en som på är av för med den till inte om ett han har de jag var från vid kan så men sig ska eller när man "
    "under också nu efter vi hade alla detta denna blir mycket där skulle mer finns";
constexpr std::string_view frequent_words[word_language_count] = {english_words, german_words,     french_words, spanish_words,
                                                                  italian_words, portuguese_words, dutch_words,  swedish_words};

constexpr std::string_view special_letters[word_language_count] = {
    "", "äöüß", "éèêàçùûîôœëï", "ñáéíóú¿¡", "àèéìòù", "ãõçáéíóúâêô", "ëïé", "åäö",
};

// 々〆〇 and kokuji, and characters with a simplification that only Japan uses.
constexpr std::string_view japanese_only =
    "々〆込働畑峠匂枠辻榊凪凧笹籾匁塀搾腺糀気円図駅売読験広県権対応変単価発経済検録様帰歩毎渋渇涙黒徳徴恵拝拠拡挙挟掲"
    "揺摂撃斎斉暁桜栄楽歓歯殴沢浜焼獣瑠畳畔稲穂穏窓竜粛粧絵続総縄繊聴臓荘薬蔵覚観訳説識譲豊転軽辺遅郷鉄銭録鋳関闘陥険"
    "隠雑霊頼顔飲館駆騒髪鶏麦黙齢戻戸両並亀仏仮伝佐児処剰剣剤労勧巻巣帯庁廃弾従悩悪";
// Characters with a simplification that only China uses, and Chinese words that do not exist in Japanese.
constexpr std::string_view chinese_only =
    "这们说吗呢吧没让给还个时为从么怎哪谁很她你您它们啊嘛把被着过对发经济检录图书馆东车马鸟鱼见贝话语请读写买卖钱银铁门"
    "问间闻开关进远运连选过达边动务劳势协单卫历县变号叶听员响园团围国际圆场坏块坚报处备复头夹奋妇实审宽宾导层岁币师带"
    "帮并广庆库应庙废异张弹当彻径态总恶恼惊战户扩扫扬抢护担择损换据断无旧显术机杀权条来极构标样档桥检楼岂汇没泽洁测济"
    "热爱点炼烧电画疗监盖盘码确礼离种积称稳竞笔简类系红约级纪纯纸线组细织终给络绝统继绩续维综绿缓编缩网罗职联聪胜脑艺"
    "节范药获虑虽补装规视览觉训议讯记讲许论设访证评识诉词译试诗话该详误谢课调谈贵费资赛赶跃践轮软较输辑边适遗邮释针钟"
    "链销锁错键镇长閱须项顺顾预领频题额颜风飞饭饮馆驱验骤龙這個們說嗎為從麼誰沒讓給還嘅咗";

struct entry {
  std::string_view word{};
  std::uint8_t languages = 0;
};

std::vector<entry> sorted_words() {
  std::vector<entry> out;
  out.reserve(600);
  for (std::size_t i = 0; i < word_language_count; ++i)
    for (auto remaining = frequent_words[i]; !remaining.empty();) {
      const auto end = std::min(remaining.find(' '), remaining.size());
      out.push_back({remaining.substr(0, end), static_cast<std::uint8_t>(1u << i)});
      remaining.remove_prefix(std::min(end + 1, remaining.size()));
    }
  std::sort(out.begin(), out.end(), [](const entry& a, const entry& b) { return a.word < b.word; });
  std::size_t count = 0;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (count > 0 && out[count - 1].word == out[i].word)
      out[count - 1].languages = static_cast<std::uint8_t>(out[count - 1].languages | out[i].languages);
    else
      out[count++] = out[i];
  }
  out.resize(count);
  return out;
}

bool contains(std::string_view list, char32_t character) {
  std::string encoded;
  ascii::append_utf8(encoded, character);
  // Lists contain whole characters, and no UTF-8 character is part of another one.
  return list.find(encoded) != std::string_view::npos;
}

std::vector<char32_t> sorted_characters(std::string_view list) {
  std::vector<char32_t> out;
  out.reserve(list.size() / 3);
  while (!list.empty()) {
    const auto c = ascii::first_character(list);
    out.push_back(c.code);
    list.remove_prefix(c.bytes);
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

std::uint8_t languages_with_word(std::string_view word) noexcept {
  // Never destroyed: detached threads may still use it when the program ends.
  static const auto& entries = *std::make_unique<const std::vector<entry>>(sorted_words()).release();
  const auto match = std::lower_bound(entries.begin(), entries.end(), word,
                                      [](const entry& candidate, std::string_view key) { return candidate.word < key; });
  return match != entries.end() && match->word == word ? match->languages : 0;
}

std::uint8_t languages_with_letter(char32_t letter) noexcept {
  std::uint8_t out = 0;
  for (std::size_t i = 0; i < word_language_count; ++i)
    if (contains(special_letters[i], letter)) out = static_cast<std::uint8_t>(out | 1u << i);
  return out;
}

int japanese_or_chinese(char32_t han) noexcept {
  static const auto& japanese_characters =
      *std::make_unique<const std::vector<char32_t>>(sorted_characters(japanese_only)).release();
  static const auto& chinese_characters =
      *std::make_unique<const std::vector<char32_t>>(sorted_characters(chinese_only)).release();
  return static_cast<int>(std::binary_search(japanese_characters.begin(), japanese_characters.end(), han)) -
         static_cast<int>(std::binary_search(chinese_characters.begin(), chinese_characters.end(), han));
}

namespace {

constexpr std::size_t sample_bytes = std::size_t{16} * 1024;
/// The weight of a Japanese character: about that of three letters.
constexpr std::size_t ideograph_weight = 3;
/// Up to this number of Han characters without kana (a heading, a file name), a text counts as Japanese unless some are Chinese
/// only.
constexpr std::size_t max_short_text = 64;

enum script : std::uint8_t { latin, kana, han, hangul, cyrillic, greek, arabic, hebrew, thai, devanagari, other, script_count };

script script_of(char32_t c) noexcept {
  struct range {
    char32_t first;
    char32_t last;
    script value;
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
  const auto match = std::lower_bound(ranges.begin(), ranges.end(), c,
                                      [](const range& candidate, char32_t point) { return candidate.last < point; });
  return match != ranges.end() && c >= match->first ? match->value : other;
}

class script_counter {
 public:
  void add_text(std::string_view text) {
    std::string word;
    while (!text.empty()) {
      const auto c = ascii::first_character(text);
      const auto script = script_of(c.code);
      if (script == latin) {
        if (word.size() < 32) ascii::append_utf8(word, to_lower(c.code));
      } else {
        add_word(word);
      }
      add_character(c.code, script);
      text.remove_prefix(c.bytes);
    }
    add_word(word);
  }

  [[nodiscard]] std::string language() const {
    const std::size_t ideographs = (script_counts_[kana] + script_counts_[han]) * ideograph_weight;
    std::array<std::pair<std::size_t, script>, 9> letter_counts{{{script_counts_[latin], latin},
                                                                 {ideographs, han},
                                                                 {script_counts_[hangul] * ideograph_weight, hangul},
                                                                 {script_counts_[cyrillic], cyrillic},
                                                                 {script_counts_[greek], greek},
                                                                 {script_counts_[arabic], arabic},
                                                                 {script_counts_[hebrew], hebrew},
                                                                 {script_counts_[thai], thai},
                                                                 {script_counts_[devanagari], devanagari}}};
    const auto best = std::max_element(letter_counts.begin(), letter_counts.end(),
                                       [](const auto& a, const auto& b) { return a.first < b.first; });
    if (best->first < 2) return {};
    switch (best->second) {
      case latin:
        return language_by_words();
      case han:
        return east_asian_language();
      case hangul:
        return "ko";
      case cyrillic:
        return ukrainian_letters_ * 50 > script_counts_[cyrillic] ? "uk" : "ru";
      case greek:
        return "el";
      case arabic:
        return persian_letters_ * 50 > script_counts_[arabic] ? "fa" : "ar";
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
  static char32_t to_lower(char32_t c) noexcept {
    if (c >= 0xFF21 && c <= 0xFF3A) return c - 0xFF21 + U'a';
    if (c >= 0xFF41 && c <= 0xFF5A) return c - 0xFF41 + U'a';
    return (c >= 0xC0 && c <= 0xDE && c != 0xD7) ? c + 0x20 : ascii::to_lower(c);
  }

  void add_character(char32_t c, script script) {
    ++script_counts_[script];
    if (script == han) japanese_score_ += japanese_or_chinese(c);
    // Letters of Ukrainian that Russian lacks: є і ї ґ. Letters of Persian that Arabic lacks: پ چ ژ ک گ ی.
    if (script == cyrillic)
      for (const char32_t ukrainian_letter : {0x404, 0x406, 0x407, 0x454, 0x456, 0x457, 0x490, 0x491})
        if (c == ukrainian_letter) ++ukrainian_letters_;
    if (script == arabic)
      for (const char32_t persian_letter : {0x67E, 0x686, 0x698, 0x6A9, 0x6AF, 0x6CC})
        if (c == persian_letter) ++persian_letters_;
    if (script == latin && c >= 0x80) {
      const auto language_mask = languages_with_letter(to_lower(c));
      for (std::size_t i = 0; i < word_language_count; ++i)
        if ((language_mask >> i & 1) != 0) ++letter_hits_[i];
    }
  }

  void add_word(std::string& word) {
    if (word.empty()) return;
    ++word_count_;
    if (const auto language_mask = languages_with_word(word); language_mask != 0) {
      for (std::size_t i = 0; i < word_language_count; ++i)
        if ((language_mask >> i & 1) != 0) ++word_hits_[i];
    }
    word.clear();
  }

  /// Kana means Japanese. Without kana, Han characters that only one of both languages uses decide, and then the length.
  [[nodiscard]] std::string east_asian_language() const {
    if (script_counts_[kana] * 20 >= script_counts_[han]) return "ja";
    if (japanese_score_ != 0) return japanese_score_ > 0 ? "ja" : "zh";
    return script_counts_[kana] > 0 || script_counts_[han] <= max_short_text ? "ja" : "zh";
  }

  /// The language in which at least one word in twelve is frequent, or whose letters occur, if no other language has as many.
  [[nodiscard]] std::string language_by_words() const {
    std::array<std::size_t, word_language_count> score{};
    std::size_t best = 0;
    for (std::size_t i = 0; i < word_language_count; ++i) {
      score[i] = word_hits_[i] * 4 + std::min(letter_hits_[i], word_hits_[i] * 2 + 2);
      if (score[i] > score[best]) best = i;
    }
    for (std::size_t i = 0; i < word_language_count; ++i)
      if (i != best && score[i] == score[best]) return {};
    if (word_hits_[best] == 0 || word_hits_[best] * 12 < word_count_ || (word_hits_[best] < 2 && word_count_ > 6)) return {};
    return std::string(word_languages[best]);
  }

  std::array<std::size_t, script_count> script_counts_{};
  std::array<std::size_t, word_language_count> word_hits_{};
  std::array<std::size_t, word_language_count> letter_hits_{};
  std::size_t word_count_ = 0;
  std::size_t ukrainian_letters_ = 0;
  std::size_t persian_letters_ = 0;
  long japanese_score_ = 0;
};

}  // namespace

std::string detect_language(std::string_view text) {
  script_counter counter;
  if (text.size() <= 3 * sample_bytes) {
    counter.add_text(text);
  } else {
    counter.add_text(text.substr(0, sample_bytes));
    counter.add_text(text.substr(text.size() / 2 - sample_bytes / 2, sample_bytes));
    counter.add_text(text.substr(text.size() - sample_bytes));
  }
  return counter.language();
}

bool matches_range(std::string_view tag, std::string_view range) noexcept {
  if (range == "*") return true;
  if (range.empty() || !ascii::starts_with_ignore_case(tag, range)) return false;
  return tag.size() == range.size() || tag[range.size()] == '-';
}

}  // namespace hondana::language
