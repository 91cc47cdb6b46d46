/// Encodings other than UTF-8, by the names that commits and files use.
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

}  // namespace hondana::git
