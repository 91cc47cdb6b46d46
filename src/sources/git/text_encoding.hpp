/// Detects the encoding of bytes from a repository and converts them to UTF-8.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hondana::git {

/// The proper name of a declared encoding, such as "Shift_JIS" for "sjis"; empty if it is unknown. UTF-8 and ASCII are "UTF-8".
[[nodiscard]] std::string_view canonical_encoding(std::string_view label) noexcept;

/// Converts bytes from an encoding, given by its proper name, to UTF-8. Nothing if they are invalid in it, or if the system
/// does not support it.
[[nodiscard]] std::optional<std::string> decode(std::string_view bytes, std::string_view encoding);

/// The same for windows-1252, with U+FFFD for its five undefined bytes. Never fails, and does not use tables of the system.
[[nodiscard]] std::string decode_windows_1252(std::string_view bytes);

/// Text in UTF-8, and its original encoding.
struct converted_text {
  std::string text;
  std::string encoding;  ///< The original encoding, such as "Shift_JIS"; empty: UTF-8.
};

/// Converts bytes from their declared encoding (a commit's `encoding` header). Without one it is UTF-8 if that is valid.
/// Otherwise it is the first that fits of: UTF-16 with a byte order mark, EUC-JP, Shift_JIS, windows-1252. The Japanese ones
/// fit only if the text looks Japanese, because most western texts are valid in them. A declaration that is unknown, or that
/// the bytes do not fit, is ignored. Never fails: bytes that fit no encoding are windows-1252, with U+FFFD for undefined bytes.
[[nodiscard]] converted_text to_utf8(std::string_view bytes, std::string_view declared_encoding = {});

/// The same for contents of files. Nothing if the content is not text. That is so if it has a NUL, except in UTF-16 with a byte
/// order mark. It is also so if it is not UTF-8 and has control characters that texts do not have.
[[nodiscard]] std::optional<converted_text> decode_file(std::string_view bytes);

/// A path for people, with U+FFFD for bytes that are not UTF-8. In URIs every such byte is percent-encoded instead, so that the
/// path is preserved.
[[nodiscard]] std::string display_path(std::string_view path);

}  // namespace hondana::git
