/// Which server a command asks.
#pragma once

#include <string>

#include <hondana/client_target.hpp>
#include <hondana/error.hpp>

#include "app/cli/flags/line.hpp"

namespace hondana::cli {

struct chosen_server {
  client_target target = memory_target{};
  std::string path{};   ///< To be served by this process, absolute; empty: the target says where the server is.
  std::string shown{};  ///< How messages call it.
};

/// By `--on`, `-- COMMAND`, `--header`, `--token-file` and `--cacert`, `--cert`, `--key`; without them the current folder.
/// Errors: invalid_argument, which says what a target may be.
[[nodiscard]] result<chosen_server> choose_server(const command_line& line);

}  // namespace hondana::cli
