/// Reads the token that a request carries.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "transport/http_server/request_head.hpp"

namespace hondana::transport::http_server {

/// The token of `Authorization: Bearer`; nothing when there is none, or another scheme. Errors: what is wrong, in words that
/// repeat nothing of it: several fields, or a token with characters that no token may have. Spec: RFC 6750 section 2.1.
[[nodiscard]] tl::expected<std::optional<std::string>, std::string_view> read_bearer(const request_head& head);

}  // namespace hondana::transport::http_server
