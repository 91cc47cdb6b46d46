/// Detects the encoding of bytes from a repository and converts them to UTF-8.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hondana::git {

/// The canonical name of an encoding, such as "Shift_JIS" for "sjis". Empty: unknown. UTF-8 and ASCII are "UTF-8".
[[nodiscard]] std::string_view canonical_encoding(std::string_view label) noexcept;

/// Converts bytes to UTF-8. `encoding`: any name that `canonical_encoding` knows. nullopt: the bytes are invalid in the
/// encoding, or the name or the system does not support it.
[[nodiscard]] std::optional<std::string> decode(std::string_view bytes, std::string_view encoding);

/// Converts bytes from windows-1252 to UTF-8, with U+FFFD for its five undefined bytes. Does not use tables of the system.
[[nodiscard]] std::string decode_windows_1252(std::string_view bytes);

struct converted_text {
  std::string text;      ///< UTF-8.
  std::string encoding;  ///< The original encoding, such as "Shift_JIS". Empty: UTF-8.
};

/// Converts bytes from their declared encoding, such as that of a commit, to UTF-8. If the declaration is missing or wrong,
/// uses the first that fits of: UTF-8, UTF-16 with a byte order mark, EUC-JP, Shift_JIS, windows-1252. EUC-JP and Shift_JIS fit
/// only if the text looks Japanese. windows-1252 always fits, with U+FFFD for undefined bytes.
[[nodiscard]] converted_text to_utf8(std::string_view bytes, std::string_view declared_encoding = {});

/// Converts the content of a file to UTF-8, like `to_utf8` without a declaration. nullopt: the content is not text. It has a
/// NUL (except in UTF-16 with a byte order mark), or is not UTF-8 and has control characters that are unusual in texts.
[[nodiscard]] std::optional<converted_text> decode_file(std::string_view bytes);

/// Converts a path for display, with U+FFFD for bytes that are not UTF-8. The result may not identify the path; see
/// `encode_path`.
[[nodiscard]] std::string display_path(std::string_view path);

}  // namespace hondana::git
