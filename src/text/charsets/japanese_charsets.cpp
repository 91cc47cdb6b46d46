/// Recognizes and decodes Shift_JIS, EUC-JP and ISO-2022-JP byte by byte.
#include "text/charsets/japanese_charsets.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/ascii/ascii.hpp"
#include "base/ascii/code_points.hpp"
#include "text/charsets/charset_converter.hpp"

namespace hondana::charsets {

enum class width : std::uint8_t { ascii, half, full, bad };

struct step {
  coded is{};
  std::uint8_t bytes = 1;
  width how = width::bad;
  bool is_rare = false;  ///< A kanji of level 2 or above.
};

/// The next character; `bytes` is not empty.
[[nodiscard]] step next_of_shift_jis(std::string_view bytes, const japanese_tables& by) noexcept;
[[nodiscard]] step next_of_euc_jp(std::string_view bytes, const japanese_tables& by) noexcept;

/// State machine for ISO-2022-JP with JIS X 0201 katakana, 0212 and 0213. Lines begin in ASCII.
class iso_2022_jp_steps {
 public:
  /// The next character. For an escape sequence that selects a set, only the number of bytes is set.
  [[nodiscard]] step next(std::string_view bytes, const japanese_tables& by) noexcept;
  [[nodiscard]] bool has_chosen() const noexcept { return has_chosen_; }

 private:
  enum class set : std::uint8_t { ascii, katakana, jis_x_0208, jis_x_0212, jis_x_0213_1, jis_x_0213_2 };
  [[nodiscard]] std::uint8_t designate(std::string_view bytes) noexcept;
  [[nodiscard]] coded look_up(std::size_t at, const japanese_tables& by) const noexcept;

  set now_ = set::ascii;
  bool has_chosen_ = false;
};

namespace {

unsigned byte_at(std::string_view bytes, std::size_t at) noexcept { return static_cast<unsigned char>(bytes[at]); }
step ascii(unsigned byte) noexcept { return {{byte, 0}, 1, width::ascii, false}; }
step half(unsigned byte, std::uint8_t bytes) noexcept { return {{0xFF61 + byte - 0xA1, 0}, bytes, width::half, false}; }
bool is_94(unsigned byte) noexcept { return byte >= 0xA1 && byte <= 0xFE; }

/// The character from the first of two sets that has the code.
coded of_either(const japanese_tables::set& first, const japanese_tables::set& second, std::size_t at) noexcept {
  return first[at].first != 0 ? first[at] : second[at];
}

}  // namespace

step next_of_shift_jis(std::string_view bytes, const japanese_tables& by) noexcept {
  const auto lead = byte_at(bytes, 0);
  if (lead < 0x80) return ascii(lead);
  if (lead >= 0xA1 && lead <= 0xDF) return half(lead, 1);
  const bool is_lead = (lead >= 0x81 && lead <= 0x9F) || (lead >= 0xE0 && lead <= 0xFC);
  if (!is_lead || bytes.size() < 2) return {};
  const auto trail = byte_at(bytes, 1);
  if (trail < 0x40 || trail == 0x7F || trail > 0xFC) return {};
  const auto row = lead < 0xA0 ? lead - 0x81 : lead - 0xE0 + 31;
  const auto c = by.cp932[row * 188 + (trail < 0x7F ? trail - 0x40 : trail - 0x80 + 63)];
  // Of an unknown pair, consume the second byte only if it is not ASCII.
  if (c == 0) return {{}, static_cast<std::uint8_t>(trail < 0x80 ? 1 : 2), width::bad, false};
  return {{c, 0}, 2, width::full, lead > 0x98 || (lead == 0x98 && trail > 0x72)};
}

step next_of_euc_jp(std::string_view bytes, const japanese_tables& by) noexcept {
  const auto lead = byte_at(bytes, 0);
  if (lead < 0x80) return ascii(lead);
  const auto second = bytes.size() > 1 ? byte_at(bytes, 1) : 0;
  if (lead == 0x8E) return second >= 0xA1 && second <= 0xDF ? half(second, 2) : step{};
  if (lead == 0x8F) {
    const auto third = bytes.size() > 2 ? byte_at(bytes, 2) : 0;
    if (!is_94(second) || !is_94(third)) return {};
    const auto is = of_either(by.jis_x_0212, by.jis_x_0213_2, (second - 0xA1) * 94 + third - 0xA1);
    return {is, 3, is.first != 0 ? width::full : width::bad, true};
  }
  if (!is_94(lead) || !is_94(second)) return {};
  const auto is = of_either(by.jis_x_0208, by.jis_x_0213_1, (lead - 0xA1) * 94 + second - 0xA1);
  return {is, 2, is.first != 0 ? width::full : width::bad, lead >= 0xD0};
}

std::uint8_t iso_2022_jp_steps::designate(std::string_view bytes) noexcept {
  struct designation {
    std::string_view escape;
    set chosen;
  };
  static constexpr std::array escapes{
      designation{"\x1b(B", set::ascii},
      designation{"\x1b(J", set::ascii},
      designation{"\x1b(H", set::ascii},
      designation{"\x1b(I", set::katakana},
      designation{"\x1b$@", set::jis_x_0208},
      designation{"\x1b$B", set::jis_x_0208},
      designation{"\x1b&@\x1b$B", set::jis_x_0208},
      designation{"\x1b$(@", set::jis_x_0208},
      designation{"\x1b$(B", set::jis_x_0208},
      designation{"\x1b$(D", set::jis_x_0212},
      designation{"\x1b$(O", set::jis_x_0213_1},
      designation{"\x1b$(Q", set::jis_x_0213_1},
      designation{"\x1b$(P", set::jis_x_0213_2},
  };
  for (const auto& one : escapes)
    if (bytes.substr(0, one.escape.size()) == one.escape) {
      now_ = one.chosen;
      has_chosen_ = has_chosen_ || now_ != set::ascii;
      return static_cast<std::uint8_t>(one.escape.size());
    }
  return 0;
}

coded iso_2022_jp_steps::look_up(std::size_t at, const japanese_tables& by) const noexcept {
  switch (now_) {
    case set::jis_x_0212:
      return by.jis_x_0212[at];
    case set::jis_x_0213_1:
      return of_either(by.jis_x_0213_1, by.jis_x_0208, at);
    case set::jis_x_0213_2:
      return by.jis_x_0213_2[at];
    default:
      return of_either(by.jis_x_0208, by.jis_x_0213_1, at);
  }
}

step iso_2022_jp_steps::next(std::string_view bytes, const japanese_tables& by) noexcept {
  const auto lead = byte_at(bytes, 0);
  if (lead == 0x1B)
    if (const auto taken = designate(bytes); taken > 0) return {{}, taken, width::ascii, false};
  if (lead == '\n' || lead == '\r') now_ = set::ascii;
  if (lead >= 0x80) return {};
  if (now_ == set::ascii || lead <= 0x20 || lead == 0x7F) return ascii(lead);
  if (now_ == set::katakana) return lead <= 0x5F ? half(lead + 0x80, 1) : step{};
  const auto second = bytes.size() > 1 ? byte_at(bytes, 1) : 0;
  if (second <= 0x20 || second >= 0x7F) return {};
  const auto is = look_up((lead - 0x21) * 94 + second - 0x21, by);
  return {is, 2, is.first != 0 ? width::full : width::bad, lead >= 0x50};
}

/// Whether a kanji is one of the several hundred that are most frequent in newspapers and computer documents.
[[nodiscard]] bool is_frequent_kanji(char32_t c) noexcept;

namespace {

constexpr std::u32string_view frequent =
    U"日一国会人年大十二本中長出三同時政事自行社見月分議後前民生連五発間対上部東者党地合市業内相方四定今回新場金員九入選立"
    U"開手米力学問高代明実円関決子動京全目表戦経通外最言氏現理調体化田当八六約主題下首意法不来作性的要用制治度務強気小七成期"
    U"公野協取都和統以機平総加山思家話世受区領多県続進正安設保改数記院女初北午指権心界支第産結百派点教報済書府活原先共得解名"
    U"交資予川向際査勝面委告軍文反元重近千考判認画海参売利組知案道信策集在件団別物側任引使求所次水半品昨論計死官増係感特情投"
    U"示変打男基私各始島直両朝革価式確村提運終挙果西勢減台広容必応演電歳住争談能無再位置企真流格有疑口過局少放税検藤町常校料"
    U"沢裁状工建語球営空職証土与急止送援供可役構木割聞身費付施切由説転食比難防補車優夫研収断井何南石足違消境神番規術護展態導"
    U"鮮備宅害配副算視条幹独警宮究育席輸訪楽起万着乗店述残想線率病農州武声質念待試族象銀域助労例衛然早張映限親額監環験追審商"
    U"葉義伝働形景落欧担好退準賀訴辺造英被株頭技低毎医復仕去姿味負閣韓渡失移差衆個門写評課末守若脳極種美岡影命含福蔵量望松非"
    U"撃佐核観察整段横融型白深字答夜製票況音申様財港識注呼渉達録図索覧版編簡修障更登載項印刷削除読込押絵庫館夏冬春秋青赤黒星"
    U"花火風雨雪朝昼夕友母父兄弟姉妹親犬猫鳥魚馬牛肉茶飯酒菜薬服室階駅路橋速遅軽弱暗温寒暑冷熱幸悪丸角類系図接続拡張起源処"
    U"理単純複雑例題仮圧縮列配値返像索引標絡稿概略歩帳簿請契約納級効率精適宛振込払済履歴票欄頁枚冊号氷永城宿暦札片側敷巻刊";

}  // namespace

bool is_frequent_kanji(char32_t c) noexcept {
  static const std::vector<char32_t> sorted = [] {
    std::vector<char32_t> out(frequent.begin(), frequent.end());
    std::sort(out.begin(), out.end());
    return out;
  }();
  return std::binary_search(sorted.begin(), sorted.end(), c);
}

namespace {

constexpr int of_bad = -24;
constexpr int of_isolated = -12;

/// The score of a full-width character.
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

/// The score of half-width katakana, which few texts contain. A voiced mark after a suitable letter indicates a real word.
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
