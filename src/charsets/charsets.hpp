/// Texts in whatever encoding they were written, as UTF-8.
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
[[nodiscard]] std::optional<decoded> decode(std::string_view bytes, std::string_view declared = {});

}  // namespace hondana::charsets
