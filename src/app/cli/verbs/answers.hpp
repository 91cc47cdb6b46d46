/// What servers ask of the person at the terminal.
#pragma once

#include <hondana/client.hpp>

#include "app/cli/terminal/screen.hpp"
#include "app/cli/verbs/interruption.hpp"

namespace hondana::cli {

/// Handlers that ask on standard error and read standard input where somebody is there, and decline otherwise. A handler that
/// is interrupted cancels. Both outlive them.
[[nodiscard]] client_handlers terminal_handlers(const interruption& interrupted, const screen& shown);

}  // namespace hondana::cli
