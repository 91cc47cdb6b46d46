/// Names that stand in URIs as they are: what sources are called.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "base/ascii/characters.hpp"

namespace hondana::ascii {

inline constexpr std::size_t longest_slug = 64;

/// 1 to 64 of a-z, 0-9 and `-`.
[[nodiscard]] constexpr bool is_slug(std::string_view text) noexcept {
  return !text.empty() && text.size() <= longest_slug && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
}

/// One made of a text, with a `-` for each run of other characters between those that stay; empty when none do.
[[nodiscard]] inline std::string slug_of(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const char small = lower(c);
    const bool is_kept = is_letter(small) || (small >= '0' && small <= '9');
    if (is_kept) out += small;
    if (!is_kept && !out.empty() && out.back() != '-') out += '-';
    if (out.size() == longest_slug) break;
  }
  while (out.ends_with('-')) out.pop_back();
  return out;
}

}  // namespace hondana::ascii
