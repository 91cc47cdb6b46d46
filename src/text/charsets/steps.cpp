/// Shift_JIS, EUC-JP and ISO-2022-JP a character at a time.
#include "text/charsets/steps.hpp"

#include <array>

namespace hondana::charsets {
namespace {

unsigned byte_at(std::string_view bytes, std::size_t at) noexcept { return static_cast<unsigned char>(bytes[at]); }
step ascii(unsigned byte) noexcept { return {{byte, 0}, 1, width::ascii, false}; }
step half(unsigned byte, std::uint8_t bytes) noexcept { return {{0xFF61 + byte - 0xA1, 0}, bytes, width::half, false}; }
bool is_94(unsigned byte) noexcept { return byte >= 0xA1 && byte <= 0xFE; }

/// The first of two sets that has a code.
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
  // What is unknown takes an ASCII letter with it only where it is known to be a pair.
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

}  // namespace hondana::charsets
