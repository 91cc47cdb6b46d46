/// Targets as advice repeats them.
#include "app/cli/target.hpp"

#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "app/cli/output.hpp"

namespace hondana::cli {
namespace {

std::string again(std::vector<const char*> words) {
  words.insert(words.begin(), "hondana");
  const auto outcome = parse_command_line(static_cast<int>(words.size()), words.data());
  return suggest_command(std::get<command_line>(outcome), "ls");
}

TEST(again, repeats_the_target_and_nothing_that_is_secret) {
  EXPECT_EQ(again({"read", "a"}), "'hondana ls'");
  EXPECT_EQ(again({"read", "a", "--on", "http://h/mcp", "-H", "Authorization: Bearer x"}), "'hondana ls --on http://h/mcp'");
  EXPECT_EQ(again({"read", "a", "--json", "--config", "c.toml", "--on=s"}), "'hondana ls --config c.toml --on s'");
  EXPECT_EQ(again({"read", "a", "--on", "https://h/mcp", "--cert", "c", "--cacert", "a b", "--key=k"}),
            "`hondana ls --on https://h/mcp --cacert 'a b' --cert c --key k`");
  EXPECT_EQ(again({"read", "a", "--", "npx", "-y", "a b"}), "`hondana ls -- npx -y 'a b'`");
}

TEST(again, log_ins_take_what_is_repeated) {
  EXPECT_EQ(again({"login", "--on", "https://h/mcp", "--cacert", "c", "--cert", "d", "--key", "k"}),
            "'hondana ls --on https://h/mcp --cacert c --cert d --key k'");
  EXPECT_EQ(again({"logout", "--on", "https://h/mcp", "--cacert", "c"}), "'hondana ls --on https://h/mcp --cacert c'");
}

TEST(again, words_are_as_a_shell_takes_them) {
  EXPECT_EQ(shell_quote("a-b_c.d/e:1,2=3+4@5%6"), "a-b_c.d/e:1,2=3+4@5%6");
  EXPECT_EQ(shell_quote(""), "''");
  EXPECT_EQ(shell_quote("it's $1"), "'it'\\''s $1'");
}

}  // namespace
}  // namespace hondana::cli
