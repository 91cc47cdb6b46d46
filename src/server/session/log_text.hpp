/// Log messages as peers get them: without secrets, and not too long.
#pragma once

#include <string>
#include <string_view>

#include <hondana/input.hpp>

namespace hondana::session {

/// A `notifications/message` with the secrets masked, by the policy for logs. One of more than 64 KiB is a note that says so.
/// Spec: server/utilities/logging#security (all revisions): no credentials or secrets.
[[nodiscard]] std::string log_text(log_level level, std::string_view logger, const value& data);

}  // namespace hondana::session
