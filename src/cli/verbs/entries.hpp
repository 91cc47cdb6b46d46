/// Entries of lists as tables, lines and JSON.
#pragma once

#include <string>
#include <vector>

#include <hondana/client.hpp>

#include "cli/flags/line.hpp"
#include "cli/terminal/screen.hpp"
#include "json/writer.hpp"

namespace hondana::cli {

/// The members of an entry as the specification spells them, with those of the versioned dialect.
void write_entry(json::writer& to, const resource& entry);
void write_entry(json::writer& to, const resource_template& entry);

/// What the flags `--audience`, `--min-priority` and `--filter` want.
[[nodiscard]] entry_filter wanted_by(const command_line& line);

/// For a terminal.
[[nodiscard]] std::string table_of(const std::vector<resource>& entries, bool is_long, const screen& shown);
/// One line, with everything that is known when `is_long`, tabs between.
[[nodiscard]] std::string line_of(const resource& entry, bool is_long);
}  // namespace hondana::cli
