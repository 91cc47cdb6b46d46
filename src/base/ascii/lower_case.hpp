/// Letters of ASCII in lower case. Everything else stays as it is, whatever the locale.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace hondana::ascii {

[[nodiscard]] constexpr char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
[[nodiscard]] constexpr char32_t lower(char32_t c) noexcept { return c >= U'A' && c <= U'Z' ? c - U'A' + U'a' : c; }

[[nodiscard]] constexpr bool is_letter(char c) noexcept { return lower(c) >= 'a' && lower(c) <= 'z'; }

[[nodiscard]] inline std::string in_lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = lower(c);
  return out;
}

/// Whether the two are the same but for the case of their letters.
[[nodiscard]] constexpr bool is_same(std::string_view a, std::string_view b) noexcept {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return lower(x) == lower(y); });
}
[[nodiscard]] constexpr bool begins_with(std::string_view text, std::string_view beginning) noexcept {
  return text.size() >= beginning.size() && is_same(text.substr(0, beginning.size()), beginning);
}
[[nodiscard]] constexpr bool ends_with(std::string_view text, std::string_view ending) noexcept {
  return text.size() >= ending.size() && is_same(text.substr(text.size() - ending.size()), ending);
}

}  // namespace hondana::ascii
