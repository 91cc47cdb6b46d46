/// What the program does, one function a command; each returns an exit code.
#pragma once

#include "app/cli/arguments.hpp"

namespace hondana::cli {

[[nodiscard]] int run(const stdio_command& what);
[[nodiscard]] int run(const serve_command& what);
[[nodiscard]] int run(const check_command& what);
[[nodiscard]] int run(const schemes_command& what);
/// Asks a server, or sets up.
[[nodiscard]] int run(const client_command& what);
[[nodiscard]] int run(const finished& what);

}  // namespace hondana::cli
