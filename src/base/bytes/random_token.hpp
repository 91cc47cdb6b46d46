/// Random bytes for identifiers and tokens, hexadecimal encoding, and the token68 syntax.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <hondana/error.hpp>

namespace hondana::bytes {

/// Encodes each byte as two lower-case hexadecimal digits.
[[nodiscard]] std::string to_hex(std::string_view raw);

/// Returns `count` bytes from the system's generator, at most 256. Errors: internal if it fails.
[[nodiscard]] result<std::string> random_bytes(std::size_t count);

/// Whether `text` is a token68: at least one letter, digit or one of `- . _ ~ + /`, then any number of `=`.
/// Spec: RFC 9110 section 11.2, RFC 6750 section 2.1.
[[nodiscard]] bool is_token68(std::string_view text) noexcept;

}  // namespace hondana::bytes
