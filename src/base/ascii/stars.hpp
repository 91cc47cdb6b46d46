/// Asterisks in a row: marks of emphasis as long as they are few, and otherwise a secret that was masked.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace hondana::ascii {

/// How many there are from `at` on.
[[nodiscard]] inline std::size_t stars_at(std::string_view text, std::size_t at) noexcept {
  return std::min(text.find_first_not_of('*', at), text.size()) - at;
}

/// Whether so many are a mask, which people are to see.
[[nodiscard]] constexpr bool is_mask(std::size_t stars) noexcept {
  constexpr std::size_t most_marks = 3;
  return stars > most_marks;
}

}  // namespace hondana::ascii
