/// ls and templates.
#include <utility>
#include <vector>

#include "app/cli/exit_codes.hpp"
#include "app/cli/flags/client_flags.hpp"
#include "app/cli/output.hpp"
#include "app/cli/terminal/columns.hpp"
#include "app/cli/verbs/asked_entries.hpp"
#include "app/cli/verbs/entries.hpp"
#include "app/cli/verbs/verbs.hpp"
#include "app/cli/visible.hpp"

namespace hondana::cli {
namespace {

entry_order order_of(const command_line& line) {
  const auto text = line.text(sort_flag);
  if (text == "name") return entry_order::name;
  if (text == "priority") return entry_order::priority;
  return text == "recency" ? entry_order::recency : entry_order::as_listed;
}

}  // namespace

int list_resources(const task& what) {
  const bool is_long = what.line.has(long_flag);
  const bool is_table = what.shown.shows_output;
  const auto order = order_of(what.line);
  const bool as_json = what.line.has(json_flag);
  if (!is_table && !as_json && order == entry_order::as_listed) {
    auto done = each_entry(what, false, [is_long](const resource& one) {
      print(line_of(one, is_long));
      return !output_is_gone();
    });
    return done ? exit_ok : what.with.explain(done.error());
  }
  auto entries = all_entries(what, false);
  if (!entries) return what.with.explain(entries.error());
  sort_entries(*entries, order);
  if (as_json) {
    print_list("resources", *entries, [](json::writer& to, const resource& one) { write_entry(to, one); });
  } else if (entries->empty()) {
    tell_none(what, "nothing is listed");
  } else if (is_table) {
    print(table_of(*entries, is_long, what.shown));
  } else {
    for (const auto& one : *entries) print(line_of(one, is_long));
  }
  return exit_ok;
}

int list_templates(const task& what) {
  auto all = what.with.server().templates(what.with.how()).all();
  if (!all) return what.with.explain(all.error());
  if (what.line.has(json_flag)) {
    print_list("resourceTemplates", *all, [](json::writer& to, const resource_template& one) { write_entry(to, one); });
    return exit_ok;
  }
  if (all->empty()) {
    tell_none(what, "the server has no templates");
    return exit_ok;
  }
  if (!what.shown.shows_output) {
    for (const auto& one : *all)
      print(visible(one.uriTemplate) + '\t' + visible_in_line(one.name) + '\t' + visible_in_line(one.description) + '\n');
    return exit_ok;
  }
  std::vector<std::vector<std::string>> rows;
  for (const auto& one : *all)
    rows.push_back({visible(one.uriTemplate), visible(one.name),
                    visible_in_line(one.title == one.name ? std::string() : one.title), visible_in_line(one.description)});
  using enum column::alignment;
  using enum column::cutting;
  print(fit_table({{"TEMPLATE"}, {"NAME"}, {"TITLE", left, at_end}, {"DESCRIPTION", left, at_end}}, rows, what.shown.width,
                  what.shown.in_colour)
            .text);
  return exit_ok;
}

}  // namespace hondana::cli
