/// Escapes JSON strings (RFC 8259 section 7). Uses AVX2 if the CPU supports it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/json/buffer.hpp"

namespace hondana::json {

/// Appends `text` with quotation marks, backslashes and control characters escaped. Does not add quotation marks around it.
/// Copies other bytes without checking UTF-8. A text can therefore be escaped in pieces of any size.
void append_escaped(std::string& out, std::string_view text);
/// Like the overload for strings, but faster, because the buffer is not zeroed first.
void append_escaped(buffer& out, std::string_view text);

/// Like `append_escaped`, without AVX2.
void append_escaped_portable(std::string& out, std::string_view text);
void append_escaped_portable(buffer& out, std::string_view text);

/// The maximum number of input bytes that `append_escaped` escapes into a `buffer` at a time.
inline constexpr std::size_t escape_step = std::size_t{8} << 10;
/// A buffer with this much free capacity does not grow when `escape_step` bytes are escaped into it.
inline constexpr std::size_t escape_capacity = 6 * escape_step + 64;

/// Whether `text` is ASCII without characters to escape, so that it is a JSON string between quotation marks.
[[nodiscard]] bool is_plain_ascii(std::string_view text) noexcept;

/// The number of bytes before the first quotation mark, backslash or control character in `text`.
[[nodiscard]] std::size_t plain_run(std::string_view text) noexcept;

}  // namespace hondana::json
