/// Converts the errors of servers to failures.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <hondana/client.hpp>

#include "base/json/reader.hpp"

namespace hondana::wire::asking {

/// Makes an untrusted text safe for a single line: ASCII control characters and line ends become spaces.
[[nodiscard]] std::string to_single_line(std::string_view text);
/// Converts an error answer to a failure. `target`: the URI or name in the request; may be empty.
[[nodiscard]] failure make_failure(const json::object& error, int http_status, const std::string& method,
                                   const std::string& target);

/// Whether only a server without sessions sends this error.
[[nodiscard]] bool is_modern_error(const failure& error) noexcept;
/// Whether the server does not support the revision. `supported_revisions` returns the revisions that it supports.
[[nodiscard]] bool is_unsupported_revision(const failure& error) noexcept;
[[nodiscard]] std::vector<std::string> supported_revisions(const failure& error);
/// Whether the headers did not repeat what the server requires.
[[nodiscard]] bool is_header_mismatch(const failure& error) noexcept;
/// Whether the client's version is still current (versioned-resources extension).
[[nodiscard]] bool is_not_modified(const failure& error) noexcept;

}  // namespace hondana::wire::asking
