/// Functions for ASCII text, independent of the locale: character classes, case-insensitive comparison, slugs and runs of
/// asterisks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace hondana::ascii {

[[nodiscard]] constexpr char to_lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
[[nodiscard]] constexpr char32_t to_lower(char32_t c) noexcept { return c >= U'A' && c <= U'Z' ? c - U'A' + U'a' : c; }

[[nodiscard]] constexpr bool is_upper(char c) noexcept { return c >= 'A' && c <= 'Z'; }
[[nodiscard]] constexpr bool is_lower(char c) noexcept { return c >= 'a' && c <= 'z'; }
[[nodiscard]] constexpr bool is_letter(char c) noexcept { return is_lower(to_lower(c)); }
[[nodiscard]] constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
[[nodiscard]] constexpr bool is_lower_or_digit(char c) noexcept { return is_lower(c) || is_digit(c); }
[[nodiscard]] constexpr bool is_alphanumeric(char c) noexcept { return is_letter(c) || is_digit(c); }
[[nodiscard]] constexpr bool is_lower_hex_digit(char c) noexcept { return is_digit(c) || (c >= 'a' && c <= 'f'); }
[[nodiscard]] constexpr bool is_hex_digit(char c) noexcept { return is_lower_hex_digit(to_lower(c)); }
/// A space or tab.
[[nodiscard]] constexpr bool is_blank(char c) noexcept { return c == ' ' || c == '\t'; }
/// JSON white space: space, tab, line feed and carriage return.
[[nodiscard]] constexpr bool is_json_space(char c) noexcept { return is_blank(c) || c == '\n' || c == '\r'; }
/// The white space of C's `isspace`: JSON white space, vertical tab and form feed.
[[nodiscard]] constexpr bool is_space(char c) noexcept { return c == ' ' || (c >= '\t' && c <= '\r'); }

/// Converts A-Z to lower case. Other bytes stay the same.
[[nodiscard]] inline std::string to_lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = to_lower(c);
  return out;
}

/// Whether two texts are equal, ignoring the case of ASCII letters.
[[nodiscard]] constexpr bool equals_ignore_case(std::string_view a, std::string_view b) noexcept {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return to_lower(x) == to_lower(y); });
}
/// Whether `text` starts with `prefix`, ignoring the case of ASCII letters.
[[nodiscard]] constexpr bool starts_with_ignore_case(std::string_view text, std::string_view prefix) noexcept {
  return text.size() >= prefix.size() && equals_ignore_case(text.substr(0, prefix.size()), prefix);
}
/// Whether `text` ends with `suffix`, ignoring the case of ASCII letters.
[[nodiscard]] constexpr bool ends_with_ignore_case(std::string_view text, std::string_view suffix) noexcept {
  return text.size() >= suffix.size() && equals_ignore_case(text.substr(text.size() - suffix.size()), suffix);
}

inline constexpr std::size_t max_slug_bytes = 64;

/// Whether `text` has 1 to 64 characters, all of them a-z, 0-9 or `-`.
[[nodiscard]] constexpr bool is_slug(std::string_view text) noexcept {
  return !text.empty() && text.size() <= max_slug_bytes && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
}

/// Makes a slug from any text: "My notes, 2024" becomes "my-notes-2024". Keeps at most `max_slug_bytes` characters.
/// ASCII letters become lower case. Each run of characters other than ASCII letters and digits becomes one `-`, which is
/// removed at both ends. Empty if `text` has no ASCII letters or digits.
[[nodiscard]] inline std::string slugify(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const char lowered = to_lower(c);
    const bool is_slug_character = is_letter(lowered) || (lowered >= '0' && lowered <= '9');
    if (is_slug_character) out += lowered;
    if (!is_slug_character && !out.empty() && out.back() != '-') out += '-';
    if (out.size() == max_slug_bytes) break;
  }
  while (out.ends_with('-')) out.pop_back();
  return out;
}

/// The number of consecutive `*` in `text` from `position` on, which must not be beyond its end.
[[nodiscard]] inline std::size_t count_stars(std::string_view text, std::size_t position) noexcept {
  return std::min(text.find_first_not_of('*', position), text.size()) - position;
}

/// Whether a run of this many asterisks stands for a masked secret. Shorter runs can be emphasis in Markdown.
[[nodiscard]] constexpr bool is_mask(std::size_t stars) noexcept {
  constexpr std::size_t max_emphasis_stars = 3;
  return stars > max_emphasis_stars;
}

}  // namespace hondana::ascii
