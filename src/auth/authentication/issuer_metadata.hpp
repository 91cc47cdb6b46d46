/// What an authorization server publishes of itself, as far as a resource server needs it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

namespace hondana::authentication {

/// Whether it is an http or https URL with a host and without user name and fragment.
[[nodiscard]] bool is_address(const std::string& url);
/// Whether it may be an issuer: such a URL without a query. Spec: RFC 8414
/// section 2.
[[nodiscard]] bool is_issuer(const std::string& url);

inline constexpr std::size_t most_metadata_bytes = 256u << 10;

/// The `jwks_uri` of a metadata document. Errors: access_denied when it is about another issuer; broken_protocol for what is
/// no such document or has no URL of keys.
[[nodiscard]] result<std::string> keys_place_in(std::string_view document, const std::string& issuer);

}  // namespace hondana::authentication
