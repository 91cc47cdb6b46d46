/// Where servers publish what they say of themselves. Spec: RFC 8615.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hondana::uri {

/// Where the metadata of an authorization server may be, in the order to try them: RFC 8414, and OpenID Connect Discovery with
/// the issuer's path inserted and appended. `issuer`: a URL without a query.
/// Spec: basic/authorization/authorization-server-discovery, RFC 8414 section 3.1, OpenID Connect Discovery section 4.
[[nodiscard]] std::vector<std::string> issuer_metadata_places(std::string_view issuer);

}  // namespace hondana::uri
