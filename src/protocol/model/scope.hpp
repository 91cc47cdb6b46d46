/// What may be a scope.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace hondana::model {

inline constexpr std::size_t longest_scope = 256;

/// Visible ASCII without quotation marks and backslashes, and not endless. Spec: RFC 6749 section 3.3.
[[nodiscard]] inline bool is_scope(std::string_view text) noexcept {
  return !text.empty() && text.size() <= longest_scope &&
         std::all_of(text.begin(), text.end(), [](char one) { return one > ' ' && one < '\x7f' && one != '"' && one != '\\'; });
}

/// With a space between each two, as OAuth writes them.
[[nodiscard]] inline std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const auto& one : words) out += (out.empty() ? "" : " ") + one;
  return out;
}

}  // namespace hondana::model
