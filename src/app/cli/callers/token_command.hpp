/// `hondana token`: creates, lists and revokes tokens.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

#include "app/cli/flags/command_line.hpp"

namespace hondana::cli {

/// A lifetime from now on: "90s", "45m", "12h", "30d", "8w". No value for any other text, for zero, and for more than a hundred
/// years.
[[nodiscard]] std::optional<std::chrono::seconds> parse_lifetime(std::string_view text);

/// Each returns an exit code.
[[nodiscard]] int make_token(const command_line& line);
[[nodiscard]] int list_tokens(const command_line& line);
[[nodiscard]] int revoke_tokens(const command_line& line);

}  // namespace hondana::cli
