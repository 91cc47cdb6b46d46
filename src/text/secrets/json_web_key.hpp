/// Private members of JSON web keys.
#pragma once

#include <string_view>

namespace hondana::secrets {

/// Whether the member `name` is secret in a key whose `kty` is `type`.
[[nodiscard]] bool is_private_member(std::string_view type, std::string_view name) noexcept;

}  // namespace hondana::secrets
