/// Names and numbers that client and server share: extensions, `_meta` keys, error codes.
#pragma once

#include <cstdint>
#include <string_view>

namespace hondana::wire {

/// Identifiers of extensions.
inline constexpr std::string_view skills_extension = "io.modelcontextprotocol/skills";
inline constexpr std::string_view versions_extension = "dev.hondana/versioned-resources";

/// Keys of `_meta`.
inline constexpr std::string_view revision_key = "io.modelcontextprotocol/protocolVersion";
inline constexpr std::string_view capabilities_key = "io.modelcontextprotocol/clientCapabilities";
inline constexpr std::string_view client_key = "io.modelcontextprotocol/clientInfo";
inline constexpr std::string_view server_key = "io.modelcontextprotocol/serverInfo";
inline constexpr std::string_view level_key = "io.modelcontextprotocol/logLevel";
inline constexpr std::string_view stream_key = "io.modelcontextprotocol/subscriptionId";
inline constexpr std::string_view version_key = "dev.hondana/version";

/// The member of the filter of `subscriptions/listen` with the resources whose changes are sent with their entries.
inline constexpr std::string_view entries_member = "dev.hondana/contentChanged";

}  // namespace hondana::wire

/// Error codes. Spec: all revisions, schema.
namespace hondana::wire::codes {

inline constexpr int resource_not_found = -32002;  ///< In revisions up to 2025-11-25.
inline constexpr int header_mismatch = -32020;
inline constexpr int missing_capability = -32021;
inline constexpr int unsupported_revision = -32022;
/// Versioned-resources extension: the client already has this version. The number is that of the HTTP status.
inline constexpr int not_modified = 304;

}  // namespace hondana::wire::codes
