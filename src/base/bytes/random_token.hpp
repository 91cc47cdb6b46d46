/// Random bytes for identifiers and tokens, their hexadecimal form, and the token68 syntax.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <hondana/error.hpp>

namespace hondana::bytes {

/// Two lower-case hexadecimal digits a byte.
[[nodiscard]] std::string to_hex(std::string_view raw);

/// At most 256. Errors: internal, when the system has none.
[[nodiscard]] result<std::string> random_bytes(std::size_t count);

/// Letters, digits and - . _ ~ + /, at least one, and perhaps some = at the end. Spec: RFC 9110 section 11.2, RFC 6750
/// section 2.1.
[[nodiscard]] bool is_token68(std::string_view text) noexcept;

}  // namespace hondana::bytes
