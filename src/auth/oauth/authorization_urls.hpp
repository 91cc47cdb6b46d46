/// URLs of MCP servers (resources), issuers, endpoints and metadata, and checks of these URLs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

namespace hondana::oauth {

/// Returns the canonical URL of an MCP server, for token requests and the store: scheme and host in lower case, no fragment,
/// and no path that is only a slash. Errors: invalid_argument for a URL that is not http or https, or has a user name. Spec:
/// basic/authorization#canonical-server-uri.
[[nodiscard]] result<std::string> canonical_resource(const std::string& url);

/// Whether the resource in published metadata names the server at `url`: the same URL, or one of the same origin whose path is
/// above it. Spec: basic/authorization/authorization-server-discovery, RFC 9728 section 3.3.
[[nodiscard]] bool is_resource_of(const std::string& published, const std::string& url);

/// Returns the URLs where an MCP server may publish metadata, in the order to try: with the path and query of `resource`, then
/// without them. Spec: RFC 9728 section 3.1.
[[nodiscard]] std::vector<std::string> resource_metadata_urls(const std::string& resource);

/// Returns a URL for error messages, see `transport::http_client::display_url`.
[[nodiscard]] std::string display_url(std::string_view url);

/// Returns the beginning of a URL: `scheme://host[:port]` as the URL spells it.
[[nodiscard]] std::string base_url(const std::string& url);

/// Whether the URL's host is a name of this machine: localhost, 127.0.0.0/8, ::1.
[[nodiscard]] bool is_on_this_machine(const std::string& url);

/// Checks the URL of an endpoint: https, or http on this machine, without user name, fragment and characters that are special
/// to shells. Errors: protocol_error. `name`: what the error text calls the URL.
[[nodiscard]] result<void> check_endpoint(const std::string& url, std::string_view name);

/// Checks an issuer: like `check_endpoint`, and without query. Spec: RFC 8414 section 2.
[[nodiscard]] result<void> check_issuer(const std::string& url);

}  // namespace hondana::oauth
