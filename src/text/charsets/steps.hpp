/// The next character in each Japanese charset.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "text/charsets/converting.hpp"

namespace hondana::charsets {

enum class width : std::uint8_t { ascii, half, full, bad };

struct step {
  coded is{};
  std::uint8_t bytes = 1;
  width how = width::bad;
  bool is_rare = false;  ///< Of level 2 or above.
};

/// Of a text that is not empty.
[[nodiscard]] step next_of_shift_jis(std::string_view bytes, const japanese_tables& by) noexcept;
[[nodiscard]] step next_of_euc_jp(std::string_view bytes, const japanese_tables& by) noexcept;

/// ISO-2022-JP with JIS X 0201 katakana, 0212 and 0213; lines begin in ASCII. Kept from one character to the next.
class iso_2022_jp_steps {
 public:
  /// Designations are characters of no width: `bytes` alone.
  [[nodiscard]] step next(std::string_view bytes, const japanese_tables& by) noexcept;
  [[nodiscard]] bool has_chosen() const noexcept { return has_chosen_; }

 private:
  enum class set : std::uint8_t { ascii, katakana, jis_x_0208, jis_x_0212, jis_x_0213_1, jis_x_0213_2 };
  [[nodiscard]] std::uint8_t designate(std::string_view bytes) noexcept;
  [[nodiscard]] coded look_up(std::size_t at, const japanese_tables& by) const noexcept;

  set now_ = set::ascii;
  bool has_chosen_ = false;
};

}  // namespace hondana::charsets
