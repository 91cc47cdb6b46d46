/// Converts error answers of servers to failures, and classifies these failures.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <hondana/client.hpp>

#include "base/json/reader.hpp"

namespace hondana::wire::asking {

/// Makes an untrusted text safe for a single line: ASCII control characters and line ends become spaces.
[[nodiscard]] std::string to_single_line(std::string_view text);
/// Converts the `error` of an answer to a failure. `http_status`: 0 without HTTP.
/// `method`, `target`: of the request, the latter a URI or name; both may be empty.
[[nodiscard]] failure make_failure(const json::object& error, int http_status, const std::string& method,
                                   const std::string& target);

// These functions take a result of `make_failure`. For other failures they return false or an empty list.

/// Whether only servers with a stateless revision send this error.
[[nodiscard]] bool is_modern_error(const failure& error) noexcept;
/// Whether the error says that the server does not support the revision.
[[nodiscard]] bool is_unsupported_revision(const failure& error) noexcept;
/// The revisions that the server supports, for an error with `is_unsupported_revision`.
[[nodiscard]] std::vector<std::string> supported_revisions(const failure& error);
/// Whether the error says that HTTP headers did not repeat parts of the request correctly.
[[nodiscard]] bool is_header_mismatch(const failure& error) noexcept;
/// Whether the error says that the client's version is still current (versioned-resources extension).
[[nodiscard]] bool is_not_modified(const failure& error) noexcept;

}  // namespace hondana::wire::asking
