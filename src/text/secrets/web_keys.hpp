/// Members of JSON web keys (RFC 7517, RFC 7518 section 6).
#pragma once

#include <string_view>

namespace hondana::secrets {

/// Whether the member `name` of a key is secret whose `kty` is `type`.
[[nodiscard]] bool is_private_member(std::string_view type, std::string_view name) noexcept;

}  // namespace hondana::secrets
