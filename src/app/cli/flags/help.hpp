/// Help of the program and of each command, and the manual page hondana(1).
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "app/cli/flags/command_table.hpp"

namespace hondana::cli {

/// A heading with terms and what they mean.
struct topic {
  struct term {
    std::string_view name;
    std::string_view meaning;
  };
  std::string_view title;
  std::string_view lead;  ///< Before the terms; may be empty.
  std::span<const term> terms;
};

/// One sentence: what the program is.
extern const std::string_view program_summary;
/// The three commands that people use most.
[[nodiscard]] const topic& first_commands();
/// What TARGET may be.
[[nodiscard]] const topic& targets();
/// Variables of the environment and files that matter.
[[nodiscard]] std::span<const topic> surroundings();

/// The first screen: the three commands people use most, then all.
[[nodiscard]] std::string program_help();
[[nodiscard]] std::string command_help(const command_entry& of);
/// Of several commands with one first word, such as "token"; empty: there are none.
[[nodiscard]] std::string group_help(std::string_view word);

/// `hondana ls [OPTIONS] [URI] [--on TARGET | -- COMMAND ARGS...]`.
[[nodiscard]] std::string synopsis(const command_entry& of);
/// `-o, --output FILE`.
[[nodiscard]] std::string spelling(const flag& of);

/// The page in roff with the man macros.
[[nodiscard]] std::string manual_page();

}  // namespace hondana::cli
