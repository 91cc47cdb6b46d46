/// The language of a text, language ranges, and texts folded for comparison.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace hondana::language {

/// Returns the BCP 47 tag of the main language of a UTF-8 text, such as "ja". Empty if the text is too short or too mixed.
/// Scripts identify "ja", "zh", "ko", "ru" and others. Words identify "en", "de", "fr", "es", "it", "pt", "nl" and "sv".
///
/// Examines at most 16 KiB each from the front, middle and end. In a text with two languages, the one with more letters wins; a
/// Japanese character counts as three Latin letters. Han characters without kana are Japanese or Chinese, by characters that
/// only one of them uses; without such, Japanese up to 64 characters. Latin text needs frequent words.
[[nodiscard]] std::string detect_language(std::string_view text);

/// Whether a BCP 47 tag is in a range: "ja" matches "ja" and "ja-JP"; "*" matches every tag; "" none. Case does not matter.
/// Spec: RFC 4647, 3.3.1.
[[nodiscard]] bool matches_range(std::string_view tag, std::string_view range) noexcept;

/// Returns the text in a form for comparison. Applies NFKC (full and half width, ligatures, circled digits), folds case,
/// composes voiced marks, and drops soft hyphens and other ignorable characters. Between katakana, a hyphen (U+2010), minus
/// sign (U+2212) or line (U+2500) becomes the long vowel mark ー; dashes (– — ―) stay. Malformed bytes become U+FFFD. The
/// result is at most 18 times as long as the text.
[[nodiscard]] std::string fold(std::string_view text);

/// Folded text with the origin of each byte.
struct folded_text {
  std::string text{};
  /// For each byte of `text`, the offset of its character in the original text; at the end also the size of the original text.
  /// Offsets never decrease, even if marks were reordered.
  std::vector<std::size_t> source_offsets{};
};
/// Folds like `fold`.
[[nodiscard]] folded_text fold_with_offsets(std::string_view text);

/// Returns the text in NFC, for names and paths that are shown. Malformed bytes stay unchanged.
[[nodiscard]] std::string to_nfc(std::string_view text);

}  // namespace hondana::language
