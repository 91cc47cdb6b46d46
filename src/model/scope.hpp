/// What may be a scope.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace hondana::model {

inline constexpr std::size_t longest_scope = 256;

/// Visible ASCII without quotation marks and backslashes, and not endless. Spec: RFC 6749 section 3.3.
[[nodiscard]] inline bool is_scope(std::string_view text) noexcept {
  return !text.empty() && text.size() <= longest_scope &&
         std::all_of(text.begin(), text.end(), [](char one) { return one > ' ' && one < '\x7f' && one != '"' && one != '\\'; });
}

}  // namespace hondana::model
