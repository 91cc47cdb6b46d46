/// What bearer tokens are made of.
#pragma once

#include <string_view>

namespace hondana::bytes {

/// Letters, digits and - . _ ~ + /, at least one, and perhaps some = at the end. Spec: RFC 9110 section 11.2, RFC 6750
/// section 2.1.
[[nodiscard]] bool is_token68(std::string_view text) noexcept;

}  // namespace hondana::bytes
