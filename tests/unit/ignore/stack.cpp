/// Several ignore files together: precedence, scope and ancestors.
#include "ignore/stack.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace hondana::ignore {
namespace {

list_pointer file(std::string_view text, std::string source) {
  return std::make_shared<const pattern_list>(pattern_list::parse(text, std::move(source)));
}

TEST(ignore_stack, without_files_nothing_is_ignored) {
  const stack root;
  EXPECT_FALSE(root.decide("a/b", false).ignored());
  EXPECT_EQ(root.child("a").child("b").folder(), "a/b");
  EXPECT_FALSE(root.child("a").decide_full("a/b", true).ignored());
}

TEST(ignore_stack, the_verdict_names_file_line_and_pattern) {
  const stack root(folder_rules{file("# note\n*.tmp \n", ".gitignore"), nullptr});
  const verdict said = root.child("src").decide("src/a.tmp", false);
  EXPECT_TRUE(said.ignored());
  EXPECT_EQ(said.source, ".gitignore");
  EXPECT_EQ(said.line, 2U);
  EXPECT_EQ(said.pattern, "*.tmp");
  EXPECT_EQ(said.decided_bytes, 9U);
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
  EXPECT_TRUE(stack(folder_rules{}, file("x\n", "e")).decide("x", false).ignored());
}

TEST(ignore_stack, patterns_are_anchored_at_their_own_folder) {
  const stack root;
  const stack b = root.child("a").child("b", {file("/x\nc/y\n", "a/b/.gitignore"), nullptr});
  EXPECT_TRUE(b.decide("a/b/x", false).ignored());
  EXPECT_TRUE(b.child("c").decide("a/b/c/y", false).ignored());
  EXPECT_FALSE(b.child("c").decide("a/b/c/x", false).ignored());
}

TEST(ignore_stack, files_of_other_folders_have_no_say) {
  const stack b = stack().child("a").child("b", {file("*\n", "a/b/.gitignore"), nullptr});
  EXPECT_TRUE(b.decide("a/b/x", false).ignored());
  EXPECT_FALSE(b.decide("a/b", true).ignored());
  EXPECT_FALSE(b.decide("a/bc", false).ignored());
  EXPECT_FALSE(b.decide("a/bc/x", false).ignored());
  EXPECT_FALSE(b.decide("x", false).ignored());
  EXPECT_FALSE(b.decide("", false).ignored());
}

TEST(ignore_stack, nothing_in_an_ignored_folder_is_included_again) {
  const stack root(folder_rules{file("build/\n!build/keep.txt\n", ".gitignore"), nullptr});
  const verdict said = root.child("build").decide_full("build/keep.txt", false);
  EXPECT_TRUE(said.ignored());
  EXPECT_EQ(said.line, 1U);
  EXPECT_EQ(said.pattern, "build/");
  EXPECT_EQ(said.decided_bytes, 5U);
  EXPECT_TRUE(root.decide_full("build/a/b/c", true).ignored());
  EXPECT_FALSE(root.decide_full("build", false).ignored());
}

TEST(ignore_stack, a_folder_included_again_lets_its_files_be_judged) {
  const stack root(folder_rules{file("/*\n!/src/\n/src/*\n!/src/a/\n", ".gitignore"), nullptr});
  EXPECT_FALSE(root.decide_full("src/a/x", false).ignored());
  EXPECT_TRUE(root.decide_full("src/b/x", false).ignored());
  EXPECT_TRUE(root.decide_full("other/a/x", false).ignored());
  EXPECT_EQ(root.decide_full("src/a", true).outcome, decision::included);
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
