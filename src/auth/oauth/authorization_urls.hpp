/// URLs of authorization: resources, issuers and endpoints, where metadata is, and which may be used.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

namespace hondana::oauth {

/// The URL of an MCP server as tokens are asked for and kept by it: scheme and host in lower case, no fragment, no slash that
/// is the whole path. Errors: invalid_argument for what is no http or https URL, or has a user name.
/// Spec: basic/authorization#canonical-server-uri.
[[nodiscard]] result<std::string> canonical_resource(const std::string& url);

/// Whether `published` names the server at `url`, or a place of the same origin that it lies below.
/// Spec: basic/authorization/authorization-server-discovery, RFC 9728 section 3.3.
[[nodiscard]] bool is_resource_of(const std::string& published, const std::string& url);

/// Where a server's metadata is looked for: its path inserted, then the root. Spec: RFC 9728 section 3.1.
[[nodiscard]] std::vector<std::string> resource_metadata_places(const std::string& resource);

/// A URL as it may stand in an error: without user name and query, and not endless.
[[nodiscard]] std::string shown(std::string_view url);

/// `scheme://host[:port]` as the URL spells it.
[[nodiscard]] std::string base_of(const std::string& url);

/// Whether a URL's host is this machine by its name: localhost, 127.0.0.0/8, ::1.
[[nodiscard]] bool is_on_this_machine(const std::string& url);

/// Errors: broken_protocol, which names `what`: for a URL that is neither https nor http on this machine, has a user name or a
/// fragment, or characters that endpoints have no use for and shells do.
[[nodiscard]] result<void> check_endpoint(const std::string& url, std::string_view what);

/// The same for issuers, which have no query either. Spec: RFC 8414 section 2.
[[nodiscard]] result<void> check_issuer(const std::string& url);

}  // namespace hondana::oauth
