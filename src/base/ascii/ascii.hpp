/// Functions for ASCII text, independent of the locale: character classes, case-insensitive comparison, slugs and runs of
/// asterisks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace hondana::ascii {

[[nodiscard]] constexpr char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
[[nodiscard]] constexpr char32_t lower(char32_t c) noexcept { return c >= U'A' && c <= U'Z' ? c - U'A' + U'a' : c; }

[[nodiscard]] constexpr bool is_upper(char c) noexcept { return c >= 'A' && c <= 'Z'; }
[[nodiscard]] constexpr bool is_lower(char c) noexcept { return c >= 'a' && c <= 'z'; }
[[nodiscard]] constexpr bool is_letter(char c) noexcept { return is_lower(lower(c)); }
[[nodiscard]] constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
[[nodiscard]] constexpr bool is_lower_or_digit(char c) noexcept { return is_lower(c) || is_digit(c); }
[[nodiscard]] constexpr bool is_alphanumeric(char c) noexcept { return is_letter(c) || is_digit(c); }
[[nodiscard]] constexpr bool is_lower_hex_digit(char c) noexcept { return is_digit(c) || (c >= 'a' && c <= 'f'); }
[[nodiscard]] constexpr bool is_hex_digit(char c) noexcept { return is_lower_hex_digit(lower(c)); }
/// A space or tab.
[[nodiscard]] constexpr bool is_blank(char c) noexcept { return c == ' ' || c == '\t'; }
/// JSON white space: space, tab, line feed and carriage return.
[[nodiscard]] constexpr bool is_json_space(char c) noexcept { return is_blank(c) || c == '\n' || c == '\r'; }
/// The white space of C's `isspace`: JSON white space, vertical tab and form feed.
[[nodiscard]] constexpr bool is_space(char c) noexcept { return c == ' ' || (c >= '\t' && c <= '\r'); }

/// Converts A-Z to lower case. Other bytes stay the same.
[[nodiscard]] inline std::string in_lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = lower(c);
  return out;
}

/// Whether two texts are equal when the case of ASCII letters is ignored.
[[nodiscard]] constexpr bool is_same(std::string_view a, std::string_view b) noexcept {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return lower(x) == lower(y); });
}
/// Whether `text` starts with `beginning`, ignoring the case of ASCII letters.
[[nodiscard]] constexpr bool begins_with(std::string_view text, std::string_view beginning) noexcept {
  return text.size() >= beginning.size() && is_same(text.substr(0, beginning.size()), beginning);
}
/// Whether `text` ends with `ending`, ignoring the case of ASCII letters.
[[nodiscard]] constexpr bool ends_with(std::string_view text, std::string_view ending) noexcept {
  return text.size() >= ending.size() && is_same(text.substr(text.size() - ending.size()), ending);
}

inline constexpr std::size_t longest_slug = 64;

/// Whether `text` has 1 to 64 characters, all of them a-z, 0-9 or `-`.
[[nodiscard]] constexpr bool is_slug(std::string_view text) noexcept {
  return !text.empty() && text.size() <= longest_slug && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
}

/// Makes a slug from any text: "My notes, 2024" becomes "my-notes-2024".
/// Letters become lower case. Each run of other characters becomes one `-`. Empty when `text` has no letters or digits.
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

/// The number of consecutive `*` in `text` from position `at` on.
[[nodiscard]] inline std::size_t stars_at(std::string_view text, std::size_t at) noexcept {
  return std::min(text.find_first_not_of('*', at), text.size()) - at;
}

/// Whether a run of this many asterisks marks masked content.
[[nodiscard]] constexpr bool is_mask(std::size_t stars) noexcept {
  constexpr std::size_t most_marks = 3;
  return stars > most_marks;
}

}  // namespace hondana::ascii
