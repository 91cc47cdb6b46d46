/// Runs the client command that the command line names; `hondana info`.
#include "app/cli/verbs/commands.hpp"

#include <array>
#include <string>
#include <string_view>

#include "app/cli/arguments.hpp"
#include "app/cli/callers/token_command.hpp"
#include "app/cli/exit_codes.hpp"
#include "app/cli/flags/client_flags.hpp"
#include "app/cli/flags/serving_flags.hpp"
#include "app/cli/output.hpp"
#include "base/json/writer.hpp"

namespace hondana::cli {
namespace {

std::string to_json(const server_description& description) {
  std::string text;
  json::writer writer(text);
  writer.begin_object()
      .member("name", description.name)
      .member_if("title", description.title)
      .member("version", description.version);
  writer.member("revision", description.revision).member("transport", description.transport);
  writer.key("supportedVersions").begin_array();
  for (const auto& revision : description.revisions) writer.string(revision);
  writer.end_array();
  writer.key("capabilities").raw(description.capabilities.to_text());
  writer.member_if("instructions", description.instructions).end_object();
  return text;
}

std::string to_text(const server_description& description) {
  std::string out;
  const auto add = [&out](std::string_view label, const std::string& text) {
    if (!text.empty()) out += std::string(label) + std::string(14 - label.size(), ' ') + sanitize(text) + '\n';
  };
  add("name", description.name +
                  (description.title.empty() || description.title == description.name ? "" : " (" + description.title + ')'));
  add("version", description.version);
  add("protocol",
      description.revision + (description.transport == "memory" ? ", in this process" : " over " + description.transport));
  std::string offers;
  const auto offer = [&offers](bool is_offered, std::string_view feature) {
    if (is_offered) offers += (offers.empty() ? "" : ", ") + std::string(feature);
  };
  offer(description.has_resources, "resources");
  offer(description.has_subscriptions, "subscriptions");
  offer(description.has_list_changes, "list changes");
  offer(description.has_folders, "folders");
  offer(description.has_completion, "completion");
  offer(description.has_tools, "tools");
  offer(description.has_prompts, "prompts");
  offer(description.has_skills, "skills");
  offer(description.has_versions, "versions");
  add("offers", offers.empty() ? "no capabilities" : offers);
  if (!description.instructions.empty()) out += '\n' + sanitize_lines(description.instructions);
  if (!out.ends_with('\n')) out += '\n';
  return out;
}

}  // namespace

int show_server(const command_context& context) {
  const auto description = context.connection.mcp_client().server();
  if (context.line.has(json_flag)) {
    print_json(to_json(description));
  } else {
    print(to_text(description));
  }
  return exit_ok;
}

namespace {

struct verb {
  const command_entry* entry;
  int (*run)(const command_context&);
};

constexpr std::array verbs{verb{&ls_entry, list_resources},          verb{&tree_entry, show_tree},
                           verb{&read_entry, read_resource},         verb{&templates_entry, list_templates},
                           verb{&complete_entry, complete_variable}, verb{&watch_entry, watch_changes},
                           verb{&info_entry, show_server},           verb{&skills_entry, show_skills},
                           verb{&search_entry, search_resources},    verb{&call_entry, call_tool}};

}  // namespace

int run(const client_command& command) {
  const auto& line = command.line;
  if (&line.entry() == &login_entry) return finish_output(log_in(line));
  if (&line.entry() == &logout_entry) return finish_output(log_out(line));
  if (&line.entry() == &import_entry) return finish_output(import_servers(line));
  if (&line.entry() == &complete_words_entry) return finish_output(complete_words(line));
  if (&line.entry() == &token_new_entry) return finish_output(make_token(line));
  if (&line.entry() == &token_ls_entry) return finish_output(list_tokens(line));
  if (&line.entry() == &token_revoke_entry) return finish_output(revoke_tokens(line));
  if (&line.entry() == &audit_verify_entry) return finish_output(verify_audit_files(line));
  if (&line.entry() == &analysis_put_entry) return finish_output(put_analysis(line));
  if (&line.entry() == &analysis_get_entry) return finish_output(get_analysis(line));
  if (&line.entry() == &analysis_ls_entry) return finish_output(list_analyses(line));
  if (&line.entry() == &analysis_rm_entry) return finish_output(remove_analyses(line));
  if (&line.entry() == &analysis_stats_entry) return finish_output(show_analysis_statistics(line));
  const interruption interrupt;
  const auto terminal = detect_terminal();
  command_connection connection(line, interrupt, terminal);
  if (auto opened = connection.open(); !opened) return connection.report_failure(opened.error());
  for (const auto& verb : verbs) {
    if (verb.entry == &line.entry()) return finish_output(verb.run({line, connection, terminal, interrupt}));
  }
  return exit_usage;
}

}  // namespace hondana::cli
