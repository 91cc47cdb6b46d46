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

enum class width_class : std::uint8_t { ascii, half, full, invalid };

struct decoded_character {
  mapped_character character{};
  std::uint8_t bytes = 1;
  width_class width = width_class::invalid;
  bool is_rare = false;  ///< A kanji of level 2 or above.
};

/// The next character; `bytes` is not empty.
[[nodiscard]] decoded_character next_shift_jis(std::string_view bytes, const japanese_tables& tables) noexcept;
[[nodiscard]] decoded_character next_euc_jp(std::string_view bytes, const japanese_tables& tables) noexcept;

/// State machine for ISO-2022-JP with JIS X 0201 katakana, 0212 and 0213. Lines begin in ASCII.
class iso_2022_jp_decoder {
 public:
  /// The next character. For an escape sequence that selects a set, only the number of bytes is set.
  [[nodiscard]] decoded_character next(std::string_view bytes, const japanese_tables& tables) noexcept;
  [[nodiscard]] bool has_designated() const noexcept { return has_designated_; }

 private:
  enum class code_set : std::uint8_t { ascii, katakana, jis_x_0208, jis_x_0212, jis_x_0213_1, jis_x_0213_2 };
  [[nodiscard]] std::uint8_t designate(std::string_view bytes) noexcept;
  [[nodiscard]] mapped_character look_up(std::size_t index, const japanese_tables& tables) const noexcept;

  code_set current_set_ = code_set::ascii;
  bool has_designated_ = false;
};

namespace {

unsigned byte_at(std::string_view bytes, std::size_t position) noexcept { return static_cast<unsigned char>(bytes[position]); }
decoded_character ascii_character(unsigned byte) noexcept { return {{byte, 0}, 1, width_class::ascii, false}; }
decoded_character half_width_character(unsigned byte, std::uint8_t bytes) noexcept {
  return {{0xFF61 + byte - 0xA1, 0}, bytes, width_class::half, false};
}
bool is_94_byte(unsigned byte) noexcept { return byte >= 0xA1 && byte <= 0xFE; }

/// The character from the first of two sets that has the code.
mapped_character look_up_either(const japanese_tables::charset_table& first, const japanese_tables::charset_table& second,
                                std::size_t index) noexcept {
  return first[index].first != 0 ? first[index] : second[index];
}

}  // namespace

decoded_character next_shift_jis(std::string_view bytes, const japanese_tables& tables) noexcept {
  const auto lead = byte_at(bytes, 0);
  if (lead < 0x80) return ascii_character(lead);
  if (lead >= 0xA1 && lead <= 0xDF) return half_width_character(lead, 1);
  const bool is_lead = (lead >= 0x81 && lead <= 0x9F) || (lead >= 0xE0 && lead <= 0xFC);
  if (!is_lead || bytes.size() < 2) return {};
  const auto trail = byte_at(bytes, 1);
  if (trail < 0x40 || trail == 0x7F || trail > 0xFC) return {};
  const auto row = lead < 0xA0 ? lead - 0x81 : lead - 0xE0 + 31;
  const auto c = tables.cp932[row * 188 + (trail < 0x7F ? trail - 0x40 : trail - 0x80 + 63)];
  // Of an unknown pair, consume the second byte only if it is not ASCII.
  if (c == 0) return {{}, static_cast<std::uint8_t>(trail < 0x80 ? 1 : 2), width_class::invalid, false};
  return {{c, 0}, 2, width_class::full, lead > 0x98 || (lead == 0x98 && trail > 0x72)};
}

decoded_character next_euc_jp(std::string_view bytes, const japanese_tables& tables) noexcept {
  const auto lead = byte_at(bytes, 0);
  if (lead < 0x80) return ascii_character(lead);
  const auto second = bytes.size() > 1 ? byte_at(bytes, 1) : 0;
  if (lead == 0x8E) return second >= 0xA1 && second <= 0xDF ? half_width_character(second, 2) : decoded_character{};
  if (lead == 0x8F) {
    const auto third = bytes.size() > 2 ? byte_at(bytes, 2) : 0;
    if (!is_94_byte(second) || !is_94_byte(third)) return {};
    const auto character = look_up_either(tables.jis_x_0212, tables.jis_x_0213_2, (second - 0xA1) * 94 + third - 0xA1);
    return {character, 3, character.first != 0 ? width_class::full : width_class::invalid, true};
  }
  if (!is_94_byte(lead) || !is_94_byte(second)) return {};
  const auto character = look_up_either(tables.jis_x_0208, tables.jis_x_0213_1, (lead - 0xA1) * 94 + second - 0xA1);
  return {character, 2, character.first != 0 ? width_class::full : width_class::invalid, lead >= 0xD0};
}

std::uint8_t iso_2022_jp_decoder::designate(std::string_view bytes) noexcept {
  struct designation {
    std::string_view escape;
    code_set target;
  };
  static constexpr std::array escapes{
      designation{"\x1b(B", code_set::ascii},
      designation{"\x1b(J", code_set::ascii},
      designation{"\x1b(H", code_set::ascii},
      designation{"\x1b(I", code_set::katakana},
      designation{"\x1b$@", code_set::jis_x_0208},
      designation{"\x1b$B", code_set::jis_x_0208},
      designation{"\x1b&@\x1b$B", code_set::jis_x_0208},
      designation{"\x1b$(@", code_set::jis_x_0208},
      designation{"\x1b$(B", code_set::jis_x_0208},
      designation{"\x1b$(D", code_set::jis_x_0212},
      designation{"\x1b$(O", code_set::jis_x_0213_1},
      designation{"\x1b$(Q", code_set::jis_x_0213_1},
      designation{"\x1b$(P", code_set::jis_x_0213_2},
  };
  for (const auto& entry : escapes)
    if (bytes.substr(0, entry.escape.size()) == entry.escape) {
      current_set_ = entry.target;
      has_designated_ = has_designated_ || current_set_ != code_set::ascii;
      return static_cast<std::uint8_t>(entry.escape.size());
    }
  return 0;
}

mapped_character iso_2022_jp_decoder::look_up(std::size_t index, const japanese_tables& tables) const noexcept {
  switch (current_set_) {
    case code_set::jis_x_0212:
      return tables.jis_x_0212[index];
    case code_set::jis_x_0213_1:
      return look_up_either(tables.jis_x_0213_1, tables.jis_x_0208, index);
    case code_set::jis_x_0213_2:
      return tables.jis_x_0213_2[index];
    default:
      return look_up_either(tables.jis_x_0208, tables.jis_x_0213_1, index);
  }
}

decoded_character iso_2022_jp_decoder::next(std::string_view bytes, const japanese_tables& tables) noexcept {
  const auto lead = byte_at(bytes, 0);
  if (lead == 0x1B)
    if (const auto escape_bytes = designate(bytes); escape_bytes > 0) return {{}, escape_bytes, width_class::ascii, false};
  if (lead == '\n' || lead == '\r') current_set_ = code_set::ascii;
  if (lead >= 0x80) return {};
  if (current_set_ == code_set::ascii || lead <= 0x20 || lead == 0x7F) return ascii_character(lead);
  if (current_set_ == code_set::katakana) return lead <= 0x5F ? half_width_character(lead + 0x80, 1) : decoded_character{};
  const auto second = bytes.size() > 1 ? byte_at(bytes, 1) : 0;
  if (second <= 0x20 || second >= 0x7F) return {};
  const auto character = look_up((lead - 0x21) * 94 + second - 0x21, tables);
  return {character, 2, character.first != 0 ? width_class::full : width_class::invalid, lead >= 0x50};
}

/// Whether a kanji is one of the several hundred that are most frequent in newspapers and computer documents.
[[nodiscard]] bool is_frequent_kanji(char32_t c) noexcept;

namespace {

constexpr std::u32string_view frequent_kanji =
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
    std::vector<char32_t> out(frequent_kanji.begin(), frequent_kanji.end());
    std::sort(out.begin(), out.end());
    return out;
  }();
  return std::binary_search(sorted.begin(), sorted.end(), c);
}

namespace {

constexpr int invalid_score = -24;
constexpr int isolated_score = -12;

/// The score of a full-width character.
int score_of(const decoded_character& character) noexcept {
  const auto c = character.character.first;
  if (c >= 0x3041 && c <= 0x3096) return 12;
  if ((c >= 0x30A1 && c <= 0x30FA) || c == 0x30FC) return 8;
  if (c >= 0x3000 && c <= 0x303F) return 4;
  if (c >= 0xFF01 && c <= 0xFF5E) return 4;
  if (c >= 0xE000 && c <= 0xF8FF) return -16;
  if (c >= 0x4E00 && c <= 0x9FFF) return is_frequent_kanji(c) ? 8 : character.is_rare ? -6 : -1;
  return c >= 0x2000 && c <= 0x2FFF ? 1 : -4;
}

/// The score of half-width katakana, which few texts contain. A voiced mark after a suitable letter indicates a real word.
int score_of_half_width(char32_t c, char32_t previous) noexcept {
  const bool is_after_kana = previous >= 0xFF66 && previous <= 0xFF9F;
  if (c == 0xFF9E) return (previous >= 0xFF76 && previous <= 0xFF84) || (previous >= 0xFF8A && previous <= 0xFF8E) ? 8 : -8;
  if (c == 0xFF9F) return previous >= 0xFF8A && previous <= 0xFF8E ? 8 : -8;
  if (c == 0xFF70) return is_after_kana ? 4 : -8;
  if (c >= 0xFF67 && c <= 0xFF6F && !is_after_kana) return -8;
  return c <= 0xFF65 ? -2 : -1;
}

class statistics_collector {
 public:
  void add(const decoded_character& character) {
    if (character.width == width_class::ascii) {
      const bool is_letter = character.character.first < 0x80 && ascii::is_letter(static_cast<char>(character.character.first));
      if (run_length_ == 1 && is_letter && is_after_letter_) {
        ++statistics_.isolated;
        statistics_.score += isolated_score;
      }
      run_length_ = 0;
      is_after_letter_ = is_letter;
      previous_ = 0;
      return;
    }
    ++run_length_;
    if (character.width == width_class::invalid) {
      ++statistics_.invalid;
      statistics_.score += invalid_score;
    } else {
      ++statistics_.characters;
      statistics_.score += character.width == width_class::half ? score_of_half_width(character.character.first, previous_)
                                                                : score_of(character);
      if (character.character.first >= 0x3041 && character.character.first <= 0x30FC) ++statistics_.kana;
    }
    previous_ = character.character.first;
  }
  [[nodiscard]] const decoding_statistics& statistics() const noexcept { return statistics_; }

 private:
  decoding_statistics statistics_{};
  std::size_t run_length_ = 0;
  bool is_after_letter_ = false;
  char32_t previous_ = 0;
};

class utf8_writer {
 public:
  explicit utf8_writer(std::size_t bytes) { output_.text.reserve(bytes + bytes / 2); }
  void add(const decoded_character& character) {
    if (character.width == width_class::invalid) {
      ascii::append_utf8(output_.text, ascii::replacement_character);
      ++output_.replacements;
    } else if (character.character.first != 0) {
      ascii::append_utf8(output_.text, character.character.first);
      if (character.character.second != 0) ascii::append_utf8(output_.text, character.character.second);
    }
  }
  [[nodiscard]] converted_text&& release() noexcept { return std::move(output_); }

 private:
  converted_text output_{};
};

template <class Consumer, class Next>
void for_each_character(std::string_view bytes, Consumer& consumer, const Next& next) {
  while (!bytes.empty()) {
    const decoded_character character = next(bytes);
    consumer.add(character);
    bytes.remove_prefix(character.bytes);
  }
}

template <class Next>
decoding_statistics collect_statistics(std::string_view bytes, const Next& next) {
  statistics_collector collector;
  for_each_character(bytes, collector, next);
  return collector.statistics();
}

template <class Next>
converted_text decode_all(std::string_view bytes, const Next& next) {
  utf8_writer writer(bytes.size());
  for_each_character(bytes, writer, next);
  return writer.release();
}

}  // namespace

decoding_statistics scan_shift_jis(std::string_view bytes, const japanese_tables& tables) {
  return collect_statistics(bytes, [&tables](std::string_view remaining) { return next_shift_jis(remaining, tables); });
}
decoding_statistics scan_euc_jp(std::string_view bytes, const japanese_tables& tables) {
  return collect_statistics(bytes, [&tables](std::string_view remaining) { return next_euc_jp(remaining, tables); });
}
decoding_statistics scan_iso_2022_jp(std::string_view bytes, const japanese_tables& tables) {
  iso_2022_jp_decoder decoder;
  auto out = collect_statistics(bytes, [&](std::string_view remaining) { return decoder.next(remaining, tables); });
  if (!decoder.has_designated()) out.characters = 0;
  return out;
}

converted_text decode_shift_jis(std::string_view bytes, const japanese_tables& tables) {
  return decode_all(bytes, [&tables](std::string_view remaining) { return next_shift_jis(remaining, tables); });
}
converted_text decode_euc_jp(std::string_view bytes, const japanese_tables& tables) {
  return decode_all(bytes, [&tables](std::string_view remaining) { return next_euc_jp(remaining, tables); });
}
converted_text decode_iso_2022_jp(std::string_view bytes, const japanese_tables& tables) {
  iso_2022_jp_decoder decoder;
  return decode_all(bytes, [&](std::string_view remaining) { return decoder.next(remaining, tables); });
}

}  // namespace hondana::charsets
