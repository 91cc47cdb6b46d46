/// `hondana complete`, and the hidden command that completes words for shells.

#include <chrono>

#include "app/cli/exit_codes.hpp"
#include "app/cli/flags/client_flags.hpp"
#include "app/cli/output.hpp"
#include "app/cli/target.hpp"
#include "app/cli/verbs/commands.hpp"
#include "app/cli/verbs/entry_output.hpp"
#include "app/cli/verbs/typed_words.hpp"

namespace hondana::cli {

int complete_variable(const command_context& context) {
  const auto assignments = parse_variables(context.line);
  if (!assignments) return context.connection.report_failure(assignments.error());
  const auto template_text =
      find_template(context.connection.mcp_client(), context.line.word(0), context.connection.make_call_options());
  if (!template_text) return context.connection.report_failure(template_text.error());
  const auto typed = context.line.word(2);
  const auto response = context.connection.mcp_client().complete(*template_text, context.line.word(1), typed, *assignments,
                                                                 context.connection.make_call_options());
  if (!response) return context.connection.report_failure(response.error());
  if (context.line.has(json_flag)) {
    std::string text;
    json::writer writer(text);
    writer.begin_object().key("values").begin_array();
    for (const auto& value : response->values) writer.string(value);
    writer.end_array();
    if (response->total) writer.key("total").unsigned_integer(*response->total);
    writer.key("hasMore").boolean(response->has_more).end_object();
    print_json(text);
    return exit_ok;
  }
  if (response->values.empty()) report_empty(context, "no value" + (typed.empty() ? std::string() : " for \"" + typed + '"'));
  for (const auto& value : response->values) print(sanitize(value) + '\n');
  if (response->has_more && !context.line.has(quiet_flag)) print_message("there are more values; type more characters");
  return exit_ok;
}

namespace {

constexpr std::size_t max_words = 200;
constexpr std::chrono::milliseconds lookup_timeout{2'000};

}  // namespace

int complete_words(const command_line& line) {
  const auto typed = line.word(1);
  if (line.word(0) == "target") {
    const auto names = server_names(line.has(client_config_flag) ? line.text(client_config_flag) : default_config_file());
    if (!names) return exit_ok;  // during completion, a shell cannot show errors
    for (const auto& name : *names) {
      if (name.starts_with(typed)) print(name + '\n');
    }
    return exit_ok;
  }
  const interruption interrupt;
  const terminal_info terminal;
  command_connection connection(line, interrupt, terminal);
  if (!connection.open()) return exit_ok;
  auto options = connection.make_call_options();
  options.timeout = lookup_timeout;
  entry_filter filter;
  if (!typed.empty()) filter.text = typed;
  std::size_t count = 0;
  for (const auto& entry : connection.mcp_client().resources(filter, options)) {
    if (!entry || count == max_words) break;
    const bool is_name = !typed.empty() && entry->name.starts_with(typed);
    if (!is_name && !entry->uri.starts_with(typed)) continue;
    ++count;
    print(sanitize(is_name ? entry->name : entry->uri) + '\n');
  }
  return exit_ok;
}

}  // namespace hondana::cli
