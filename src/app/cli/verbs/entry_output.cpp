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
  for (const auto one : entry.annotations.audience)
    out += (out.empty() ? "" : ",") + std::string(one == role::user ? "user" : "assistant");
  return out;
}

std::string priority_of(const resource& entry) {
  return entry.annotations.priority ? short_number(*entry.annotations.priority) : std::string();
}

}  // namespace

void write_entry(json::writer& to, const resource& entry) { wire::write(to, entry, all_members()); }
void write_entry(json::writer& to, const resource_template& entry) { wire::write(to, entry, all_members()); }

void tell_none(const task& what, std::string text) {
  if (!what.shown.shows_output || what.line.has(json_flag) || what.line.has(quiet_flag)) return;
  std::string filters;
  for (const auto* one : {&audience_flag, &min_priority_flag, &filter_flag}) {
    if (!what.line.has(*one)) continue;
    filters +=
        (filters.empty() ? " that matches --" : " and --") + std::string(one->name) + ' ' + shell_word(what.line.text(*one));
  }
  say(text + filters);
}

std::string table_of(const std::vector<resource>& entries, bool is_long, const screen& shown) {
  using enum column::alignment;
  using enum column::cutting;
  std::vector<column> columns{{"NAME", left, in_middle}, {"SIZE", right, never}};
  if (is_long) {
    for (const auto* title : {"KIND", "PRIORITY", "MODIFIED", "AUDIENCE"}) columns.push_back({title, left, never});
    columns.push_back({"TYPE", left, at_end});
  }
  columns.push_back({"TITLE", left, at_end});
  columns.push_back({"URI", left, in_middle});
  std::vector<std::vector<std::string>> rows;
  for (const auto& one : entries) {
    std::vector<std::string> row{visible(one.name), one.size ? human_size(*one.size) : std::string()};
    if (is_long) {
      const auto& when = one.annotations.lastModified;
      row.insert(row.end(), {visible(one.kind), priority_of(one), when ? human_time(*when) : std::string(), audience_of(one),
                             visible(one.mimeType)});
    }
    row.push_back(visible(one.title == one.name ? std::string() : one.title));
    row.push_back(visible(one.uri));
    rows.push_back(std::move(row));
  }
  return fit_table(columns, rows, shown.width, shown.in_colour).text;
}

std::string line_of(const resource& entry, bool is_long) {
  auto out = visible(entry.uri);
  if (is_long) {
    const auto& when = entry.annotations.lastModified;
    for (const auto& cell :
         {visible_in_line(entry.name), visible(entry.kind), entry.size ? std::to_string(*entry.size) : std::string(),
          priority_of(entry), when ? iso_time(*when) : std::string(), audience_of(entry), visible_in_line(entry.title),
          visible(entry.mimeType), visible(entry.version), visible_in_line(entry.description)}) {
      out += '\t' + cell;
    }
  }
  return out + '\n';
}

}  // namespace hondana::cli
