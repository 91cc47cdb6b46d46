/// Frontmatter: where it begins and ends, and the rules of Agent Skills.
#include "text/front_matter/front_matter.hpp"

#include <string>

#include <gtest/gtest.h>

namespace {

using hondana::front_matter::check_frontmatter;
using hondana::front_matter::is_skill_name;
using hondana::front_matter::parse_frontmatter;

std::string frontmatter_of(std::string_view front) {
  const auto parsed = parse_frontmatter(front);
  return parsed ? parsed->to_text() : "error: " + parsed.error().public_text;
}

std::string verdict(std::string_view yaml, std::string_view folder) {
  const auto parsed = parse_frontmatter("---\n" + std::string(yaml) + "\n---\n");
  if (!parsed) return parsed.error().public_text;
  const auto checked = check_frontmatter(*parsed, folder);
  return checked ? "good" : checked.error().public_text;
}

// requires: 2026-07-28/skills.frontmatter_verbatim
TEST(frontmatter, is_everything_between_the_marks) {
  EXPECT_EQ(frontmatter_of("---\nname: a\ndescription: b\nlicense: MIT\nx-other: [1, true]\n---\n# Body\n---\n"),
            R"({"name":"a","description":"b","license":"MIT","x-other":[1,true]})");
  EXPECT_EQ(frontmatter_of("---\r\nname: a\r\n---\r\nbody"), R"({"name":"a"})");
  EXPECT_EQ(frontmatter_of("\xEF\xBB\xBF---\nname: a\n---"), R"({"name":"a"})");
  EXPECT_EQ(frontmatter_of("---\nname: a\n--- \t\nbody"), R"({"name":"a"})");
  EXPECT_EQ(frontmatter_of("---\nname: a\nnote: a---b\n---\n"), R"({"name":"a","note":"a---b"})");
}

TEST(frontmatter, that_is_none_is_refused) {
  const std::string missing = R"(error: the file does not begin with a line "---", so it has no front matter)";
  EXPECT_EQ(frontmatter_of(""), missing);
  EXPECT_EQ(frontmatter_of("# Title\n"), missing);
  EXPECT_EQ(frontmatter_of("\n---\nname: a\n---\n"), missing);
  EXPECT_EQ(frontmatter_of("----\nname: a\n---\n"), missing);
  const std::string open = R"(error: the front matter has no closing line "---" within 64 KiB)";
  EXPECT_EQ(frontmatter_of("---\nname: a\n"), open);
  EXPECT_EQ(frontmatter_of("---\nname: " + std::string(70'000, 'a') + "\n---\n"), open);
  EXPECT_EQ(frontmatter_of("---\n- a\n---\n"), "error: the front matter is not a mapping of keys to values");
  EXPECT_EQ(frontmatter_of("---\n---\n"), "error: the front matter is not a mapping of keys to values");
  EXPECT_EQ(frontmatter_of("---\nname: \xFF\n---\n"), "error: the front matter is not UTF-8");
}

TEST(frontmatter, errors_count_the_lines_of_the_file) {
  EXPECT_EQ(frontmatter_of("---\nname: a\nname: b\n---\n"),
            "error: the front matter is not valid YAML: line 3: the key \"name\" occurs twice");
}

// requires: 2026-07-28/skills.naming_rules
TEST(frontmatter, names_follow_the_rules_of_agent_skills) {
  for (const std::string name : {"a", "pdf-processing", "a1", "1-2-3"}) EXPECT_TRUE(is_skill_name(name)) << name;
  EXPECT_TRUE(is_skill_name(std::string(64, 'a')));
  EXPECT_FALSE(is_skill_name(std::string(65, 'a')));
  for (const std::string name : {"", "-a", "a-", "a--b", "PDF", "a_b", "a b", "\xC3\xA9", "a.b", "a/b"}) {
    EXPECT_FALSE(is_skill_name(name)) << name;
  }
}

TEST(frontmatter, name_and_description_are_checked_and_nothing_else) {
  EXPECT_EQ(verdict("name: a\ndescription: b\nmetadata: 7", "a"), "good");
  EXPECT_EQ(verdict("description: b", "a"), "the front matter has no \"name\" that is text");
  EXPECT_EQ(verdict("name: 7\ndescription: b", "7"), "the front matter has no \"name\" that is text");
  EXPECT_EQ(verdict("name: a\ndescription: b", "c"), "the name \"a\" differs from the folder name, \"c\"");
  EXPECT_EQ(verdict("name: A\ndescription: b", "A"),
            "the name \"A\" is not a skill name: 1 to 64 of a-z, 0-9 and -, no - at an end or twice in a row");
  EXPECT_EQ(verdict("name: a", "a"), "the front matter has no \"description\" that is text");
  EXPECT_EQ(verdict("name: a\ndescription: ''", "a"), "the description has 0 characters; 1 to 1024 are allowed");
  std::string books;
  for (int i = 0; i < 1024; ++i) books += "\xE6\x9C\xAC";
  EXPECT_EQ(verdict("name: a\ndescription: " + books, "a"), "good");
  EXPECT_EQ(verdict("name: a\ndescription: " + books + "x", "a"), "the description has 1025 characters; 1 to 1024 are allowed");
}

}  // namespace
