/// Help of the program and of each command, and the manual page hondana(1).
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "app/cli/flags/command_table.hpp"

namespace hondana::cli {

/// A heading with terms and their meanings.
struct topic {
  struct term {
    std::string_view name;
    std::string_view meaning;
  };
  std::string_view title;
  std::string_view lead;  ///< Text before the terms; may be empty.
  std::span<const term> terms;
};

/// One sentence that describes the program.
extern const std::string_view program_summary;
/// The three most used commands.
[[nodiscard]] const topic& common_commands();
/// The forms that TARGET can have.
[[nodiscard]] const topic& targets();
/// Environment variables and files that the program reads.
[[nodiscard]] std::span<const topic> environment_topics();

/// The output of `hondana --help`: the three most used commands, then all.
[[nodiscard]] std::string program_help();
/// The output of `hondana COMMAND --help`.
[[nodiscard]] std::string command_help(const command_entry& entry);
/// Help of several commands with the same first word, such as "token". Empty if there are fewer than two.
[[nodiscard]] std::string group_help(std::string_view word);

/// The usage of a command: `hondana ls [OPTIONS] [URI] [--on TARGET | -- COMMAND ARGS...]`.
[[nodiscard]] std::string synopsis(const command_entry& entry);
/// The usage of a flag: `-o, --output FILE`.
[[nodiscard]] std::string flag_synopsis(const flag& flag);

/// The manual page in roff with the man macros.
[[nodiscard]] std::string manual_page();
/// docs/commands.md: all commands, arguments and options as Markdown.
[[nodiscard]] std::string markdown_reference();

}  // namespace hondana::cli
