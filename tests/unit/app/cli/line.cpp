/// A command line taken apart: values, letters, words, and what a wrong one is answered with.
#include "app/cli/flags/command_line.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "app/cli/flags/client_flags.hpp"
#include "app/cli/flags/serving_flags.hpp"

namespace hondana::cli {
namespace {

parse_outcome taken_apart(std::vector<const char*> words) {
  words.insert(words.begin(), "hondana");
  return parse_command_line(static_cast<int>(words.size()), words.data());
}

command_line good_line(std::vector<const char*> words) {
  auto outcome = taken_apart(words);
  if (const auto* wrong = std::get_if<usage_error>(&outcome)) ADD_FAILURE() << wrong->message;
  return std::get<command_line>(std::move(outcome));
}

std::string fault_of(std::vector<const char*> words) {
  const auto outcome = taken_apart(std::move(words));
  const auto* wrong = std::get_if<usage_error>(&outcome);
  return wrong == nullptr ? "nothing is wrong" : wrong->message;
}

TEST(line, takes_values_behind_a_space_an_equals_sign_and_a_letter) {
  EXPECT_EQ(good_line({"ls", "--sort", "name"}).text(sort_flag), "name");
  EXPECT_EQ(good_line({"ls", "--sort=name"}).text(sort_flag), "name");
  EXPECT_EQ(good_line({"read", "a", "-o", "b"}).text(output_flag), "b");
  EXPECT_EQ(good_line({"read", "a", "-ob"}).text(output_flag), "b");
  EXPECT_EQ(good_line({"read", "a", "--output="}).text(output_flag), "");
  EXPECT_TRUE(good_line({"read", "a", "--output="}).has(output_flag));
  EXPECT_EQ(good_line({"ls", "--filter=a=b"}).text(filter_flag), "a=b");
}

TEST(line, takes_several_letters_in_one_word) {
  const auto line = good_line({"read", "-fqoout", "uri"});
  EXPECT_TRUE(line.has(force_flag));
  EXPECT_TRUE(line.has(quiet_flag));
  EXPECT_EQ(line.text(output_flag), "out");
  EXPECT_EQ(line.words(), std::vector<std::string>{"uri"});
}

TEST(line, takes_flags_and_words_in_any_order) {
  const auto line = good_line({"read", "--timeout", "2.5", "file:///a", "--lines", "3-"});
  EXPECT_EQ(line.number(timeout_flag), 2.5);
  EXPECT_EQ(line.word(0), "file:///a");
  EXPECT_EQ(line.word(1), "");
  EXPECT_EQ(line.text(lines_flag), "3-");
  EXPECT_FALSE(line.number(for_flag));
}

TEST(line, keeps_every_value_of_a_flag_that_may_be_repeated) {
  const auto line = good_line({"ls", "-H", "A: 1", "--header=B: 2", "-HC: 3"});
  EXPECT_EQ(line.all_values(header_flag), (std::vector<std::string>{"A: 1", "B: 2", "C: 3"}));
  EXPECT_EQ(fault_of({"ls", "--sort", "name", "--sort", "recency"}), "--sort is given twice");
}

TEST(line, takes_everything_behind_two_dashes_as_the_command_of_a_server) {
  const auto line = good_line({"ls", "--json", "--", "npx", "-y", "--", "some-server", "--json"});
  EXPECT_EQ(line.server_command(), (std::vector<std::string>{"npx", "-y", "--", "some-server", "--json"}));
  EXPECT_TRUE(line.words().empty());
  EXPECT_EQ(line.all_values(json_flag).size(), 1u);
  EXPECT_EQ(good_line({"check", "--", "--odd"}).words(), std::vector<std::string>{"--odd"});
  EXPECT_EQ(fault_of({"ls", "--"}), "-- must be followed by the command that starts a server");
  EXPECT_EQ(fault_of({"ls", "--on", "x", "--", "y"}), "give either --on or -- COMMAND, not both");
}

TEST(line, takes_a_command_of_two_words) {
  EXPECT_EQ(&good_line({"config", "import", "a.json"}).entry(), &import_entry);
  EXPECT_EQ(fault_of({"config"}), "the command is \"hondana config import\"");
  EXPECT_EQ(fault_of({"token"}), "the commands are \"hondana token new\", \"hondana token ls\" and \"hondana token revoke\"");
  EXPECT_EQ(fault_of({"token", "revoke"}), "\"hondana token revoke\" needs an ID: As 'hondana token ls' shows it");
  EXPECT_EQ(fault_of({"config", "imprt"}), "the command is \"hondana config import\"");
  EXPECT_EQ(std::get<help_request>(taken_apart({"config", "--help"})).entry, &import_entry);
  const auto several = std::get<help_request>(taken_apart({"token", "--help"}));
  EXPECT_EQ(several.entry, nullptr);
  EXPECT_EQ(several.group, "token");
  EXPECT_EQ(std::get<usage_error>(taken_apart({"token"})).command, "token");
}

TEST(line, wants_help_and_version_before_and_behind_a_command) {
  EXPECT_EQ(std::get<help_request>(taken_apart({"-h"})).entry, nullptr);
  EXPECT_EQ(std::get<help_request>(taken_apart({"read", "--help"})).entry, &read_entry);
  EXPECT_EQ(std::get<help_request>(taken_apart({"read", "-fh"})).entry, &read_entry);
  EXPECT_TRUE(std::holds_alternative<version_request>(taken_apart({"-V"})));
}

TEST(line, says_what_was_meant_by_a_slip) {
  EXPECT_TRUE(fault_of({"raed", "x"}).starts_with("unknown command \"raed\"; did you mean \"read\"? The commands are "));
  EXPECT_EQ(fault_of({"ls", "--sotr", "name"}), "unknown option \"--sotr\" of \"ls\"; did you mean \"--sort\"?");
  EXPECT_EQ(fault_of({"ls", "--sort", "nmae"}), "--sort is name, priority or recency, not \"nmae\"; did you mean \"name\"?");
  EXPECT_EQ(fault_of({"ls", "-x"}), "unknown option \"-x\" of \"ls\"");
  EXPECT_EQ(fault_of({"completions", "fihs"}), "SHELL is bash, zsh or fish, not \"fihs\"; did you mean \"fish\"?");
}

TEST(line, says_what_a_value_may_be) {
  EXPECT_EQ(fault_of({"ls", "--min-priority", "2"}), "--min-priority is a number from 0 to 1, not \"2\"");
  EXPECT_EQ(fault_of({"ls", "--min-priority", "nan"}), "--min-priority is a number from 0 to 1, not \"nan\"");
  EXPECT_EQ(fault_of({"ls", "--min-priority", "-1"}), "--min-priority is a number from 0 to 1, not \"-1\"");
  EXPECT_EQ(fault_of({"ls", "--timeout=0"}), "--timeout is a number from 0.001 to 86400, not \"0\"");
  EXPECT_EQ(fault_of({"serve", "-p", "1.5"}), "-p is a whole number from 0 to 65535, not \"1.5\"");
  EXPECT_EQ(fault_of({"ls", "--sort"}), "--sort needs a value: ORDER");
  EXPECT_EQ(fault_of({"ls", "--filter", "-x"}),
            "--filter needs a value: TEXT. One that begins with a dash is written --filter=-x");
  EXPECT_EQ(good_line({"ls", "--filter=-x"}).text(filter_flag), "-x");
  EXPECT_EQ(fault_of({"ls", "--json=yes"}), "--json takes no value");
}

TEST(line, says_which_word_is_missing_or_too_many) {
  EXPECT_EQ(fault_of({"read"}),
            "\"hondana read\" needs a URI: The resource: its URI, its name as ls shows it, or the end of its URI");
  EXPECT_EQ(fault_of({"read", "a", "b"}), "\"b\" is an unexpected argument of \"hondana read\"");
  EXPECT_EQ(good_line({"watch", "a", "b", "c"}).words().size(), 3u);
  EXPECT_TRUE(fault_of({}).starts_with("give a command: serve, "));
  EXPECT_TRUE(fault_of({"--json"}).starts_with("unknown option \"--json\" before the command; "));
}

}  // namespace
}  // namespace hondana::cli
