/// The help of the program and of each command.
#pragma once

#include <string>
#include <string_view>

#include "app/cli/flags/table.hpp"

namespace hondana::cli {

/// The first screen: the three commands people use most, then all.
[[nodiscard]] std::string program_help();
[[nodiscard]] std::string command_help(const command_entry& of);
/// Of several commands with one first word, such as "token"; empty: there are none.
[[nodiscard]] std::string group_help(std::string_view word);

/// `hondana ls [OPTIONS] [URI] [--on TARGET | -- COMMAND ARGS...]`.
[[nodiscard]] std::string synopsis(const command_entry& of);
/// `-o, --output FILE`.
[[nodiscard]] std::string spelling(const flag& of);

}  // namespace hondana::cli
