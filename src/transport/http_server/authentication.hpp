/// Helpers to authenticate HTTP requests: bearer tokens, challenges, metadata for clients, and comparisons of callers.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include <hondana/authenticator.hpp>
#include <hondana/provider.hpp>

#include "base/executor/thread_pool.hpp"
#include "transport/http_server/forwarded.hpp"
#include "transport/http_server/request_head.hpp"

namespace hondana::transport::http_server {

/// How the callers of a server are authenticated. Immutable. Threads: any.
struct authentication_settings {
  std::shared_ptr<authenticator> verifier;  ///< Null: all callers are accepted.
  trusted_proxies proxies;
  std::shared_ptr<executor::thread_pool> pool;  ///< For calls of `authenticator::authenticate`. Null if `verifier` is null.
};

/// Returns the token of `Authorization: Bearer`. Empty optional: there is none, or another scheme. Errors: a text without any
/// part of the token, for repeated fields or invalid characters. Spec: RFC 6750 section 2.1.
[[nodiscard]] tl::expected<std::optional<std::string>, std::string_view> parse_bearer(const request_head& head);

/// Returns the URL of this server as the request names it: "https://host:port".
[[nodiscard]] std::string server_url(bool is_secure, std::string_view host);

/// Returns the URL of the metadata for requests to `path` ("/mcp", "/sse"). `base_url`: the result of `server_url`. Spec: RFC
/// 9728 section 3.1.
[[nodiscard]] std::string metadata_url(const protected_resource& resource_metadata, std::string_view base_url,
                                       std::string_view path);

/// Returns the metadata about `path` as JSON; an empty path means the whole server. `base_url`: the result of `server_url`.
/// Empty optional: the server has no such path. Spec: RFC 9728 sections 2 and 3.2.
[[nodiscard]] std::optional<std::string> metadata_json(const protected_resource& resource_metadata, std::string_view base_url,
                                                       std::string_view path);

/// Returns the line `WWW-Authenticate: Bearer …` with CR LF. Replaces characters that parameters do not allow. `metadata`: the
/// result of `metadata_url`; empty: none. `description`: not sent if `error` is empty. Spec: RFC 6750 section 3, RFC 9728
/// section 5.1.
[[nodiscard]] std::string challenge_line(std::string_view metadata, std::string_view error, std::string_view description,
                                         const std::vector<std::string>& scopes);

/// Whether both callers have the same identity and the same OAuth client.
[[nodiscard]] bool is_same_caller(const caller_info& owner, const caller_info& other);

/// Whether both callers have the same access filter, or none.
[[nodiscard]] bool has_same_access_filter(const caller_info& left, const caller_info& right);

}  // namespace hondana::transport::http_server
