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

namespace {

constexpr std::size_t most_words = 200;
constexpr std::chrono::milliseconds patience{2'000};

}  // namespace

int complete_words(const command_line& line) {
  const auto typed = line.word(1);
  if (line.word(0) == "target") {
    const auto names = server_names(line.has(names_flag) ? line.text(names_flag) : usual_config());
    if (!names) return exit_ok;  // during completion, a shell cannot show errors
    for (const auto& one : *names) {
      if (one.starts_with(typed)) print(one + '\n');
    }
    return exit_ok;
  }
  const interruption interrupted;
  const screen nobody;
  connection with(line, interrupted, nobody);
  if (!with.open()) return exit_ok;
  auto how = with.how();
  how.time = patience;
  entry_filter wanted;
  wanted.text = typed;
  std::size_t count = 0;
  for (const auto& one : with.server().resources(wanted, how)) {
    if (!one || count == most_words) break;
    const bool is_name = !typed.empty() && one->name.starts_with(typed);
    if (!is_name && !one->uri.starts_with(typed)) continue;
    ++count;
    print(visible(is_name ? one->name : one->uri) + '\n');
  }
  return exit_ok;
}

}  // namespace hondana::cli
