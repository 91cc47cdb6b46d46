/// Percent-escapes (RFC 3986 section 2.1) and the UTF-8 they carry.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace hondana::uri {

/// The octet of the escape at `at`, or nothing when `text` has no whole escape there.
[[nodiscard]] std::optional<unsigned char> escape_at(std::string_view text, std::size_t at) noexcept;

/// Appends `octet` as an escape with upper-case digits.
void append_escape(std::string& out, unsigned char octet);

/// What a URI spells, for people to look for: each escape decoded but those of slashes, which would be other segments. It is no
/// URI any more. Never longer.
[[nodiscard]] std::string decoded_but_slashes(std::string_view uri);

/// A path in the file system's bytes as the canonical form of a `file` URI writes it; its slashes stay slashes.
[[nodiscard]] std::string escaped_file_path(std::string_view bytes);

/// The length of the well-formed UTF-8 sequence at `at` (RFC 3629: no overlong forms, no surrogates), or 0.
[[nodiscard]] std::size_t utf8_length(std::string_view text, std::size_t at) noexcept;

/// The length at `at` of one code point of text that may hold escapes; an escape or octet that starts no well-formed UTF-8
/// is one by itself. `at` must lie before the end, and every `%` must start a whole escape.
[[nodiscard]] std::size_t escaped_code_point_length(std::string_view text, std::size_t at) noexcept;

/// Gives escapes and raw non-ASCII octets their canonical spelling: upper-case digits, unreserved characters decoded, other
/// octets escaped. Returns `text` itself when it is canonical already, otherwise a view of `storage`; nothing when an escape is
/// broken or stands for NUL.
[[nodiscard]] std::optional<std::string_view> canonical_escapes(std::string_view text, std::string& storage);

}  // namespace hondana::uri
