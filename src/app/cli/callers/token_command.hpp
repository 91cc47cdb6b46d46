/// `hondana token`: creates, lists and revokes tokens.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

#include "app/cli/flags/command_line.hpp"

namespace hondana::cli {

/// Parses a lifetime: "90s", "45m", "12h", "30d", "8w". No value for any other text, for zero, and for more than a hundred
/// years.
[[nodiscard]] std::optional<std::chrono::seconds> parse_lifetime(std::string_view text);

/// Runs `hondana token new`: creates a token and prints it. Returns an exit code.
[[nodiscard]] int make_token(const command_line& line);
/// Runs `hondana token ls`. Returns an exit code.
[[nodiscard]] int list_tokens(const command_line& line);
/// Runs `hondana token revoke`. Returns an exit code.
[[nodiscard]] int revoke_tokens(const command_line& line);

}  // namespace hondana::cli
