/// Several ignore files together: precedence, scope and ancestors.
#include "base/ignore/gitignore.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hondana::ignore {
namespace {

list_pointer file(std::string_view text, std::string source) {
  return std::make_shared<const pattern_list>(pattern_list::parse(text, std::move(source)));
}

TEST(ignore_stack, without_files_nothing_is_ignored) {
  const stack root;
  EXPECT_FALSE(root.decide("a/b", false).is_ignored());
  EXPECT_EQ(root.child("a").child("b").folder(), "a/b");
  EXPECT_FALSE(root.child("a").decide_full("a/b", true).is_ignored());
}

TEST(ignore_stack, the_verdict_names_file_line_and_pattern) {
  const stack root(folder_rules{file("# note\n*.tmp \n", ".gitignore"), nullptr});
  const verdict said = root.child("src").decide("src/a.tmp", false);
  EXPECT_TRUE(said.is_ignored());
  EXPECT_EQ(said.source, ".gitignore");
  EXPECT_EQ(said.line, 2U);
  EXPECT_EQ(said.pattern, "*.tmp");
  EXPECT_EQ(said.matched_bytes, 9U);
}

TEST(ignore_stack, the_deepest_file_wins) {
  const stack root(folder_rules{file("*.log\n!b.txt\n", ".gitignore"), nullptr});
  const stack sub = root.child("sub", {file("!a.log\n*.txt\n", "sub/.gitignore"), nullptr});
  EXPECT_EQ(sub.decide("sub/a.log", false).outcome, decision::included);
  EXPECT_EQ(sub.decide("sub/a.log", false).source, "sub/.gitignore");
  EXPECT_EQ(sub.decide("sub/c.log", false).source, ".gitignore");
  EXPECT_EQ(sub.decide("sub/b.txt", false).outcome, decision::ignored);
  EXPECT_EQ(root.decide("b.txt", false).outcome, decision::included);
}

TEST(ignore_stack, hondanaignore_is_stronger_than_gitignore_of_the_same_folder_only) {
  const stack root(folder_rules{file("*.a\n!x.b\n", ".gitignore"), file("!x.a\n*.b\n", ".hondanaignore")});
  EXPECT_EQ(root.decide("x.a", false).outcome, decision::included);
  EXPECT_EQ(root.decide("x.b", false).outcome, decision::ignored);
  EXPECT_EQ(root.decide("x.b", false).source, ".hondanaignore");
  EXPECT_EQ(root.decide("y.a", false).source, ".gitignore");
  const stack sub = root.child("sub", {file("x.a\n", "sub/.gitignore"), nullptr});
  EXPECT_EQ(sub.decide("sub/x.a", false).source, "sub/.gitignore");
}

TEST(ignore_stack, info_exclude_is_weakest) {
  const stack root(folder_rules{file("!keep.bak\n", ".gitignore"), nullptr}, file("*.bak\nonly\n", ".git/info/exclude"));
  EXPECT_EQ(root.decide("keep.bak", false).outcome, decision::included);
  EXPECT_EQ(root.decide("x.bak", false).source, ".git/info/exclude");
  EXPECT_EQ(root.child("a").decide("a/only", false).line, 2U);
  EXPECT_TRUE(stack(folder_rules{}, file("x\n", "e")).decide("x", false).is_ignored());
}

TEST(ignore_stack, patterns_are_anchored_at_their_own_folder) {
  const stack root;
  const stack b = root.child("a").child("b", {file("/x\nc/y\n", "a/b/.gitignore"), nullptr});
  EXPECT_TRUE(b.decide("a/b/x", false).is_ignored());
  EXPECT_TRUE(b.child("c").decide("a/b/c/y", false).is_ignored());
  EXPECT_FALSE(b.child("c").decide("a/b/c/x", false).is_ignored());
}

TEST(ignore_stack, files_of_other_folders_have_no_say) {
  const stack b = stack().child("a").child("b", {file("*\n", "a/b/.gitignore"), nullptr});
  EXPECT_TRUE(b.decide("a/b/x", false).is_ignored());
  EXPECT_FALSE(b.decide("a/b", true).is_ignored());
  EXPECT_FALSE(b.decide("a/bc", false).is_ignored());
  EXPECT_FALSE(b.decide("a/bc/x", false).is_ignored());
  EXPECT_FALSE(b.decide("x", false).is_ignored());
  EXPECT_FALSE(b.decide("", false).is_ignored());
}

TEST(ignore_stack, nothing_in_an_ignored_folder_is_included_again) {
  const stack root(folder_rules{file("build/\n!build/keep.txt\n", ".gitignore"), nullptr});
  const verdict said = root.child("build").decide_full("build/keep.txt", false);
  EXPECT_TRUE(said.is_ignored());
  EXPECT_EQ(said.line, 1U);
  EXPECT_EQ(said.pattern, "build/");
  EXPECT_EQ(said.matched_bytes, 5U);
  EXPECT_TRUE(root.decide_full("build/a/b/c", true).is_ignored());
  EXPECT_FALSE(root.decide_full("build", false).is_ignored());
}

TEST(ignore_stack, a_folder_included_again_lets_its_files_be_judged) {
  const stack root(folder_rules{file("/*\n!/src/\n/src/*\n!/src/a/\n", ".gitignore"), nullptr});
  EXPECT_FALSE(root.decide_full("src/a/x", false).is_ignored());
  EXPECT_TRUE(root.decide_full("src/b/x", false).is_ignored());
  EXPECT_TRUE(root.decide_full("other/a/x", false).is_ignored());
  EXPECT_EQ(root.decide_full("src/a", true).outcome, decision::included);
}

TEST(ignore_stack, files_above_the_root_are_weaker_and_see_the_whole_path) {
  const std::vector<outer_rules> outer{{"a/b", file("*.x\nonly\n", "exclude")},
                                       {"a/b", file("/a/b/top\n/top2\n!kept.x\n*.log\n", "../../.gitignore")},
                                       {"b", file("b/low\n!a.log\n", "../.gitignore")}};
  const stack root(folder_rules{file("!own.log\n", ".gitignore"), nullptr}, {}, outer);
  EXPECT_EQ(root.decide("top", false).source, "../../.gitignore");
  EXPECT_EQ(root.decide("top2", false).outcome, decision::none);
  EXPECT_EQ(root.decide("low", false).source, "../.gitignore");
  EXPECT_EQ(root.decide("own.log", false).outcome, decision::included);
  EXPECT_EQ(root.decide("a.log", false).outcome, decision::included);
  EXPECT_TRUE(root.decide("b.log", false).is_ignored());
  EXPECT_FALSE(root.decide("kept.x", false).is_ignored());
  EXPECT_EQ(root.child("c").decide("c/y.x", false).source, "exclude");
  EXPECT_EQ(root.child("c").decide("c/top", false).outcome, decision::none);
}

TEST(ignore_stack, a_file_that_is_not_complete_ignores_all_below_its_folder) {
  const stack root;
  const stack sub = root.child("sub", {std::make_shared<const pattern_list>(pattern_list::unusable("sub/.gitignore", "why")),
                                       file("!*\n", "sub/.hondanaignore")});
  EXPECT_FALSE(sub.decide("sub", true).is_ignored());
  const verdict said = sub.decide("sub/a", false);
  EXPECT_TRUE(said.is_ignored());
  EXPECT_EQ(said.source, "sub/.gitignore");
  EXPECT_EQ(said.error, "why");
  EXPECT_TRUE(sub.child("deep").decide("sub/deep/a", false).is_ignored());
  EXPECT_TRUE(stack(folder_rules{file(std::string(5000, 'x'), "f"), nullptr}).decide("a", false).is_ignored());
}

// attacks: resource exhaustion (hostile ignore files)
TEST(ignore_stack, a_decision_that_takes_too_long_is_ignored_and_says_why) {
  std::string text;
  while (text.size() < 200'000) text += "**/*a*a*a*b/x\n";
  const list_pointer hostile = file(text, ".gitignore");
  ASSERT_TRUE(hostile->is_complete());
  stack at(folder_rules{hostile, nullptr});
  std::string path;
  for (int depth = 1; depth < 14; ++depth) {
    const std::string name(200, 'a');
    path += name + "/";
    at = at.child(name, {hostile, nullptr});
  }
  const verdict said = at.decide(path + "x", false);
  EXPECT_TRUE(said.is_ignored());
  EXPECT_EQ(said.error, "its patterns take too long to match here");
  EXPECT_LE(said.steps, 1'010'000U);
  EXPECT_LE(at.decide(path + "x", false, 5000).steps, 15'000U);
  EXPECT_FALSE(stack(folder_rules{hostile, nullptr}).decide("ordinary.txt", false).is_ignored());
}

TEST(ignore_stack, knows_how_much_its_lists_hold) {
  EXPECT_EQ(stack().bytes(), 0U);
  const list_pointer list = file("a*b\nc\n", "f");
  const stack root(folder_rules{list, nullptr});
  EXPECT_EQ(root.bytes(), list->bytes());
  EXPECT_EQ(root.child("a", {list, list}).bytes(), 3 * list->bytes());
}

TEST(ignore_stack, a_stack_outlives_the_ones_it_came_from) {
  stack deep;
  {
    const stack root(folder_rules{file("*.o\n", ".gitignore"), nullptr});
    deep = root.child("a").child("b");
  }
  EXPECT_EQ(deep.decide("a/b/x.o", false).source, ".gitignore");
}

}  // namespace
}  // namespace hondana::ignore
