/// What those are told who are not let in: why, and where to find out how to get a token.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/authenticator.hpp>

namespace hondana::transport::http_server {

/// What this server is called by the request at hand: "https://host:port".
[[nodiscard]] std::string called(bool is_secure, std::string_view host);

/// Where the metadata is about what a client asks for at `path` ("/mcp", "/sse"). Spec: RFC 9728 section 3.1.
[[nodiscard]] std::string metadata_url(const protected_resource& what, std::string_view called, std::string_view path);

/// The metadata about `path`, as JSON; nothing when there is nothing there. Empty: about the whole server.
/// Spec: RFC 9728 sections 2 and 3.2.
[[nodiscard]] std::optional<std::string> metadata_text(const protected_resource& what, std::string_view called,
                                                       std::string_view path);

/// The line `WWW-Authenticate: Bearer …` with CR LF. What the parameters cannot have is replaced. `metadata`: a URL; empty:
/// none. Spec: RFC 6750 section 3, RFC 9728 section 5.1.
[[nodiscard]] std::string challenge_line(std::string_view metadata, std::string_view error, std::string_view description,
                                         const std::vector<std::string>& scopes);

}  // namespace hondana::transport::http_server
