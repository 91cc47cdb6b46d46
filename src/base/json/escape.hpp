/// Escapes JSON strings (RFC 8259 section 7). Uses AVX2 if the CPU supports it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/json/buffer.hpp"

namespace hondana::json {

/// Appends `text` with quotes, backslashes and control characters escaped. Adds no quotes.
/// Other bytes are copied unchanged, so a text can be escaped in pieces of any size. `text` must be well-formed UTF-8 as a
/// whole.
void append_escaped(std::string& out, std::string_view text);
/// The same, directly into a buffer: for contents.
void append_escaped(buffer& out, std::string_view text);

/// The same without AVX2.
void append_escaped_portable(std::string& out, std::string_view text);
void append_escaped_portable(buffer& out, std::string_view text);

/// The number of input bytes escaped per step, and the free capacity with which such a step never grows the buffer.
inline constexpr std::size_t escape_step = std::size_t{8} << 10;
inline constexpr std::size_t escape_capacity = 6 * escape_step + 64;

/// Whether `text` is ASCII without characters to escape: between quotes it is a JSON string.
[[nodiscard]] bool is_plain_ascii(std::string_view text) noexcept;

/// The number of bytes at the start of `text` that need no escaping: up to a quote, a backslash or a control character.
[[nodiscard]] std::size_t plain_run(std::string_view text) noexcept;

}  // namespace hondana::json
