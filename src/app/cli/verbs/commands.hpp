/// The functions that run client commands. Each returns an exit code.
#pragma once

#include "app/cli/flags/command_line.hpp"
#include "app/cli/terminal/terminal_info.hpp"
#include "app/cli/verbs/connection.hpp"

namespace hondana::cli {

/// The input of every command that uses a server.
struct command_context {
  const command_line& line;
  command_connection& connection;
  const terminal_info& terminal;
  const interruption& interrupt;
};

[[nodiscard]] int list_resources(const command_context& context);     ///< `hondana ls`
[[nodiscard]] int show_tree(const command_context& context);          ///< `hondana tree`
[[nodiscard]] int read_resource(const command_context& context);      ///< `hondana read`
[[nodiscard]] int list_templates(const command_context& context);     ///< `hondana templates`
[[nodiscard]] int complete_variable(const command_context& context);  ///< `hondana complete`
[[nodiscard]] int watch_changes(const command_context& context);      ///< `hondana watch`
[[nodiscard]] int show_server(const command_context& context);        ///< `hondana info`
[[nodiscard]] int show_skills(const command_context& context);        ///< `hondana skills`
[[nodiscard]] int call_tool(const command_context& context);          ///< `hondana call`
[[nodiscard]] int search_resources(const command_context& context);   ///< `hondana search`

/// Runs `hondana login`: gets tokens for a server, without an MCP connection.
[[nodiscard]] int log_in(const command_line& line);
/// Runs `hondana logout`: deletes the tokens for a server, without an MCP connection.
[[nodiscard]] int log_out(const command_line& line);

/// Runs `hondana audit verify`; does not use a server.
[[nodiscard]] int verify_audit_files(const command_line& line);

/// Runs `hondana config import`: imports servers from the configurations of hosts. Does not use a server.
[[nodiscard]] int import_servers(const command_line& line);
/// Runs `hondana complete-words`: prints words for shell completion; never prints errors.
[[nodiscard]] int complete_words(const command_line& line);

[[nodiscard]] int put_analysis(const command_line& line);              ///< `hondana analysis put`
[[nodiscard]] int get_analysis(const command_line& line);              ///< `hondana analysis get`
[[nodiscard]] int list_analyses(const command_line& line);             ///< `hondana analysis ls`
[[nodiscard]] int remove_analyses(const command_line& line);           ///< `hondana analysis rm`
[[nodiscard]] int show_analysis_statistics(const command_line& line);  ///< `hondana analysis stats`

}  // namespace hondana::cli
