/// The client commands, and the choice of one by the command line.
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

[[nodiscard]] int list_resources(const command_context& context);
[[nodiscard]] int show_tree(const command_context& context);
[[nodiscard]] int read_resource(const command_context& context);
[[nodiscard]] int list_templates(const command_context& context);
[[nodiscard]] int complete_variable(const command_context& context);
[[nodiscard]] int watch_changes(const command_context& context);
[[nodiscard]] int show_server(const command_context& context);
[[nodiscard]] int show_skills(const command_context& context);
[[nodiscard]] int call_tool(const command_context& context);
[[nodiscard]] int search_resources(const command_context& context);

/// Gets tokens for a server, or deletes them. Neither opens an MCP connection.
[[nodiscard]] int log_in(const command_line& line);
[[nodiscard]] int log_out(const command_line& line);

/// Verifies audit logs; does not use a server.
[[nodiscard]] int verify_audit_files(const command_line& line);

/// Imports servers from the configurations of other hosts; does not use a server.
[[nodiscard]] int import_servers(const command_line& line);
/// Prints words for shell completion; never prints errors.
[[nodiscard]] int complete_words(const command_line& line);

[[nodiscard]] int put_analysis(const command_line& line);
[[nodiscard]] int get_analysis(const command_line& line);
[[nodiscard]] int list_analyses(const command_line& line);
[[nodiscard]] int remove_analyses(const command_line& line);
[[nodiscard]] int show_analysis_statistics(const command_line& line);

}  // namespace hondana::cli
