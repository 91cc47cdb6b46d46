/// Words that complete another, for the shells.
#include <chrono>

#include "app/cli/exit_codes.hpp"
#include "app/cli/flags/client_flags.hpp"
#include "app/cli/output.hpp"
#include "app/cli/target/names.hpp"
#include "app/cli/verbs/verbs.hpp"
#include "app/cli/visible.hpp"

namespace hondana::cli {
namespace {

constexpr std::size_t most_words = 200;
constexpr std::chrono::milliseconds patience{2'000};

}  // namespace

int complete_words(const command_line& line) {
  const auto typed = line.word(1);
  if (line.word(0) == "target") {
    const auto names = server_names(line.has(names_flag) ? line.text(names_flag) : usual_config());
    if (!names) return exit_ok;  // a shell that completes has nowhere to show what is wrong
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
