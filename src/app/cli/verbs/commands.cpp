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

std::string json_of(const server_description& of) {
  std::string text;
  json::writer to(text);
  to.begin_object().member("name", of.name).member_if("title", of.title).member("version", of.version);
  to.member("revision", of.revision).member("transport", of.transport);
  to.key("supportedVersions").begin_array();
  for (const auto& one : of.revisions) to.string(one);
  to.end_array();
  to.key("capabilities").raw(of.capabilities.to_text());
  to.member_if("instructions", of.instructions).end_object();
  return text;
}

std::string words_of(const server_description& of) {
  std::string out;
  const auto add = [&out](std::string_view what, const std::string& text) {
    if (!text.empty()) out += std::string(what) + std::string(14 - what.size(), ' ') + visible(text) + '\n';
  };
  add("name", of.name + (of.title.empty() || of.title == of.name ? "" : " (" + of.title + ')'));
  add("version", of.version);
  add("protocol", of.revision + (of.transport == "memory" ? ", in this process" : " over " + of.transport));
  std::string offers;
  const auto offer = [&offers](bool has, std::string_view what) {
    if (has) offers += (offers.empty() ? "" : ", ") + std::string(what);
  };
  offer(of.has_resources, "resources");
  offer(of.has_subscriptions, "subscriptions");
  offer(of.has_list_changes, "list changes");
  offer(of.has_folders, "folders");
  offer(of.has_completion, "completion");
  offer(of.has_tools, "tools");
  offer(of.has_prompts, "prompts");
  offer(of.has_skills, "skills");
  offer(of.has_versions, "versions");
  add("offers", offers.empty() ? "no capabilities" : offers);
  if (!of.instructions.empty()) out += '\n' + visible_lines(of.instructions);
  if (!out.ends_with('\n')) out += '\n';
  return out;
}

}  // namespace

int show_server(const task& what) {
  const auto known = what.with.server().server();
  if (what.line.has(json_flag)) {
    print_json(json_of(known));
  } else {
    print(words_of(known));
  }
  return exit_ok;
}

namespace {

struct verb {
  const command_entry* entry;
  int (*run)(const task&);
};

constexpr std::array verbs{verb{&ls_entry, list_resources},          verb{&tree_entry, show_tree},
                           verb{&read_entry, read_resource},         verb{&templates_entry, list_templates},
                           verb{&complete_entry, complete_variable}, verb{&watch_entry, watch_changes},
                           verb{&info_entry, show_server},           verb{&skills_entry, show_skills},
                           verb{&search_entry, search_resources},    verb{&call_entry, call_tool}};

}  // namespace

int run(const client_command& what) {
  const auto& line = what.line;
  if (&line.entry() == &login_entry) return finish_output(log_in(line));
  if (&line.entry() == &logout_entry) return finish_output(log_out(line));
  if (&line.entry() == &import_entry) return finish_output(import_servers(line));
  if (&line.entry() == &complete_words_entry) return finish_output(complete_words(line));
  if (&line.entry() == &token_new_entry) return finish_output(make_token(line));
  if (&line.entry() == &token_ls_entry) return finish_output(list_tokens(line));
  if (&line.entry() == &token_revoke_entry) return finish_output(take_token_back(line));
  if (&line.entry() == &audit_verify_entry) return finish_output(verify_audit_files(line));
  if (&line.entry() == &analysis_put_entry) return finish_output(put_analysis(line));
  if (&line.entry() == &analysis_get_entry) return finish_output(get_analysis(line));
  if (&line.entry() == &analysis_ls_entry) return finish_output(list_analyses(line));
  if (&line.entry() == &analysis_rm_entry) return finish_output(remove_analyses(line));
  if (&line.entry() == &analysis_stats_entry) return finish_output(show_analysis_statistics(line));
  const interruption interrupted;
  const auto shown = present_screen();
  connection with(line, interrupted, shown);
  if (auto opened = with.open(); !opened) return with.explain(opened.error());
  for (const auto& one : verbs) {
    if (one.entry == &line.entry()) return finish_output(one.run({line, with, shown, interrupted}));
  }
  return exit_usage;
}

}  // namespace hondana::cli
