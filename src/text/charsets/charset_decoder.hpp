/// Detects the charset of a text and decodes it to UTF-8.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace hondana::charsets {

/// A text as UTF-8, and its original encoding.
struct decoded_text {
  std::string text{};            ///< Well-formed UTF-8 without NUL and without a byte order mark.
  std::string charset{};         ///< The IANA name: "UTF-8", "Shift_JIS", "EUC-JP", "ISO-2022-JP", "UTF-16LE", …
  std::size_t replacements = 0;  ///< Number of positions that are invalid in that encoding; each is a U+FFFD in the text.
};

/// Detects the encoding of a text and converts it to UTF-8. No value: the bytes are not text. Time: linear. Threads: any.
///
/// `declared`: the charset that the source states, by a media type ("text/html; charset=…"), a `<meta>` element, an Emacs or
/// Vim line, or a rule. It may be a whole media type. It is used if the bytes allow it. Empty: none.
///
/// Detects UTF-8, ISO-2022-JP, EUC-JP and Shift_JIS, with the extensions of CP932 and EUC-JP-MS. Detects UTF-16 if it is
/// evident, and UTF-16 and UTF-32 by a byte order mark. Otherwise uses the result of uchardet. Examines whole texts, but passes
/// at most 1 MiB to uchardet. For a text in mixed encodings, selects the one that fits most of it; the rest is replaced and
/// counted.
///
/// Well-formed UTF-8 is decoded as such, unless a Japanese charset is declared and fits well. ASCII counts as UTF-8. Bytes with
/// NUL are not text, except UTF-16 and UTF-32. Neither are bytes of which more than one in thirty is another control character,
/// and charsets that the C library cannot convert.
[[nodiscard]] std::optional<decoded_text> decode(std::string_view bytes, std::string_view declared = {});

/// Loads all converters. Call before a sandbox starts, which may forbid that the C library reads their files on first use.
/// Takes about ten milliseconds, once. Without this call, `decode` loads them when needed; if that fails, texts in such
/// charsets are not text.
void load_converters();

}  // namespace hondana::charsets
