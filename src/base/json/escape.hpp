/// Escapes JSON strings (RFC 8259 section 7), vectorized where the machine allows.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/json/buffer.hpp"

namespace hondana::json {

/// Appends `text` with quotes, backslashes and control characters escaped; other bytes pass unchanged, so a text may be
/// escaped in pieces cut anywhere. Adds no quotes. `text` must be well-formed UTF-8 as a whole.
void append_escaped(std::string& out, std::string_view text);
/// The same straight into a buffer: for contents.
void append_escaped(buffer& out, std::string_view text);

/// The same without vectors, for machines without AVX2.
void append_escaped_portable(std::string& out, std::string_view text);
void append_escaped_portable(buffer& out, std::string_view text);

/// What a buffer best has room for beyond what it holds, so that escaping `escape_step` bytes never makes it grow.
inline constexpr std::size_t escape_step = std::size_t{8} << 10;
inline constexpr std::size_t escape_room = 6 * escape_step + 64;

/// Whether `text` is ASCII without anything to escape: its JSON string is itself between quotes.
[[nodiscard]] bool is_plain_ascii(std::string_view text) noexcept;

/// How many bytes at the start of `text` stand for themselves in a JSON string: up to a quote, a backslash or a control
/// character.
[[nodiscard]] std::size_t plain_run(std::string_view text) noexcept;

}  // namespace hondana::json
