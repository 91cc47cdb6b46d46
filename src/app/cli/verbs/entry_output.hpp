/// Prints entries of lists as tables, lines and JSON.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <hondana/client.hpp>

#include "app/cli/flags/command_line.hpp"
#include "app/cli/output.hpp"
#include "app/cli/terminal/terminal_info.hpp"
#include "app/cli/verbs/commands.hpp"
#include "base/json/writer.hpp"

namespace hondana::cli {

/// Writes an entry with all members of the specification and of the versioned-resources extension.
void write_entry(json::writer& writer, const resource& entry);
/// Writes a template with all members.
void write_entry(json::writer& writer, const resource_template& entry);

/// Prints `{"MEMBER":[…]}` as a line; `write_element` writes one element.
template <class Entry, class Write>
void print_list(std::string_view member, const std::vector<Entry>& entries, const Write& write_element) {
  std::string text;
  json::writer writer(text);
  writer.begin_object().key(member).begin_array();
  for (const auto& entry : entries) write_element(writer, entry);
  writer.end_array().end_object();
  print_json(text);
}

/// Prints `text`, which says that a list is empty, and the filters of the command. Prints nothing if the output does not go to
/// a terminal, and with --json or --quiet.
void report_empty(const command_context& context, std::string text);

/// The entries as a table for a terminal. `is_long`: with more columns.
[[nodiscard]] std::string format_table(const std::vector<resource>& entries, bool is_long, const terminal_info& terminal);
/// The entry as one line: its URI. `is_long`: with all fields, separated by tabs, in the order that the help of --long lists.
[[nodiscard]] std::string format_line(const resource& entry, bool is_long);
}  // namespace hondana::cli
