/// What the program does, one function a command; each returns an exit code.
#pragma once

#include <hondana/error.hpp>

#include "cli/arguments.hpp"

namespace hondana::cli {

[[nodiscard]] int run(const stdio_command& what);
[[nodiscard]] int run(const serve_command& what);
[[nodiscard]] int run(const check_command& what);
[[nodiscard]] int run(const schemes_command& what);
[[nodiscard]] int run(const finished& what);

/// Prints an error for people: what was tried, why it failed, what to do.
void complain(const failure& why);

}  // namespace hondana::cli
