/// Prints entries of lists as tables, lines and JSON.
#include "app/cli/verbs/entry_output.hpp"

#include <algorithm>

#include "app/cli/flags/client_flags.hpp"
#include "app/cli/output.hpp"
#include "app/cli/terminal/columns.hpp"
#include "app/cli/terminal/quantities.hpp"
#include "protocol/wire/entry_json.hpp"

namespace hondana::cli {
namespace {

wire::entry_members all_members() {
  wire::entry_members out;
  out.title = out.last_modified = out.icons = out.versioned = true;
  return out;
}

std::string audience_of(const resource& entry) {
  std::string out;
  for (const auto audience_role : entry.annotations.audience)
    out += (out.empty() ? "" : ",") + std::string(audience_role == chat_role::user ? "user" : "assistant");
  return out;
}

std::string priority_of(const resource& entry) {
  return entry.annotations.priority ? short_number(*entry.annotations.priority) : std::string();
}

}  // namespace

void write_entry(json::writer& writer, const resource& entry) { wire::write(writer, entry, all_members()); }
void write_entry(json::writer& writer, const resource_template& entry) { wire::write(writer, entry, all_members()); }

void report_empty(const command_context& context, std::string text) {
  if (!context.terminal.is_stdout_tty || context.line.has(json_flag) || context.line.has(quiet_flag)) return;
  std::string filters;
  for (const auto* flag : {&audience_flag, &min_priority_flag, &filter_flag}) {
    if (!context.line.has(*flag)) continue;
    filters += (filters.empty() ? " that matches --" : " and --") + std::string(flag->name) + ' ' +
               shell_quote(context.line.text(*flag));
  }
  print_message(text + filters);
}

std::string format_table(const std::vector<resource>& entries, bool is_long, const terminal_info& terminal) {
  using enum column::alignment;
  using enum column::truncation;
  std::vector<column> columns{{"NAME", left, in_middle}, {"SIZE", right, never}};
  if (is_long) {
    for (const auto* title : {"KIND", "PRIORITY", "MODIFIED", "AUDIENCE"}) columns.push_back({title, left, never});
    columns.push_back({"TYPE", left, at_end});
  }
  columns.push_back({"TITLE", left, at_end});
  columns.push_back({"URI", left, in_middle});
  std::vector<std::vector<std::string>> rows;
  for (const auto& entry : entries) {
    std::vector<std::string> row{sanitize(entry.name), entry.size ? human_size(*entry.size) : std::string()};
    if (is_long) {
      const auto& modified = entry.annotations.last_modified;
      row.insert(row.end(), {sanitize(entry.kind), priority_of(entry), modified ? human_time(*modified) : std::string(),
                             audience_of(entry), sanitize(entry.mime_type)});
    }
    row.push_back(sanitize(entry.title == entry.name ? std::string() : entry.title));
    row.push_back(sanitize(entry.uri));
    rows.push_back(std::move(row));
  }
  return fit_table(columns, rows, terminal.width, terminal.has_colour).text;
}

std::string format_line(const resource& entry, bool is_long) {
  auto out = sanitize(entry.uri);
  if (is_long) {
    const auto& modified = entry.annotations.last_modified;
    for (const auto& cell :
         {sanitize_line(entry.name), sanitize(entry.kind), entry.size ? std::to_string(*entry.size) : std::string(),
          priority_of(entry), modified ? iso_time(*modified) : std::string(), audience_of(entry), sanitize_line(entry.title),
          sanitize(entry.mime_type), sanitize(entry.version), sanitize_line(entry.description)}) {
      out += '\t' + cell;
    }
  }
  return out + '\n';
}

}  // namespace hondana::cli
