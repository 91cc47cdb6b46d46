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

/// The members of an entry as the specification spells them, with those of the versioned dialect.
void write_entry(json::writer& to, const resource& entry);
void write_entry(json::writer& to, const resource_template& entry);

/// Prints `{"MEMBER":[…]}`; `write` writes one.
template <class Entry, class Write>
void print_list(std::string_view member, const std::vector<Entry>& all, const Write& write) {
  std::string text;
  json::writer to(text);
  to.begin_object().key(member).begin_array();
  for (const auto& one : all) write(to, one);
  to.end_array().end_object();
  print_json(text);
}

/// Says that a list is empty, and which filters it had, to whoever sees the output. Programs see it themselves.
void tell_none(const task& what, std::string text);

/// For a terminal.
[[nodiscard]] std::string table_of(const std::vector<resource>& entries, bool is_long, const screen& shown);
/// One line; when `is_long` with everything that is known, tabs between, as the flag's help tells.
[[nodiscard]] std::string line_of(const resource& entry, bool is_long);
}  // namespace hondana::cli
