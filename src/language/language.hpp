/// In which language a text is, and its characters in one form.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace hondana::language {

/// BCP 47 of the main language of a UTF-8 text: "ja", "en", "de", "fr", "es", "it", "pt", "nl", "zh", "ko", "ru", …; empty: too
/// little or too mixed to say. Looks at 16 KiB from the front, middle and end at most. Text in two languages is of the one that
/// has more letters, where a Japanese character counts for three Latin ones.
[[nodiscard]] std::string language_of(std::string_view text);

/// Whether a BCP 47 tag is in a range: "ja" has "ja" and "ja-JP"; matching is as RFC 4647 3.3.1 says, in either case.
[[nodiscard]] bool is_in_range(std::string_view tag, std::string_view range) noexcept;

/// Text in the form that is compared: NFKC (full and half width, ligatures, circled digits), case folded, voiced marks
/// composed, soft hyphens and other ignorables dropped. Malformed bytes become U+FFFD. Never longer than 18 times the text.
[[nodiscard]] std::string folded(std::string_view text);

/// The same, and where each byte comes from: `source[i]` is the offset in `text` of the character that made byte `i` of
/// `folded`; one more at the end is `text.size()`.
struct folded_text {
  std::string text{};
  std::vector<std::size_t> source{};
};
[[nodiscard]] folded_text folded_with_sources(std::string_view text);

/// NFC, for names and paths that are shown. What is not UTF-8 stays as it is.
[[nodiscard]] std::string composed(std::string_view text);

}  // namespace hondana::language
