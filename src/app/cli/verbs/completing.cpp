/// complete: values for the variables of templates.
#include "app/cli/exit_codes.hpp"
#include "app/cli/flags/client_flags.hpp"
#include "app/cli/output.hpp"
#include "app/cli/verbs/entries.hpp"
#include "app/cli/verbs/meanings.hpp"
#include "app/cli/verbs/verbs.hpp"
#include "app/cli/visible.hpp"

namespace hondana::cli {

int complete_variable(const task& what) {
  const auto chosen = given_values(what.line);
  if (!chosen) return what.with.explain(chosen.error());
  const auto asked = template_named(what.with.server(), what.line.word(0), what.with.how());
  if (!asked) return what.with.explain(asked.error());
  const auto typed = what.line.word(2);
  const auto got = what.with.server().complete(*asked, what.line.word(1), typed, *chosen, what.with.how());
  if (!got) return what.with.explain(got.error());
  if (what.line.has(json_flag)) {
    std::string text;
    json::writer to(text);
    to.begin_object().key("values").begin_array();
    for (const auto& one : got->values) to.string(one);
    to.end_array();
    if (got->total) to.key("total").unsigned_integer(*got->total);
    to.key("hasMore").boolean(got->has_more).end_object();
    print_json(text);
    return exit_ok;
  }
  if (got->values.empty()) tell_none(what, "no value" + (typed.empty() ? std::string() : " for \"" + typed + '"'));
  for (const auto& one : got->values) print(visible(one) + '\n');
  if (got->has_more && !what.line.has(quiet_flag)) say("there are more values; type more characters");
  return exit_ok;
}

}  // namespace hondana::cli
