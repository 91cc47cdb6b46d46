/// From a line to the command it names.
#include <array>

#include "app/cli/callers/tokens.hpp"
#include "app/cli/commands.hpp"
#include "app/cli/exit_codes.hpp"
#include "app/cli/flags/analysis_flags.hpp"
#include "app/cli/flags/audit_flags.hpp"
#include "app/cli/flags/auth_flags.hpp"
#include "app/cli/flags/client_flags.hpp"
#include "app/cli/flags/login_flags.hpp"
#include "app/cli/output.hpp"
#include "app/cli/verbs/analyses.hpp"
#include "app/cli/verbs/verbs.hpp"

namespace hondana::cli {
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
