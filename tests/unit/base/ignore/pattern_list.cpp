/// One ignore file at a time: syntax, precedence of lines, caps and warnings.
#include "base/ignore/gitignore.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hondana::ignore {
namespace {

bool ignores(std::string_view text, std::string_view path, bool is_directory = false) {
  return pattern_list::parse(text).match(path, is_directory).outcome == decision::ignored;
}

TEST(pattern_list, an_empty_file_says_nothing) {
  EXPECT_EQ(pattern_list::parse("").match("a", false).outcome, decision::none);
  EXPECT_EQ(pattern_list().match("a", false).outcome, decision::none);
  EXPECT_EQ(pattern_list::parse("\n\r\n   \n# note\n!\n/\n//\n!/\n").match("a", true).outcome, decision::none);
}

TEST(pattern_list, a_name_matches_in_any_folder) {
  EXPECT_TRUE(ignores("build\n", "build"));
  EXPECT_TRUE(ignores("build\n", "a/b/build"));
  EXPECT_FALSE(ignores("build\n", "builds"));
  EXPECT_FALSE(ignores("build\n", "build/x"));
  EXPECT_FALSE(ignores("build\n", "Build"));
}

TEST(pattern_list, a_last_line_without_its_end_counts) { EXPECT_TRUE(ignores("x\nbuild", "build")); }

TEST(pattern_list, a_slash_at_the_start_or_in_the_middle_anchors) {
  EXPECT_TRUE(ignores("/build", "build"));
  EXPECT_FALSE(ignores("/build", "a/build"));
  EXPECT_TRUE(ignores("a/build", "a/build"));
  EXPECT_FALSE(ignores("a/build", "b/a/build"));
  EXPECT_FALSE(ignores("a//build", "a/build"));
  EXPECT_FALSE(ignores("./build", "build"));
}

TEST(pattern_list, a_slash_at_the_end_wants_a_folder_and_does_not_anchor) {
  EXPECT_TRUE(ignores("build/", "a/build", true));
  EXPECT_FALSE(ignores("build/", "a/build", false));
  EXPECT_TRUE(ignores("*.d/", "x.d", true));
  EXPECT_FALSE(ignores("*.d/", "x.d", false));
  EXPECT_TRUE(ignores("/a/b/", "a/b", true));
  EXPECT_FALSE(ignores("/a/b/", "a/b", false));
  EXPECT_FALSE(ignores("build//", "build", true));
}

TEST(pattern_list, the_last_matching_line_decides) {
  const pattern_list list = pattern_list::parse("*.log\n!keep.log\n\n# note\nkeep.log/\n");
  const match_result dropped = list.match("a/x.log", false);
  EXPECT_EQ(dropped.outcome, decision::ignored);
  EXPECT_EQ(dropped.line, 1U);
  EXPECT_EQ(dropped.pattern, "*.log");
  const match_result kept = list.match("a/keep.log", false);
  EXPECT_EQ(kept.outcome, decision::included);
  EXPECT_EQ(kept.line, 2U);
  EXPECT_EQ(kept.pattern, "!keep.log");
  const match_result folder = list.match("a/keep.log", true);
  EXPECT_EQ(folder.outcome, decision::ignored);
  EXPECT_EQ(folder.line, 5U);
  EXPECT_EQ(folder.pattern, "keep.log/");
  EXPECT_EQ(list.match("a/keep.txt", false).line, 0U);
}

TEST(pattern_list, each_kind_of_pattern_can_be_the_last) {
  const std::vector<std::string> lines{"a.b", "/x/a.b", "*.b", "a.*", "x/*.b", "**/a.b", "x/**"};
  for (std::size_t last = 0; last < lines.size(); ++last) {
    std::string text;
    for (std::size_t i = 1; i <= lines.size(); ++i) text += lines[(last + i) % lines.size()] + "\n";
    EXPECT_EQ(pattern_list::parse(text).match("x/a.b", false).pattern, lines[last]);
  }
}

TEST(pattern_list, one_star_and_question_mark_stop_at_slashes) {
  EXPECT_TRUE(ignores("a/*", "a/b"));
  EXPECT_FALSE(ignores("a/*", "a/b/c"));
  EXPECT_TRUE(ignores("/*/c", "b/c"));
  EXPECT_FALSE(ignores("/*/c", "c"));
  EXPECT_FALSE(ignores("a?b/c", "a/b/c"));
  EXPECT_TRUE(ignores("?", "x"));
  EXPECT_FALSE(ignores("?", "\xc3\xa9"));  // one character, two bytes
  EXPECT_TRUE(ignores("*", "a/b/c"));
}

TEST(pattern_list, two_stars_span_folders) {
  EXPECT_TRUE(ignores("**/foo", "foo"));
  EXPECT_TRUE(ignores("**/foo", "a/b/foo"));
  EXPECT_FALSE(ignores("**/foo", "a/xfoo"));
  EXPECT_TRUE(ignores("**/a/b", "a/b"));
  EXPECT_TRUE(ignores("**/a/b", "x/y/a/b"));
  EXPECT_FALSE(ignores("**/a/b", "xa/b"));
  EXPECT_TRUE(ignores("a/**", "a/x/y"));
  EXPECT_FALSE(ignores("a/**", "a", true));
  EXPECT_TRUE(ignores("a/**/b", "a/b"));
  EXPECT_TRUE(ignores("a/**/b", "a/x/y/b"));
  EXPECT_FALSE(ignores("a/**/b", "ab"));
  EXPECT_TRUE(ignores("a/**/b/**/c", "a/b/x/b/y/c"));
  EXPECT_TRUE(ignores("**/b/*/d", "b/b/b/c/d"));
  EXPECT_FALSE(ignores("a/x**y", "a/x/y"));
}

TEST(pattern_list, two_stars_right_after_a_literal_start_span_folders_as_in_git) {
  EXPECT_TRUE(ignores("a/b**", "a/bc/d"));
  EXPECT_TRUE(ignores("a**/b", "axx/y/b"));
  EXPECT_TRUE(ignores("a**/b", "ab"));
  EXPECT_FALSE(ignores("a/?b**", "a/xb/d"));
}

TEST(pattern_list, brackets_list_bytes) {
  EXPECT_TRUE(ignores("[a-c]", "b"));
  EXPECT_FALSE(ignores("[!a-c]", "b"));
  EXPECT_TRUE(ignores("[^a-c]", "d"));
  EXPECT_TRUE(ignores("[]-]", "]"));
  EXPECT_TRUE(ignores("[]-]", "-"));
  EXPECT_TRUE(ignores("x[a\\]]", "x]"));
  EXPECT_TRUE(ignores("x[[:digit:]_]", "x7"));
  EXPECT_FALSE(ignores("x[[:digit:]_]", "xd"));
  EXPECT_TRUE(ignores("x[[:x]", "x:"));
  EXPECT_FALSE(ignores("a[/]b", "a/b"));
  EXPECT_FALSE(ignores("[c-a]", "b"));
}

TEST(pattern_list, a_backslash_quotes) {
  EXPECT_TRUE(ignores("\\#x", "#x"));
  EXPECT_TRUE(ignores("\\!x", "!x"));
  EXPECT_TRUE(ignores("!x\n!\\!x\n\\!x", "!x"));
  EXPECT_TRUE(ignores("a\\*", "a*"));
  EXPECT_FALSE(ignores("a\\*", "ab"));
  EXPECT_TRUE(ignores("a\\\\b", "a\\b"));
  EXPECT_FALSE(ignores("#x", "#x"));
  EXPECT_TRUE(ignores(" #x", " #x"));
}

TEST(pattern_list, spaces_at_the_end_go_unless_quoted) {
  EXPECT_TRUE(ignores("a  \n", "a"));
  EXPECT_FALSE(ignores("a\\ \n", "a"));
  EXPECT_TRUE(ignores("a\\ \n", "a "));
  EXPECT_TRUE(ignores("a\\  \n", "a "));
  EXPECT_TRUE(ignores("a b", "a b"));
  EXPECT_FALSE(ignores("a\t\n", "a"));
  EXPECT_TRUE(ignores("a/ \n", "a", true));
}

TEST(pattern_list, a_line_end_is_lf_or_crlf_and_one_cr_goes) {
  EXPECT_TRUE(ignores("a\r\nb\r\n", "a"));
  EXPECT_TRUE(ignores("a\r\nb\r", "b"));
  EXPECT_FALSE(ignores("a\r\r\n", "a"));
  EXPECT_TRUE(ignores("a\r\r\n", "a\r"));
  EXPECT_TRUE(ignores("a \r\n", "a"));
}

TEST(pattern_list, a_byte_order_mark_is_skipped_at_the_start_only) {
  EXPECT_TRUE(
      ignores("\xEF\xBB\xBF"
              "a\n",
              "a"));
  EXPECT_FALSE(ignores("\xEF\xBB\xBF# a\n", "# a"));
  EXPECT_FALSE(
      ignores("b\n\xEF\xBB\xBF"
              "a\n",
              "a"));
}

TEST(pattern_list, a_nul_ends_the_pattern_of_its_line) {
  const std::string text("a\0b\nc\n", 6);
  EXPECT_TRUE(ignores(text, "a"));
  EXPECT_TRUE(ignores(text, "c"));
  EXPECT_FALSE(ignores(text, "b"));
}

TEST(pattern_list, bytes_that_are_not_utf8_match_themselves) {
  EXPECT_TRUE(ignores("\x83\x65*.txt", "\x83\x65\x83\x58.txt"));
  EXPECT_TRUE(ignores("[\x80-\xff]", "\xfe"));
  EXPECT_TRUE(ignores("本棚/*.md", "本棚/目次.md"));
}

TEST(pattern_list, malformed_patterns_match_nothing_and_are_named) {
  const pattern_list list = pattern_list::parse("ok\nx[a\ny\\\n[[:what:]]\n", "sub/.gitignore");
  EXPECT_EQ(list.match("x[a", false).outcome, decision::none);
  EXPECT_EQ(list.match("y\\", false).outcome, decision::none);
  EXPECT_EQ(list.match("w", false).outcome, decision::none);
  EXPECT_TRUE(list.is_complete());
  EXPECT_EQ(list.warnings(),
            (std::vector<std::string>{"sub/.gitignore: line 2 matches nothing: it has a [ without a closing ]",
                                      "sub/.gitignore: line 3 matches nothing: it has a \\ at its end that escapes nothing",
                                      "sub/.gitignore: line 4 matches nothing: it has an unknown [:class:]"}));
}

TEST(pattern_list, a_text_over_one_mebibyte_keeps_its_whole_lines_within) {
  std::string text = "first\n";
  while (text.size() < 1048576 - 3) text += "# filling\n";
  text.resize(1048576 - 3);
  text.back() = '\n';
  text += "cut_in_two\nlast\n";
  const pattern_list list = pattern_list::parse(text, ".gitignore");
  EXPECT_EQ(list.match("first", false).outcome, decision::ignored);
  EXPECT_EQ(list.match("cu", false).outcome, decision::none);
  EXPECT_EQ(list.match("cut_in_two", false).outcome, decision::none);
  EXPECT_EQ(list.match("last", false).outcome, decision::none);
  EXPECT_FALSE(list.is_complete());
  EXPECT_EQ(list.warnings(), (std::vector<std::string>{".gitignore: the file has 1048589 bytes; lines beyond the first 1048576 "
                                                       "bytes are not used"}));
  EXPECT_TRUE(pattern_list::parse(std::string(1048576, '#')).is_complete());
  EXPECT_EQ(pattern_list::parse(std::string(1048577, 'a')).size(), 0U);
}

TEST(pattern_list, a_line_over_4096_bytes_is_left_out_and_named) {
  std::string text = "a\n";
  text.append(4097, '*').append("\nb\n");
  const pattern_list list = pattern_list::parse(text, "f");
  EXPECT_EQ(list.match("a", false).outcome, decision::ignored);
  EXPECT_EQ(list.match("b", false).line, 3U);
  EXPECT_EQ(list.match("c", false).outcome, decision::none);
  EXPECT_FALSE(list.is_complete());
  EXPECT_EQ(list.warnings(), (std::vector<std::string>{"f: line 2 has 4097 bytes; lines of more than 4096 are not used"}));
  EXPECT_TRUE(ignores(std::string(4096, '*') + "\r\n", "c"));
  EXPECT_TRUE(pattern_list::parse("#" + std::string(5000, 'x')).is_complete());
}

TEST(pattern_list, patterns_beyond_50000_are_left_out_and_named) {
  std::string text;
  for (int i = 0; i < 50000; ++i) text.append("n").append(std::to_string(i)).append("\n");
  EXPECT_TRUE(pattern_list::parse(text).is_complete());
  const pattern_list list = pattern_list::parse(text + "# note\nlast\nmore\n", "f");
  EXPECT_EQ(list.size(), 50000U);
  EXPECT_EQ(list.match("n49999", false).line, 50000U);
  EXPECT_EQ(list.match("last", false).outcome, decision::none);
  EXPECT_FALSE(list.is_complete());
  EXPECT_EQ(list.warnings(),
            (std::vector<std::string>{"f: line 50002 and all after it are not used: the limit is 50000 patterns"}));
}

TEST(pattern_list, patterns_that_take_more_than_8_mib_of_memory_are_left_out) {
  std::string many;
  for (int i = 0; i < 40'000; ++i) many += "**/*a*a*a*b/x/y/z\n";
  const pattern_list cut = pattern_list::parse(many, "f");
  EXPECT_LE(cut.bytes(), 12U * 1024 * 1024);
  EXPECT_FALSE(cut.is_complete());
  EXPECT_NE(cut.error().find("the patterns before it reach the limit of 8 MiB of memory"), std::string::npos);
}

TEST(pattern_list, gives_up_after_as_many_steps_as_it_may_take) {
  const pattern_list list = pattern_list::parse("*a*a*a*a*b\n", "f");
  const match_result all = list.match(std::string(250, 'a'), false);
  EXPECT_FALSE(all.exceeded_limit);
  EXPECT_EQ(all.outcome, decision::none);
  const match_result few = list.match(std::string(250, 'a'), false, 100);
  EXPECT_TRUE(few.exceeded_limit);
  EXPECT_EQ(few.outcome, decision::ignored);
  EXPECT_LE(few.steps, 300U);  // and the name once
}

TEST(pattern_list, warnings_stop_at_100_with_a_count) {
  std::string text;
  for (int i = 0; i < 250; ++i) text += "[\n";
  const pattern_list list = pattern_list::parse(text, "f");
  ASSERT_EQ(list.warnings().size(), 101U);
  EXPECT_EQ(list.warnings()[99], "f: line 100 matches nothing: it has a [ without a closing ]");
  EXPECT_EQ(list.warnings()[100], "f: and 150 more");
}

TEST(pattern_list, a_moved_list_still_answers) {
  pattern_list first = pattern_list::parse("a\n*.o\nx/y*\n", "f");
  const pattern_list second = std::move(first);
  EXPECT_EQ(second.match("a", false).pattern, "a");
  EXPECT_EQ(second.match("b.o", false).pattern, "*.o");
  EXPECT_EQ(second.match("x/yz", false).pattern, "x/y*");
}

// attacks: resource exhaustion (hostile ignore files)
// Each pattern makes a naive backtracking matcher take exponential time; the bound is the product of the lengths.
TEST(pattern_list, many_stars_take_no_more_than_the_product_of_the_lengths) {
  std::string stars, folders, deep;
  for (int i = 0; i < 60; ++i) stars += "*a";
  for (int i = 0; i < 60; ++i) folders += "**/a/";
  for (int i = 0; i < 2000; ++i) deep += "a/";
  const std::vector<std::pair<std::string, std::string>> cases{
      {stars + "b", std::string(4000, 'a')},
      {"x/" + stars + "b", "x/" + std::string(4000, 'a')},
      {folders + "b", deep + "c"},
      {"**/" + stars + "/b", deep + std::string(90, 'a')},
      {folders + stars + "b", deep + std::string(90, 'a')},
      {std::string(4000, '*') + "b", std::string(4000, 'a')},
  };
  for (const auto& [pattern, path] : cases) {
    const match_result answer = pattern_list::parse(pattern).match(path, false);
    EXPECT_EQ(answer.outcome, decision::none);
    EXPECT_LE(answer.steps, std::uint64_t{3} * (pattern.size() + 1) * (path.size() + 1)) << pattern;
  }
}

TEST(pattern_list, names_and_endings_cost_no_wildcard_matching) {
  EXPECT_EQ(pattern_list::parse("node_modules\n*.pyc\n*~\n/dist/\na/b\n**/obj\n**/*.o\n").match("a/b/c.txt", false).steps, 0U);
}

}  // namespace
}  // namespace hondana::ignore
