/// Commands, arguments and flags as data. The parser, help, manual page and shell completions are generated from them.

#include <algorithm>
#include <array>

#include "app/cli/flags/client_flags.hpp"
#include "app/cli/flags/serving_flags.hpp"

namespace hondana::cli {

constexpr flag help_flag{.name = "help", .letter = 'h', .help = "Print this help"};
constexpr flag version_flag{.name = "version", .letter = 'V', .help = "Print the version"};
constexpr flag write_flag{.name = "write",
                          .help = "Append to the configuration instead of printing",
                          .details = "Names that exist already are not changed, with a warning. A new file gets mode 0600."};
constexpr flag markdown_reference_flag{.name = "markdown", .help = "Print the reference of all commands in Markdown"};
constexpr flag man_flag{.name = "man", .help = "Print the manual page in roff, for man(1)"};

namespace {

constexpr std::array<std::string_view, 3> shells{"bash", "zsh", "fish"};
constexpr std::array<std::string_view, 2> word_kinds{"uri", "target"};

constexpr std::array import_arguments{argument{.name = "FILE",
                                               .help = "An mcp.json or another host's file (default: their usual places)",
                                               .completion = completion_kind::file}};
constexpr std::array import_flags{&write_flag, &client_config_flag, &json_flag, &quiet_flag};
constexpr std::array shell_arguments{argument{.name = "SHELL",
                                              .help = "bash, zsh or fish",
                                              .completion = completion_kind::choice,
                                              .choices = shells,
                                              .is_required = true}};
constexpr std::array help_arguments{argument{.name = "COMMAND",
                                             .help = "The command (default: help of the program)",
                                             .completion = completion_kind::command,
                                             .is_repeatable = true}};
constexpr std::array help_flags{&man_flag, &markdown_reference_flag};
constexpr std::array word_arguments{argument{.name = "KIND",
                                             .help = "uri or target",
                                             .completion = completion_kind::choice,
                                             .choices = word_kinds,
                                             .is_required = true},
                                    argument{.name = "TYPED", .help = "The beginning of the word"}};
constexpr std::array word_flags{&on_flag, &client_config_flag};

constexpr std::array import_examples{
    example{"hondana config import", "print the servers as TOML"},
    example{"hondana config import --write .vscode/mcp.json", "add that file's servers to the configuration"}};
constexpr std::array completions_examples{
    example{"source <(hondana completions bash)", "for this shell; the Debian package installs completions"}};

constexpr std::string_view setup_section = "Set up";

}  // namespace

constexpr command_entry import_entry{
    .name = "config import",
    .section = setup_section,
    .summary = "Import the servers of Claude, VS Code or Cursor",
    .details =
        "Reads JSON with comments and trailing commas, and prints [[source]] tables of type \"mcp\". Their names are then "
        "targets for --on. Variables such as ${env:X} and ${input:X} are not expanded: comments say what to write. The tables "
        "contain the values of headers and environment variables; messages never do.",
    .arguments = import_arguments,
    .flags = import_flags,
    .examples = import_examples};
constexpr command_entry completions_entry{.name = "completions",
                                          .section = setup_section,
                                          .summary = "Print completions for a shell",
                                          .arguments = shell_arguments,
                                          .examples = completions_examples};
constexpr command_entry help_entry{
    .name = "help", .section = setup_section, .summary = "Print help", .arguments = help_arguments, .flags = help_flags};
constexpr command_entry version_entry{.name = "version", .section = setup_section, .summary = "Print the version"};
constexpr command_entry complete_words_entry{.name = "complete-words",
                                             .summary = "Print words that complete another, for the shells",
                                             .details = "Prints nothing when the server cannot be reached within two seconds.",
                                             .arguments = word_arguments,
                                             .flags = word_flags};

std::span<const command_entry* const> commands() {
  static constexpr std::array entries{
      &serve_entry,       &stdio_entry,          &check_entry,        &schemes_entry,      &audit_verify_entry,
      &ls_entry,          &tree_entry,           &read_entry,         &templates_entry,    &complete_entry,
      &watch_entry,       &info_entry,           &search_entry,       &skills_entry,       &call_entry,
      &login_entry,       &logout_entry,         &analysis_put_entry, &analysis_get_entry, &analysis_ls_entry,
      &analysis_rm_entry, &analysis_stats_entry, &token_new_entry,    &token_ls_entry,     &token_revoke_entry,
      &import_entry,      &completions_entry,    &help_entry,         &version_entry,      &complete_words_entry};
  return entries;
}

const command_entry* find_command(std::string_view name) {
  const auto entries = commands();
  const auto match = std::find_if(entries.begin(), entries.end(), [name](const auto* entry) { return entry->name == name; });
  return match == entries.end() ? nullptr : *match;
}

const flag* find_flag(const command_entry& entry, std::string_view name) {
  const flag* match = nullptr;
  for_each_flag(entry, [&](const flag& flag) {
    if (flag.name == name) match = &flag;
  });
  return match;
}

const flag* find_flag(const command_entry& entry, char letter) {
  const flag* match = nullptr;
  for_each_flag(entry, [&](const flag& flag) {
    if (flag.letter == letter && letter != 0) match = &flag;
  });
  return match;
}

}  // namespace hondana::cli
