/// The table of commands and flags, and that help and manual page tell what it says.
#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "app/cli/exit_codes.hpp"
#include "app/cli/flags/command_line.hpp"
#include "app/cli/flags/command_table.hpp"
#include "app/cli/flags/help.hpp"

namespace hondana::cli {
namespace {

bool holds(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

/// As it reads on paper: without the escapes of roff.
std::string page_text() {
  std::string out;
  const auto page = manual_page();
  for (std::size_t i = 0; i < page.size(); ++i) {
    const std::string_view rest = std::string_view(page).substr(i);
    if (rest.starts_with("\\f")) {
      i += 2;
    } else if (rest.starts_with("\\(aq") || rest.starts_with("\\(ti")) {
      out += rest[2] == 'a' ? '\'' : '~';
      i += 3;
    } else if (rest.starts_with("\\&")) {
      i += 1;
    } else if (rest.starts_with("\\e") || rest.starts_with("\\-")) {
      out += rest[1] == 'e' ? '\\' : '-';
      i += 1;
    } else {
      out += page[i];
    }
  }
  return out;
}

/// What is between the synopsis of a command and the next heading.
std::string section_of(const std::string& page, const command_entry& of) {
  const auto begin = page.find("\n.SS " + synopsis(of) + '\n');
  if (begin == std::string::npos) return {};
  return page.substr(begin, page.find("\n.S", begin + 5) - begin);
}

TEST(flags, every_command_has_a_name_of_its_own_and_a_summary_in_one_line) {
  std::set<std::string_view> names;
  for (const auto* one : commands()) {
    EXPECT_TRUE(names.insert(one->name).second) << one->name;
    EXPECT_EQ(find_command(one->name), one);
    EXPECT_FALSE(one->summary.empty()) << one->name;
    EXPECT_FALSE(one->summary.ends_with('.') || holds(one->summary, "\n")) << one->summary;
  }
  EXPECT_EQ(find_command("config"), nullptr);
  EXPECT_EQ(find_command(""), nullptr);
}

TEST(flags, names_and_letters_are_unique_within_a_command) {
  for (const auto* one : commands()) {
    std::set<std::string_view> names;
    std::set<char> letters;
    for_each_flag(*one, [&](const flag& each) {
      EXPECT_TRUE(names.insert(each.name).second) << one->name << " --" << each.name;
      if (each.letter != 0) {
        EXPECT_TRUE(letters.insert(each.letter).second) << one->name << " -" << each.letter;
      }
      EXPECT_EQ(find_flag(*one, each.name), &each) << one->name << " --" << each.name;
      EXPECT_FALSE(each.help.empty() || each.help.ends_with('.')) << each.name;
      EXPECT_EQ(each.completion == completion_kind::choice, !each.choices.empty()) << each.name;
      EXPECT_FALSE(each.value.empty() && (each.number || !each.choices.empty())) << each.name;
    });
    EXPECT_EQ(find_flag(*one, '\0'), nullptr);
  }
}

TEST(flags, only_the_last_argument_may_be_repeated_and_required_ones_come_first) {
  for (const auto* one : commands()) {
    bool may_be_left_out = false;
    for (const auto& each : one->arguments) {
      EXPECT_FALSE(each.is_repeatable && &each != &one->arguments.back()) << one->name;
      EXPECT_FALSE(each.is_required && may_be_left_out) << one->name;
      may_be_left_out = may_be_left_out || !each.is_required;
    }
  }
}

TEST(flags, the_help_of_a_command_shows_its_flags_arguments_and_examples) {
  for (const auto* one : commands()) {
    const auto text = command_help(*one);
    EXPECT_TRUE(holds(text, "Usage: " + synopsis(*one) + '\n')) << one->name;
    for_each_flag(*one,
                  [&](const flag& each) { EXPECT_TRUE(holds(text, "  " + flag_synopsis(each))) << one->name << each.name; });
    for (const auto& each : one->arguments) EXPECT_TRUE(holds(text, "\n  " + std::string(each.name))) << one->name;
    for (const auto& each : one->examples) EXPECT_TRUE(holds(text, each.line)) << one->name;
  }
}

TEST(flags, the_help_of_several_commands_shows_each_with_its_flags_and_arguments) {
  for (const auto* word : {"analysis", "token"}) {
    const auto text = group_help(word);
    std::size_t count = 0;
    for (const auto* one : commands()) {
      if (!one->name.starts_with(std::string(word) + ' ')) continue;
      ++count;
      EXPECT_TRUE(holds(text, '\n' + synopsis(*one) + "\n    " + std::string(one->summary) + ".\n")) << one->name;
      for_each_flag(*one, [&](const flag& each) { EXPECT_TRUE(holds(text, "  " + flag_synopsis(each))) << each.name; });
      for (const auto& each : one->arguments) EXPECT_TRUE(holds(text, "\n  " + std::string(each.name))) << one->name;
    }
    EXPECT_GT(count, 2u);
  }
  const auto text = group_help("analysis");
  EXPECT_EQ(text.find("--json"), text.rfind("--json")) << "what all have is told once";
  EXPECT_EQ(group_help("config"), "");
  EXPECT_EQ(group_help("no such"), "");
}

TEST(flags, paragraphs_of_the_help_have_an_empty_line_between_them) {
  EXPECT_TRUE(holds(command_help(*find_command("read")), " paths work too.\n\nContents are written as they are, "));
}

TEST(flags, the_first_screen_shows_every_command_that_people_type_and_the_exit_codes) {
  const auto text = program_help();
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 48);
  EXPECT_TRUE(holds(text, "\n  token new, ls, revoke  Create a token"));
  EXPECT_TRUE(holds(text, "\n  analysis put, get, ls, rm, stats  Store an analysis"));
  for (const auto* one : commands()) {
    if (one->name.starts_with("token ") || one->name.starts_with("analysis ")) continue;
    EXPECT_EQ(holds(text, "\n  " + std::string(one->name) + ' '), !one->section.empty()) << one->name;
  }
  std::string in_a_row = text;
  std::replace(in_a_row.begin(), in_a_row.end(), '\n', ' ');
  EXPECT_TRUE(holds(in_a_row,
                    "Exit codes: 0 ok, 1 wrong arguments or configuration, 2 not found, 3 not authorized, 4 unreachable or "
                    "timed out, 5 server error."));
}

/// The words of an example's `hondana …`, as a shell makes them.
std::vector<std::string> words_of_example(std::string_view line) {
  line.remove_prefix(line.find("hondana "));
  line = line.substr(0, line.find(')'));
  std::vector<std::string> words(1);
  bool is_quoted = false;
  for (const char c : line) {
    if (c == '\'') {
      is_quoted = !is_quoted;
    } else if (c == ' ' && !is_quoted) {
      words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  return words;
}

TEST(flags, examples_are_lines_that_the_parser_takes) {
  for (const auto* one : commands()) {
    for (const auto& each : one->examples) {
      const auto words = words_of_example(each.line);
      std::vector<const char*> pointers;
      pointers.reserve(words.size());
      for (const auto& word : words) pointers.push_back(word.c_str());
      const auto outcome = parse_command_line(static_cast<int>(pointers.size()), pointers.data());
      ASSERT_TRUE(std::holds_alternative<command_line>(outcome)) << each.line;
      EXPECT_EQ(&std::get<command_line>(outcome).entry(), one) << each.line;
    }
  }
}

TEST(flags, the_manual_page_has_every_command_flag_choice_and_exit_code) {
  const auto page = page_text();
  for (const auto* one : commands()) {
    const auto own = section_of(page, *one);
    ASSERT_FALSE(own.empty()) << one->name;
    for (const auto* each : one->flags) EXPECT_TRUE(holds(own, "--" + std::string(each->name))) << one->name << each->name;
    for (const auto& each : one->arguments) EXPECT_TRUE(holds(own, each.help)) << one->name << each.name;
    for_each_flag(*one, [&](const flag& each) {
      EXPECT_TRUE(holds(page, "--" + std::string(each.name))) << each.name;
      for (const auto choice : each.choices) EXPECT_TRUE(holds(page, choice)) << each.name;
    });
  }
  for (const auto& [code, meaning] : exit_code_table)
    EXPECT_TRUE(holds(page, ".TP\n" + std::to_string(code) + '\n' + std::string(meaning))) << code;
  for (const auto& term : targets().terms) EXPECT_TRUE(holds(page, term.name)) << term.name;
}

TEST(flags, the_manual_page_tells_the_option_that_no_command_accepts_apart_from_those_of_every_command) {
  const auto page = page_text();
  EXPECT_TRUE(holds(page,
                    "\n.SH OPTIONS OF EVERY COMMAND\n.TP\n-h, --help\nPrint this help.\n"
                    ".SH OPTIONS INSTEAD OF A COMMAND\n.TP\n-V, --version\nPrint the version.\n.SH TARGETS\n"));
  for (const auto* one : commands()) EXPECT_EQ(find_flag(*one, "version"), nullptr) << one->name;
}

TEST(flags, no_line_of_the_manual_page_is_taken_for_a_request_by_mistake) {
  const std::set<std::string_view> requests{"TH", "SH", "SS", "TP", "PP", "nf", "fi", "RS", "RE"};
  const auto page = manual_page();
  for (std::size_t at = 0; at < page.size();) {
    const auto end = page.find('\n', at);
    const auto line = std::string_view(page).substr(at, end - at);
    EXPECT_FALSE(line.starts_with('\'')) << line;
    if (line.starts_with('.')) {
      EXPECT_TRUE(requests.contains(line.substr(1, line.find(' ') - 1))) << line;
    }
    at = end + 1;
  }
}

}  // namespace
}  // namespace hondana::cli
