/// Prints entries of lists as tables, lines and JSON.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <hondana/client.hpp>

#include "app/cli/flags/command_line.hpp"
#include "app/cli/output.hpp"
#include "app/cli/terminal/screen.hpp"
#include "app/cli/verbs/commands.hpp"
#include "base/json/writer.hpp"

namespace hondana::cli {

/// Writes an entry with the member names of the specification, and those of the versioned-resources extension.
void write_entry(json::writer& to, const resource& entry);
void write_entry(json::writer& to, const resource_template& entry);

/// Prints `{"MEMBER":[…]}`; `write` writes one element.
template <class Entry, class Write>
void print_list(std::string_view member, const std::vector<Entry>& all, const Write& write) {
  std::string text;
  json::writer to(text);
  to.begin_object().key(member).begin_array();
  for (const auto& one : all) write(to, one);
  to.end_array().end_object();
  print_json(text);
}

/// Says on a terminal that a list is empty, and names its filters. Prints nothing if the output goes to a program.
void tell_none(const task& what, std::string text);

/// The entries as a table for a terminal.
[[nodiscard]] std::string table_of(const std::vector<resource>& entries, bool is_long, const screen& shown);
/// The entry as one line. `is_long`: with all known facts, separated by tabs, in the order that the help of the flag lists.
[[nodiscard]] std::string line_of(const resource& entry, bool is_long);
}  // namespace hondana::cli
