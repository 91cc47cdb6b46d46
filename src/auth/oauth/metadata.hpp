/// Metadata that MCP servers and authorization servers publish, and its discovery.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

#include "auth/oauth/scopes.hpp"
#include "transport/http_client/small_request.hpp"

namespace hondana::oauth {

using transport::http_client::small_request;
using transport::http_client::small_request_function;
using transport::http_client::small_response;

/// The HTTP client for metadata and tokens.
struct http_caller {
  small_request_function call{};
  std::chrono::milliseconds timeout{10'000};  ///< Timeout of each request.
};

inline constexpr std::size_t max_metadata_bytes = 256u << 10;
inline constexpr std::size_t max_metadata_values = 20'000;  ///< JSON values in one document.
inline constexpr std::size_t max_authorization_servers = 32;

/// Metadata of an MCP server. Spec: RFC 9728 section 2.
struct resource_metadata {
  std::string resource{};                            ///< The URL of the server, as published.
  std::vector<std::string> authorization_servers{};  ///< Issuers; at least one.
  std::optional<scope_set> scopes{};                 ///< `scopes_supported`; empty optional: not published.
};

/// Parses the metadata of an MCP server. Errors: protocol_error, naming the member: for malformed metadata, and if it names no
/// authorization server, or one with an unusable URL.
[[nodiscard]] result<resource_metadata> read_resource_metadata(std::string_view json);

/// Metadata of an authorization server. Empty optionals: not published. Spec: RFC 8414 section 2, OpenID Connect Discovery 1.0
/// section 3.
struct server_metadata {
  std::string issuer{};
  std::string authorization_endpoint{};  ///< Empty: none.
  std::string token_endpoint{};
  std::string registration_endpoint{};                          ///< Empty: none.
  std::string revocation_endpoint{};                            ///< Empty: none.
  scope_set scopes{};                                           ///< `scopes_supported`.
  std::optional<std::vector<std::string>> grants{};             ///< `grant_types_supported`.
  std::optional<std::vector<std::string>> methods{};            ///< `token_endpoint_auth_methods_supported`.
  std::optional<std::vector<std::string>> algorithms{};         ///< `token_endpoint_auth_signing_alg_values_supported`.
  std::optional<std::vector<std::string>> challenge_methods{};  ///< `code_challenge_methods_supported`.
  bool sends_issuer = false;                                    ///< `authorization_response_iss_parameter_supported`.
  bool supports_metadata_documents = false;                     ///< `client_id_metadata_document_supported`.
};

/// Whether the list contains the text.
[[nodiscard]] bool contains(const std::vector<std::string>& list, std::string_view text);

/// Parses the metadata of an authorization server. Errors: protocol_error, naming the member: for malformed metadata, an issuer
/// other than `issuer`, and unusable endpoints. Spec: RFC 8414 section 3.3.
[[nodiscard]] result<server_metadata> read_server_metadata(std::string_view json, const std::string& issuer);

/// Returns the default endpoints of an MCP server of 2025-03-26 that publishes no metadata. `base`: see `base_url`. Spec:
/// 2025-03-26 basic/authorization, fallbacks for servers without metadata discovery.
[[nodiscard]] server_metadata default_metadata(const std::string& base);

/// Checks that the server supports authorization codes with PKCE (S256). `must_declare`: a server that publishes no challenge
/// methods is rejected. Errors: unsupported. Spec:
/// basic/authorization/security-considerations#authorization-code-protection.
[[nodiscard]] result<void> check_code_grant(const server_metadata& server, bool must_declare);

/// Where the tokens of an MCP server come from.
struct authority {
  std::string resource{};             ///< The parameter `resource`: as published, otherwise the canonical URL.
  std::optional<scope_set> scopes{};  ///< See `resource_metadata::scopes`.
  server_metadata server{};
  bool is_assumed = false;   ///< No metadata was found; `server` has the default endpoints of 2025-03-26.
  bool is_published = true;  ///< The MCP server publishes metadata. False: as in 2025-03-26, it is its own issuer.
};

/// Selects one of the issuers that an MCP server names.
using issuer_choice = std::function<result<std::string>(const std::vector<std::string>& issuers)>;

/// Finds the authorization server of the MCP server at `url`, a canonical URL. `metadata_hint`: the URL of its metadata from a
/// challenge, which is tried first; may be empty. Threads: any; blocks.
///
/// Errors: those of `choose` and of `http`; protocol_error for unusable metadata; unauthorized for metadata of another server;
/// source_unavailable, listing the places tried, if the chosen issuer has no metadata. Spec:
/// basic/authorization/authorization-server-discovery, 2025-03-26 basic/authorization#server-metadata-discovery.
[[nodiscard]] result<authority> discover(const http_caller& http, const std::string& url, const std::string& metadata_hint,
                                         const issuer_choice& choose, const std::stop_token& stop);

/// Fetches the metadata of an issuer. Threads: any; blocks. Errors: as for `discover`.
[[nodiscard]] result<server_metadata> fetch_server_metadata(const http_caller& http, const std::string& issuer,
                                                            const std::stop_token& stop);

}  // namespace hondana::oauth
