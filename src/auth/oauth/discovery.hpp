/// Finds out where tokens for an MCP server are had.
#pragma once

#include <functional>
#include <hondana/error.hpp>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "auth/oauth/http.hpp"
#include "auth/oauth/metadata.hpp"

namespace hondana::oauth {

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
