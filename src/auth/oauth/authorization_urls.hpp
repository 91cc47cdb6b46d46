/// URLs of authorization: resources, issuers, endpoints and metadata; and the checks of what may be used.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

namespace hondana::oauth {

/// The canonical URL of an MCP server, for token requests and the store: scheme and host in lower case, no fragment, and no
/// path that is only a slash. Errors: invalid_argument for a URL that is not http or https, or has a user name. Spec:
/// basic/authorization#canonical-server-uri.
[[nodiscard]] result<std::string> canonical_resource(const std::string& url);

/// Whether `published` names the server at `url`, or a URL of the same origin above it. Spec:
/// basic/authorization/authorization-server-discovery, RFC 9728 section 3.3.
[[nodiscard]] bool is_resource_of(const std::string& published, const std::string& url);

/// URLs of a server's metadata, in order: with its path inserted, then at the root. Spec: RFC 9728 section 3.1.
[[nodiscard]] std::vector<std::string> resource_metadata_urls(const std::string& resource);

/// A URL for error messages: without user name and query, and truncated.
[[nodiscard]] std::string display_url(std::string_view url);

/// `scheme://host[:port]` as the URL spells it.
[[nodiscard]] std::string base_url(const std::string& url);

/// Whether the URL's host is a name of this machine: localhost, 127.0.0.0/8, ::1.
[[nodiscard]] bool is_on_this_machine(const std::string& url);

/// Checks an endpoint. It must be https, or http on this machine, without user name, fragment and characters that are special
/// to shells. Errors: protocol_error, naming `name`.
[[nodiscard]] result<void> check_endpoint(const std::string& url, std::string_view name);

/// The same for an issuer, which must not have a query either. Spec: RFC 8414 section 2.
[[nodiscard]] result<void> check_issuer(const std::string& url);

}  // namespace hondana::oauth
