/// How long what fails is left alone.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace hondana::search {

/// After so many failures in a row: 5 s, and twice as long each time, up to a minute.
[[nodiscard]] constexpr std::chrono::seconds pause_after(std::size_t failures) noexcept {
  constexpr std::chrono::seconds first{5};
  constexpr std::chrono::seconds longest{60};
  constexpr std::size_t most_doublings = 4;
  const auto doublings = std::min(failures == 0 ? 0 : failures - 1, most_doublings);
  return std::min(first * (1 << doublings), longest);
}

}  // namespace hondana::search
