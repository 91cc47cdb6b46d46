/// Converts the errors of servers to failures.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <hondana/client.hpp>

#include "base/json/reader.hpp"

namespace hondana::wire::asking {

/// Makes an untrusted text safe for a single line: ASCII control characters and line ends become spaces.
[[nodiscard]] std::string one_line(std::string_view text);
/// Converts an error answer to a failure. `target`: the URI or name in the request; may be empty.
[[nodiscard]] failure failure_of(const json::object& error, int http_status, const std::string& method,
                                 const std::string& target);

/// Whether only a server without sessions sends this error.
[[nodiscard]] bool is_modern_error(const failure& why) noexcept;
/// Whether the server does not support the revision. `supported_by` returns the revisions that it supports.
[[nodiscard]] bool wants_other_revision(const failure& why) noexcept;
[[nodiscard]] std::vector<std::string> supported_by(const failure& why);
/// Whether the headers did not repeat what the server requires.
[[nodiscard]] bool wants_other_headers(const failure& why) noexcept;
/// Whether the client's version is still current (versioned-resources extension).
[[nodiscard]] bool is_not_modified(const failure& why) noexcept;

}  // namespace hondana::wire::asking
