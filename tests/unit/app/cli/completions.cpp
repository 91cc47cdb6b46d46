/// The completions of the shells: that they know the whole table, that shells take them, and what bash offers.
#include "app/cli/flags/completions.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "app/cli/flags/command_table.hpp"

namespace hondana::cli {
namespace {

bool has_part(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

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

TEST(completions, the_completions_of_bash_know_every_command_flag_and_choice) {
  const auto script = bash_completions();
  for (const auto* one : commands()) {
    const std::string name(one->name);
    const auto begin = script.find("\n    '" + name + "') _hondana_choices '");
    ASSERT_NE(begin, std::string::npos) << name;
    const auto flags = script.substr(begin + 1, script.find('\n', begin + 1) - begin) + ' ';
    for_each_flag(*one, [&](const flag& each) {
      EXPECT_TRUE(has_part(flags, "--" + std::string(each.name) + ' ') || has_part(flags, "--" + std::string(each.name) + '\''))
          << name << each.name;
      if (!each.value.empty()) {
        EXPECT_TRUE(has_part(script, "'" + name + " --" + std::string(each.name) + '\'')) << name << each.name;
      }
      if (!each.choices.empty()) {
        EXPECT_TRUE(has_part(script, "_hondana_choices '" + words_with_spaces(each.choices) + "'"));
      }
    });
  }
}

TEST(completions, the_completions_of_zsh_know_every_command_flag_and_choice) {
  const auto script = zsh_completions();
  for (const auto* one : commands()) {
    const auto own = zsh_case(script, *one);
    ASSERT_FALSE(own.empty()) << one->name;
    for_each_flag(*one, [&](const flag& each) {
      const auto name = "--" + std::string(each.name) + (each.value.empty() ? "" : "=");
      EXPECT_TRUE(has_part(own, name + '[') || has_part(own, name + "}'[")) << one->name << name;
      if (!each.choices.empty()) {
        EXPECT_TRUE(has_part(own, '(' + words_with_spaces(each.choices) + ')')) << name;
      }
    });
  }
}

TEST(completions, the_completions_of_fish_know_every_command_flag_and_choice) {
  const auto script = fish_completions();
  for (const auto* one : commands()) {
    for_each_flag(*one, [&](const flag& each) {
      EXPECT_TRUE(has_fish_line(script, *one, each)) << one->name << " --" << each.name;
      if (!each.choices.empty()) {
        EXPECT_TRUE(has_part(script, "-x -a '" + words_with_spaces(each.choices) + "'"));
      }
    });
  }
}

/// Runs a shell that only reads a script; whether it takes it. 127 if the shell is not installed.
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

TEST(completions, the_completions_are_scripts_of_their_shells) {
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

TEST(completions, bash_completes_commands_flags_and_choices) {
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
