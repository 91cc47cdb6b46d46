/// The client commands, and the choice of one by the command line.
#pragma once

#include "app/cli/flags/command_line.hpp"
#include "app/cli/terminal/screen.hpp"
#include "app/cli/verbs/connection.hpp"

namespace hondana::cli {

/// The input of every command that uses a server.
struct task {
  const command_line& line;
  connection& with;
  const screen& shown;
  const interruption& interrupted;
};

[[nodiscard]] int list_resources(const task& what);
[[nodiscard]] int show_tree(const task& what);
[[nodiscard]] int read_resource(const task& what);
[[nodiscard]] int list_templates(const task& what);
[[nodiscard]] int complete_variable(const task& what);
[[nodiscard]] int watch_changes(const task& what);
[[nodiscard]] int show_server(const task& what);
[[nodiscard]] int show_skills(const task& what);
[[nodiscard]] int call_tool(const task& what);
[[nodiscard]] int search_resources(const task& what);

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
