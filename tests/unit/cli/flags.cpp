/// The table of commands and flags, and that help, manual page and completions all tell what it says.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "cli/exit_codes.hpp"
#include "cli/flags/completions.hpp"
#include "cli/flags/help.hpp"
#include "cli/flags/line.hpp"
#include "cli/flags/manual.hpp"
#include "cli/flags/table.hpp"
#include "cli/flags/topics.hpp"

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

/// What `script` says of a fish condition, line by line.
bool has_fish_line(const std::string& script, const command_entry& of, const flag& one) {
  const std::string begin = "complete -c hondana -n '__hondana_is " + std::string(of.name) + "'" +
                            (one.letter == 0 ? std::string() : std::string(" -s ") + one.letter) + " -l " +
                            std::string(one.name) + ' ';
  for (auto at = script.find(begin); at != std::string::npos; at = script.find(begin, at + 1)) {
    if (at == 0 || script[at - 1] == '\n') return true;
  }
  return false;
}

/// The body of a command in zsh's `case`.
std::string zsh_case(const std::string& script, const command_entry& of) {
  const auto begin = script.find("\n    '" + std::string(of.name) + "')\n");
  return begin == std::string::npos ? std::string() : script.substr(begin, script.find("\n      ;;\n", begin) - begin);
}

std::string words_with_spaces(std::span<const std::string_view> words) {
  std::string out;
  for (const auto one : words) out += (out.empty() ? "" : " ") + std::string(one);
  return out;
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
      EXPECT_EQ(each.by == completion_kind::choice, !each.choices.empty()) << each.name;
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
    for_each_flag(*one, [&](const flag& each) { EXPECT_TRUE(holds(text, "  " + spelling(each))) << one->name << each.name; });
    for (const auto& each : one->arguments) EXPECT_TRUE(holds(text, "\n  " + std::string(each.name))) << one->name;
    for (const auto& each : one->examples) EXPECT_TRUE(holds(text, each.line)) << one->name;
  }
}

TEST(flags, the_first_screen_shows_every_command_that_people_type_and_the_exit_codes) {
  const auto text = program_help();
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 40);
  for (const auto* one : commands()) {
    EXPECT_EQ(holds(text, "\n  " + std::string(one->name) + ' '), !one->section.empty()) << one->name;
  }
  std::string in_a_row = text;
  std::replace(in_a_row.begin(), in_a_row.end(), '\n', ' ');
  EXPECT_TRUE(holds(in_a_row,
                    "Exit codes: 0 ok, 1 wrong arguments or configuration, 2 not found, 3 not authorized, 4 unreachable, or no "
                    "answer in time, 5 error of the server, ours included."));
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
      for (const auto& word : words) pointers.push_back(word.c_str());
      const auto outcome = read_line(static_cast<int>(pointers.size()), pointers.data());
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

TEST(flags, the_completions_of_bash_know_every_command_flag_and_choice) {
  const auto script = bash_completions();
  for (const auto* one : commands()) {
    const std::string name(one->name);
    const auto begin = script.find("\n    '" + name + "') _hondana_choices '");
    ASSERT_NE(begin, std::string::npos) << name;
    const auto flags = script.substr(begin + 1, script.find('\n', begin + 1) - begin) + ' ';
    for_each_flag(*one, [&](const flag& each) {
      EXPECT_TRUE(holds(flags, "--" + std::string(each.name) + ' ') || holds(flags, "--" + std::string(each.name) + '\''))
          << name << each.name;
      if (!each.value.empty()) {
        EXPECT_TRUE(holds(script, "'" + name + " --" + std::string(each.name) + '\'')) << name << each.name;
      }
      if (!each.choices.empty()) {
        EXPECT_TRUE(holds(script, "_hondana_choices '" + words_with_spaces(each.choices) + "'"));
      }
    });
  }
}

TEST(flags, the_completions_of_zsh_know_every_command_flag_and_choice) {
  const auto script = zsh_completions();
  for (const auto* one : commands()) {
    const auto own = zsh_case(script, *one);
    ASSERT_FALSE(own.empty()) << one->name;
    for_each_flag(*one, [&](const flag& each) {
      const auto name = "--" + std::string(each.name) + (each.value.empty() ? "" : "=");
      EXPECT_TRUE(holds(own, name + '[') || holds(own, name + "}'[")) << one->name << name;
      if (!each.choices.empty()) {
        EXPECT_TRUE(holds(own, '(' + words_with_spaces(each.choices) + ')')) << name;
      }
    });
  }
}

TEST(flags, the_completions_of_fish_know_every_command_flag_and_choice) {
  const auto script = fish_completions();
  for (const auto* one : commands()) {
    for_each_flag(*one, [&](const flag& each) {
      EXPECT_TRUE(has_fish_line(script, *one, each)) << one->name << " --" << each.name;
      if (!each.choices.empty()) {
        EXPECT_TRUE(holds(script, "-x -a '" + words_with_spaces(each.choices) + "'"));
      }
    });
  }
}

/// Runs a shell that only reads a script; whether it takes it. 127 where there is no such shell.
int read_by(const std::string& shell, const std::string& script) {
  std::string path = (std::filesystem::temp_directory_path() / "hondana-script-XXXXXX").string();
  const int file = ::mkstemp(path.data());
  EXPECT_GE(file, 0);
  ::close(file);
  std::ofstream(path) << script;
  const int status = std::system((shell + " '" + path + "' >/dev/null 2>&1").c_str());
  std::filesystem::remove(path);
  return WEXITSTATUS(status);
}

TEST(flags, the_completions_are_scripts_of_their_shells) {
  EXPECT_EQ(read_by("bash -n", bash_completions()), 0);
  EXPECT_NE(read_by("bash -n", bash_completions() + "\nif"), 0);
  const auto zsh = read_by("zsh -n", zsh_completions());
  EXPECT_TRUE(zsh == 0 || zsh == 127) << zsh;
  const auto fish = read_by("fish --no-execute", fish_completions());
  EXPECT_TRUE(fish == 0 || fish == 127) << fish;
}

/// What bash offers for a line that ends where it is completed.
std::string offered_by_bash(const std::string& line) {
  const auto script = bash_completions() + "\nCOMP_LINE='" + line +
                      "' COMP_POINT=${#COMP_LINE}\n_hondana\nprintf '%s ' \"${COMPREPLY[@]}\" >\"$0.out\"\n";
  std::string path = (std::filesystem::temp_directory_path() / "hondana-script-XXXXXX").string();
  const int file = ::mkstemp(path.data());
  EXPECT_GE(file, 0);
  ::close(file);
  std::ofstream(path) << script;
  EXPECT_EQ(std::system(("cd / && bash --norc '" + path + "' 2>/dev/null").c_str()), 0) << line;
  std::ifstream out(path + ".out");
  std::string text((std::istreambuf_iterator<char>(out)), std::istreambuf_iterator<char>());
  std::filesystem::remove(path);
  std::filesystem::remove(path + ".out");
  return text;
}

TEST(flags, bash_completes_commands_flags_and_choices) {
  EXPECT_EQ(offered_by_bash("hondana te"), "templates ");
  EXPECT_EQ(offered_by_bash("hondana ls --so"), "--sort ");
  EXPECT_EQ(offered_by_bash("hondana ls --sort "), "name priority recency ");
  EXPECT_EQ(offered_by_bash("hondana ls --sort=r"), "recency ");
  EXPECT_EQ(offered_by_bash("hondana ls --sort name --aud"), "--audience ");
  EXPECT_EQ(offered_by_bash("hondana config "), "import ");
  EXPECT_EQ(offered_by_bash("hondana config import --w"), "--write ");
  EXPECT_EQ(offered_by_bash("hondana completions "), "bash zsh fish ");
}

}  // namespace
}  // namespace hondana::cli
