/// Reading configuration files, with git as the judge.
#include "sources/git/git_config.hpp"

#include <array>
#include <fstream>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "unit/sources/git/made_repository.hpp"

namespace hondana::git {
namespace {

/// As `git config --list -z` prints it.
std::string listed_as_git(const std::vector<setting>& all) {
  std::string out;
  for (const auto& one : all) out += one.name + (one.value ? '\n' + *one.value : std::string()) + '\0';
  return out;
}

/// What git says about these bytes; nothing: it refuses them.
std::optional<std::string> listed_by_git(const made_repository& in, std::string_view bytes) {
  const auto file = in.above() + "/judged";
  std::ofstream(file, std::ios::binary) << bytes;
  if (in.try_git({"config", "--file", file, "--list", "-z"}) != 0) return std::nullopt;
  return in.git({"config", "--file", file, "--list", "-z"});
}

void expect_as_git(const made_repository& in, std::string_view bytes) {
  const auto judged = listed_by_git(in, bytes);
  const auto ours = parse_settings(bytes);
  ASSERT_EQ(ours.has_value(), judged.has_value()) << testing::PrintToString(std::string(bytes));
  if (ours) {
    EXPECT_EQ(listed_as_git(*ours), *judged) << testing::PrintToString(std::string(bytes));
  }
}

TEST(git_settings, are_read_as_git_reads_them) {
  const made_repository made;
  for (const std::string_view one : {"",
                                     "\n",
                                     "[core]\n\tbare = false\n",
                                     "[core]bare",
                                     "[Core]\nBare=TRUE",
                                     "[a \"B c\"]k=v",
                                     "[a.B.C]k=v",
                                     "[a \"x\\\"y\\\\z\\q\"]k",
                                     "[a]\nk = x # c\\\nl=2",
                                     "[a]k=x y\t z  ",
                                     "[a]k=\"x y\t z  \"",
                                     "[a]k=\"\" x",
                                     "[a]k=x\\\n  y",
                                     "[a]k=x\\\r\ny",
                                     "[a]k=\"a;b#c\" ; d",
                                     "[a]k=\\n\\t\\b\\\\\\\"",
                                     "; c\n# d\n[a] ; e\nk",
                                     "\xEF\xBB\xBF[a]k=v",
                                     "key = v",
                                     "[ \"x\"]k=v",
                                     "[a]k=x\\",
                                     "[a]k =\n",
                                     "[a]\rk=x\rz",
                                     "[.]k=1",
                                     "[1]k=2",
                                     "[a]k-=v",
                                     "[a]k=  \\\n  ",
                                     "[a \"\xff\"]k=\xfe"})
    expect_as_git(made, one);
}

TEST(git_settings, that_git_refuses_are_refused_with_the_line) {
  const made_repository made;
  for (const std::string_view one :
       {"[]\nk=v", "[a", "[a\n]", "[a \"x\"", "[a \"x]\nk", "[a\"x\"]k", "[a \"x\" ]k", "[a \"x\\\ny\"]k", "[a]1k=v",
        "[a]k = \"x", "[a]k=\\x", "[a]k v", "[a]k # c", "[a]=v", "[a_b]k=v", "[a]k_l=v", "]", "[a]\n\xEF\xBB\xBFk=v"})
    expect_as_git(made, one);
  EXPECT_EQ(parse_settings("[a]\nk\n\nl m\n").error().line, 4u);
  EXPECT_EQ(parse_settings("[a]\nk = \"x\nl\n").error().line, 2u);
}

TEST(git_settings, drawn_at_random_are_read_as_git_reads_them) {
  constexpr std::array<std::string_view, 20> pieces{"[", "]",  "\"",   "\\", "=",   "\n", " ", "a",     "core",        "#",
                                                    ";", "\t", "\r\n", "\r", "x y", ".",  "-", "[s]\n", "[s \"t\"]\n", "k=v\n"};
  const made_repository made;
  std::mt19937 draw(9);
  for (int i = 0; i < 300; ++i) {
    std::string bytes = i % 2 == 0 ? "[s]" : "";
    for (auto left = draw() % 12; left > 0; --left) bytes += pieces[draw() % pieces.size()];
    expect_as_git(made, bytes);
  }
}

TEST(git_settings, with_nul_bytes_are_refused) {
  using namespace std::string_view_literals;
  for (const auto one : {"\0"sv, "[a]\nk=v\0w\n"sv, "[a \"\0\"]\n"sv, "[a]\n# \0\n"sv}) EXPECT_FALSE(parse_settings(one));
  EXPECT_EQ(parse_settings("[a]\nk=v\0w\n"sv).error().line, 2u);
}

TEST(git_settings, beyond_any_use_are_refused) {
  std::string many = "[a]\n";
  for (int i = 0; i < 100'001; ++i) many += "k\n";
  EXPECT_FALSE(parse_settings(many));
  many.resize(many.size() - 2);
  EXPECT_TRUE(parse_settings(many));
}

TEST(git_settings, tell_truth_as_git_does) {
  const made_repository made;
  for (const std::string value : {"true", "YES", "on", "1", "-1", "2", "false", "No", "off", "0", "", "maybe", "1x", "tru"}) {
    made.write("truth", "[a]k=" + value + "\n");
    const auto file = made.path() + "/truth";
    const bool is_one = made.try_git({"config", "--file", file, "--type=bool", "a.k"}) == 0;
    const auto ours = parse_bool({"a.k", value});
    ASSERT_EQ(ours.has_value(), is_one) << value;
    if (is_one) {
      EXPECT_EQ(*ours ? "true\n" : "false\n", made.git({"config", "--file", file, "--type=bool", "a.k"})) << value;
    }
  }
  EXPECT_EQ(parse_bool({"a.k", std::nullopt}), true);
}

}  // namespace
}  // namespace hondana::git
