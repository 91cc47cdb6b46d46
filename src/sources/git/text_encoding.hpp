/// Detects the encoding of bytes from a repository and converts them to UTF-8.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hondana::git {

/// The proper name of an encoding that is said to be used, such as "Shift_JIS" for "sjis"; empty: it is not one of those that
/// are known. UTF-8 and ASCII are "UTF-8".
[[nodiscard]] std::string_view encoding_called(std::string_view said) noexcept;

/// Bytes in an encoding, by its proper name, as UTF-8; nothing when they do not fit it, or the system has no table for it.
[[nodiscard]] std::optional<std::string> decoded(std::string_view bytes, std::string_view encoding);

/// The same of windows-1252, with U+FFFD for the five bytes that it lacks; this never fails, and asks no table.
[[nodiscard]] std::string decoded_windows_1252(std::string_view bytes);

/// Text in UTF-8, and what it was before.
struct converted {
  std::string text;
  std::string from;  ///< The name of the encoding it was in, such as "Shift_JIS"; empty: UTF-8 already.
};

/// `bytes` in the encoding they are said to be in (a commit's `encoding` header); without one UTF-8 where it is well-formed,
/// and else one of UTF-16 with a byte order mark, EUC-JP, Shift_JIS and windows-1252, whichever fits first; the two
/// Japanese ones fit only what looks Japanese, since most western texts could be read so. A name that is not known, and one
/// that the bytes do not fit, is as none. Never fails: what fits nothing is windows-1252 with U+FFFD for what it lacks.
[[nodiscard]] converted to_utf8(std::string_view bytes, std::string_view said_to_be = {});

/// The same for contents of files: nothing where it is no text (it has a NUL, but for UTF-16 with its mark; or it is not UTF-8
/// and has control characters that no text has).
[[nodiscard]] std::optional<converted> text_of_file(std::string_view bytes);

/// A path for people: U+FFFD for bytes that are no UTF-8. In URIs every such byte is percent-encoded instead, so that the path
/// comes back as it was.
[[nodiscard]] std::string shown_path_of(std::string_view path);

}  // namespace hondana::git
