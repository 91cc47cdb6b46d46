/// The meaning of server errors for a caller.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <hondana/client.hpp>

#include "base/json/reader.hpp"

namespace hondana::wire::asking {

/// A foreign text as part of a line: line ends and other control characters of ASCII become spaces.
[[nodiscard]] std::string one_line(std::string_view text);
/// The failure that an error answer is. `target`: the URI or name that was asked for, or empty.
[[nodiscard]] failure failure_of(const json::object& error, int http_status, const std::string& method,
                                 const std::string& target);

/// Only a server without sessions answers so.
[[nodiscard]] bool is_modern_error(const failure& why) noexcept;
/// The server does not speak the revision, but those that `supported_by` names.
[[nodiscard]] bool wants_other_revision(const failure& why) noexcept;
[[nodiscard]] std::vector<std::string> supported_by(const failure& why);
/// Headers do not repeat what the server wants repeated.
[[nodiscard]] bool wants_other_headers(const failure& why) noexcept;
/// The version that was named still holds (the versioned dialect).
[[nodiscard]] bool is_not_modified(const failure& why) noexcept;

}  // namespace hondana::wire::asking
