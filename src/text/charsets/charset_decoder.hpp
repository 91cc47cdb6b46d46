/// Detects the charset of a text and decodes it to UTF-8.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace hondana::charsets {

/// A text as UTF-8, and what it was.
struct decoded {
  std::string text{};        ///< Well-formed UTF-8 without NUL and without a byte order mark.
  std::string charset{};     ///< As IANA writes it: "UTF-8", "Shift_JIS", "EUC-JP", "ISO-2022-JP", "UTF-16LE", …
  std::size_t replaced = 0;  ///< Places that are not of that encoding, each a U+FFFD in the text.
};

/// Finds out how a text is encoded and converts it. `declared`: what its source says ("text/html; charset=…", a `<meta>`, an
/// Emacs or Vim line, a rule), believed where the bytes allow it; empty: nobody says anything.
///
/// UTF-8 and UTF-16 (with a mark or evidently), ISO-2022-JP, EUC-JP, Shift_JIS (with the extensions of CP932 and EUC-JP-MS),
/// and else what uchardet takes it for. Whole texts are looked at, not their beginnings. A text that mixes encodings is taken
/// for the one that fits most of it, and the rest is replaced and counted. Nothing: these bytes are no text. Time: linear.
///
/// What is well-formed UTF-8 is that whatever is declared, unless it is declared as Japanese and reads so. ASCII alone is
/// UTF-8. `declared` may be a whole media type. uchardet sees 1 MiB of what is not ASCII. Bytes with NUL (but UTF-16 and
/// UTF-32), or of which one in thirty is another control character, are no text; neither are those whose charset the C library
/// cannot convert. Threads: any.
[[nodiscard]] std::optional<decoded> decode(std::string_view bytes, std::string_view declared = {});

/// Gets all converters ready: the C library reads their files when they are first used, which a sandbox may forbid later. Takes
/// some ten milliseconds, once. Without, `decode` does so when it must; where that fails, texts in such charsets are no text.
void load();

}  // namespace hondana::charsets
