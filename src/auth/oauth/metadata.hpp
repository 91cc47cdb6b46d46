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

using transport::http_client::small_answer;
using transport::http_client::small_caller;
using transport::http_client::small_request;

struct caller_of_http {
  small_caller call{};
  std::chrono::milliseconds time{10'000};  ///< For each request.
};

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

/// Where a server's tokens come from.
struct authority {
  std::string resource{};             ///< For the parameter `resource`: as published; else the canonical URL.
  std::optional<scope_set> scopes{};  ///< That the MCP server publishes.
  server_metadata server{};
  bool is_assumed = false;   ///< Nobody has published anything; `server` has the default endpoints of 2025-03-26.
  bool is_published = true;  ///< False: it is a server of 2025-03-26, found at the origin of the MCP server itself.
};

/// Picks one of the issuers that a server names; the first unless there is a reason.
using issuer_choice = std::function<result<std::string>(const std::vector<std::string>& named)>;

/// For the MCP server at `url`, a canonical one; `hint` is the URL of metadata that it named in a challenge, or empty.
///
/// Errors: those of the choice; broken_protocol for metadata that must not be used; source_unavailable, which says what was
/// tried, when there is none; timed_out, cancelled. Threads: any; blocks.
/// Spec: basic/authorization/authorization-server-discovery, 2025-03-26 basic/authorization#server-metadata-discovery.
[[nodiscard]] result<authority> discover(const caller_of_http& http, const std::string& url, const std::string& hint,
                                         const issuer_choice& choose, const std::stop_token& stop);

/// The metadata of one issuer. Errors: as above.
[[nodiscard]] result<server_metadata> server_of(const caller_of_http& http, const std::string& issuer,
                                                const std::stop_token& stop);

}  // namespace hondana::oauth
