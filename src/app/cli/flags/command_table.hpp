/// Commands, arguments and flags as data, of which parser, help, manual page and completions are made.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace hondana::cli {

/// What completes a word of the command line.
enum class completion_kind : std::uint8_t { nothing, file, folder, path, target, uri, choice, command };

/// What a number may be, both ends included.
struct number_bounds {
  double least = 0;
  double most = 0;
  bool is_whole = false;
};

/// One flag, defined once; several commands may have it.
struct flag {
  std::string_view name{};     ///< Without dashes.
  char letter = 0;             ///< Its short form; 0: none.
  std::string_view value{};    ///< What the help calls its value; empty: it takes none.
  std::string_view help{};     ///< One line, without a full stop.
  std::string_view details{};  ///< For the manual page, whole sentences; may be empty.
  completion_kind by = completion_kind::nothing;
  std::span<const std::string_view> choices{};
  std::optional<number_bounds> number{};
  bool is_repeatable = false;
};

/// One word, or several, that is no flag.
struct argument {
  std::string_view name{};  ///< As the help calls it, "URI".
  std::string_view help{};
  completion_kind by = completion_kind::nothing;
  std::span<const std::string_view> choices{};
  bool is_required = false;
  bool is_repeatable = false;  ///< Only the last argument.
};

/// Flags that several commands share, told once in the manual page.
struct flag_group {
  std::string_view title{};
  std::span<const flag* const> flags{};
};

/// The heading of the commands that ask a server.
inline constexpr std::string_view client_section = "Use a server";

struct example {
  std::string_view line{};
  std::string_view meaning{};
};

struct command_entry {
  std::string_view name{};     ///< One word, or two as in "config import".
  std::string_view section{};  ///< Under which heading the help lists it; empty: it is left out of the list.
  std::string_view summary{};  ///< One line, without a full stop.
  std::string_view details{};  ///< Paragraphs of whole sentences, with an empty line between two.
  std::span<const argument> arguments{};
  std::span<const flag* const> flags{};
  const flag_group* group = nullptr;
  bool takes_server = false;  ///< `--on TARGET`, or `-- COMMAND ARGS` to the end of the line.
  std::span<const example> examples{};
};

/// The flags that every command has, and those before any command.
extern const flag help_flag;
extern const flag version_flag;

/// All commands, in the order of the help.
[[nodiscard]] std::span<const command_entry* const> commands();
/// Null when there is none of that name.
[[nodiscard]] const command_entry* find_command(std::string_view name);
/// The flag of that long name (without dashes) or letter among a command's own, its group's and `help_flag`; null: none.
[[nodiscard]] const flag* find_flag(const command_entry& of, std::string_view name);
[[nodiscard]] const flag* find_flag(const command_entry& of, char letter);

/// Calls `each` for a command's own flags, its group's and `help_flag`.
template <class Each>
void for_each_flag(const command_entry& of, Each&& each) {
  for (const auto* one : of.flags) each(*one);
  if (of.group != nullptr) {
    for (const auto* one : of.group->flags) each(*one);
  }
  each(help_flag);
}

}  // namespace hondana::cli
