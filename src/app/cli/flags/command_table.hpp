/// Commands, arguments and flags as data. The parser, help, manual page and shell completions are generated from them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace hondana::cli {

/// How a shell completes a word of the command line. `path`: a file or a folder. `choice`: one of `choices`.
enum class completion_kind : std::uint8_t { none, file, folder, path, target, uri, choice, command };

/// The range of a number, both ends included.
struct number_bounds {
  double min = 0;
  double max = 0;
  bool is_integer = false;
};

/// One flag, defined once; several commands may have it.
struct flag {
  std::string_view name{};     ///< Without dashes.
  char letter = 0;             ///< The short form; 0: none.
  std::string_view value{};    ///< The placeholder of its value in the help; empty: the flag is a switch.
  std::string_view help{};     ///< One line, without a full stop.
  std::string_view details{};  ///< Whole sentences for the manual page; may be empty.
  completion_kind completion = completion_kind::none;
  std::span<const std::string_view> choices{};  ///< All valid values; empty: any.
  std::optional<number_bounds> number{};        ///< The value must be a number in this range. nullopt: any text.
  bool is_repeatable = false;
};

/// One or several words of a command that are not flags.
struct argument {
  std::string_view name{};  ///< The placeholder in the help, such as "URI".
  std::string_view help{};
  completion_kind completion = completion_kind::none;
  std::span<const std::string_view> choices{};  ///< All valid words; empty: any.
  bool is_required = false;
  bool is_repeatable = false;  ///< Only the last argument may be repeatable.
};

/// Flags that several commands share; the manual page describes them once.
struct flag_group {
  std::string_view title{};
  std::span<const flag* const> flags{};
};

/// The heading of the commands that use a server.
inline constexpr std::string_view client_section = "Use a server";

/// An example in the help of a command.
struct example {
  std::string_view line{};
  std::string_view meaning{};
};

/// A command with all that the parser and the help need.
struct command_entry {
  std::string_view name{};     ///< One word, or two as in "config import".
  std::string_view section{};  ///< The heading in the help; empty: the command is not listed.
  std::string_view summary{};  ///< One line, without a full stop.
  std::string_view details{};  ///< Paragraphs of whole sentences, separated by empty lines.
  std::span<const argument> arguments{};
  std::span<const flag* const> flags{};
  const flag_group* group = nullptr;  ///< Further flags, shared with other commands; null: none.
  bool accepts_server = false;        ///< Accepts `--on TARGET`, or `-- COMMAND ARGS` to the end of the line.
  std::span<const example> examples{};
};

/// Accepted by every command, and instead of one.
extern const flag help_flag;
/// Accepted only instead of a command.
extern const flag version_flag;

/// All commands, in the order of the help.
[[nodiscard]] std::span<const command_entry* const> commands();
/// The command of that name; null if there is none.
[[nodiscard]] const command_entry* find_command(std::string_view name);
/// Finds a flag by its long name (without dashes) among the command's flags, its group's and `help_flag`. Null if there is
/// none.
[[nodiscard]] const flag* find_flag(const command_entry& entry, std::string_view name);
/// Finds a flag by its letter, among the same flags. Null if there is none.
[[nodiscard]] const flag* find_flag(const command_entry& entry, char letter);

/// Calls `visitor` for each of the command's own flags, then for its group's and `help_flag`.
template <class Visitor>
void for_each_flag(const command_entry& entry, Visitor&& visitor) {
  for (const auto* flag : entry.flags) visitor(*flag);
  if (entry.group != nullptr) {
    for (const auto* group_flag : entry.group->flags) visitor(*group_flag);
  }
  visitor(help_flag);
}

}  // namespace hondana::cli
