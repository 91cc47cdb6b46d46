/// The language of a text, language ranges, and texts folded for comparison.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace hondana::language {

/// BCP 47 of the main language of a UTF-8 text: "ja", "en", "de", "fr", "es", "it", "pt", "nl", "zh", "ko", "ru", …; empty: too
/// little or too mixed to say. Looks at 16 KiB each from the front, middle and end at most. Text in two languages is of the one
/// that has more letters, where a Japanese character counts for three Latin ones. Han without kana are Japanese or Chinese by
/// characters that only one of them writes, and without these Japanese up to 64 characters. Latin text needs frequent words.
[[nodiscard]] std::string language_of(std::string_view text);

/// Whether a BCP 47 tag is in a range: "ja" has "ja" and "ja-JP"; matching is as RFC 4647 3.3.1 says, in either case.
[[nodiscard]] bool is_in_range(std::string_view tag, std::string_view range) noexcept;

/// Text in the form that is compared: NFKC (full and half width, ligatures, circled digits), case folded, voiced marks
/// composed, soft hyphens and other ignorables dropped. Between katakana a hyphen (U+2010), minus sign (U+2212) or line
/// (U+2500) is the long vowel mark ー it was meant to be; dashes (– — ―) stay. Malformed bytes become U+FFFD. Never longer than
/// 18 times the text.
[[nodiscard]] std::string folded(std::string_view text);

/// The same, and where each byte comes from: `source[i]` is the offset in `text` of the character that made byte `i` of
/// `folded`; one more at the end is `text.size()`. They never go back, also where marks changed places.
struct folded_text {
  std::string text{};
  std::vector<std::size_t> source{};
};
[[nodiscard]] folded_text folded_with_sources(std::string_view text);

/// NFC, for names and paths that are shown. What is not UTF-8 stays as it is.
[[nodiscard]] std::string composed(std::string_view text);

}  // namespace hondana::language
