/// What MCP servers and authorization servers publish about themselves.
#pragma once

#include <cstddef>
#include <hondana/error.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "auth/oauth/scopes.hpp"

namespace hondana::oauth {

inline constexpr std::size_t longest_metadata = 256u << 10;
inline constexpr std::size_t most_metadata_values = 20'000;
inline constexpr std::size_t most_authorization_servers = 32;

/// Of an MCP server. Spec: RFC 9728 section 2.
struct resource_metadata {
  std::string resource{};  ///< As spelled.
  std::vector<std::string> authorization_servers{};
  std::optional<scope_set> scopes{};
};

/// Errors: broken_protocol, which names the member: for what is no such metadata, names no authorization server, or one whose
/// URL cannot be used.
[[nodiscard]] result<resource_metadata> read_resource_metadata(std::string_view json);

/// Of an authorization server. Spec: RFC 8414 section 2, OpenID Connect Discovery 1.0 section 3.
struct server_metadata {
  std::string issuer{};
  std::string authorization_endpoint{};  ///< Empty: it has none.
  std::string token_endpoint{};
  std::string registration_endpoint{};  ///< Empty: it has none.
  std::string revocation_endpoint{};    ///< Empty: it has none.
  scope_set scopes{};
  std::optional<std::vector<std::string>> grants{};
  std::optional<std::vector<std::string>> methods{};     ///< `token_endpoint_auth_methods_supported`.
  std::optional<std::vector<std::string>> algorithms{};  ///< `token_endpoint_auth_signing_alg_values_supported`.
  std::optional<std::vector<std::string>> challenge_methods{};
  bool sends_issuer = false;     ///< `authorization_response_iss_parameter_supported`.
  bool takes_documents = false;  ///< `client_id_metadata_document_supported`.
};

/// Whether such a list of strings has one.
[[nodiscard]] bool lists(const std::vector<std::string>& all, std::string_view one);

/// Errors: broken_protocol, which names the member: for what is no such metadata, another issuer than `issuer`, and endpoints
/// that cannot be used. Spec: RFC 8414 section 3.3.
[[nodiscard]] result<server_metadata> read_server_metadata(std::string_view json, const std::string& issuer);

/// Of a server of 2025-03-26 that publishes nothing. Spec: 2025-03-26 basic/authorization, fallbacks for servers without
/// metadata discovery.
[[nodiscard]] server_metadata metadata_by_default(const std::string& base);

/// Whether it can be asked for codes: with PKCE by S256. `must_say`: silence means no. Errors: unsupported.
/// Spec: basic/authorization/security-considerations#authorization-code-protection.
[[nodiscard]] result<void> check_code_grant(const server_metadata& of, bool must_say);

}  // namespace hondana::oauth
