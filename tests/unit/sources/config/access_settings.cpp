/// The table `[access]`: what it may say, and where a mistake is.
#include "sources/config/auth_settings.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sources/config/settings.hpp"

namespace hondana::config {
namespace {

using words = std::vector<std::string>;

TEST(access_settings, everything_the_table_can_say_is_read) {
  const auto made = parse(R"([access]
group_claim = "roles"

[[access.rule]]
identities = ["ann", "ci-*"]
groups = ["staff"]
scopes = ["wiki"]
uris = ["file:///srv"]
patterns = ["file:///srv/**/*.md"]
kinds = ["file"]
audience = "assistant"
allow = ["list", "read"]

[[access.rule]]
tools = ["admin_*"]
prompts = ["ask"]
allow = ["list"]

[[access.rule]]
deny = true
)",
                          "t.toml");
  ASSERT_TRUE(made) << made.error().public_text;
  EXPECT_EQ(made->access.group_claim, "roles");
  ASSERT_EQ(made->access.rules.size(), 3u);
  const auto& one = made->access.rules[0];
  EXPECT_EQ(one.identities, (words{"ann", "ci-*"}));
  EXPECT_EQ(one.groups, words{"staff"});
  EXPECT_EQ(one.scopes, words{"wiki"});
  EXPECT_EQ(one.uris, words{"file:///srv"});
  EXPECT_EQ(one.patterns, words{"file:///srv/**/*.md"});
  EXPECT_EQ(one.kinds, words{"file"});
  EXPECT_EQ(one.audience, chat_role::assistant);
  EXPECT_EQ(one.level, access_level::read);
  EXPECT_EQ(made->access.rules[1].tools, words{"admin_*"});
  EXPECT_EQ(made->access.rules[1].prompts, words{"ask"});
  EXPECT_EQ(made->access.rules[1].level, access_level::list);
  EXPECT_EQ(made->access.rules[2].level, access_level::none);
}

void expect_refused(const std::string& rule, std::string_view why) {
  const auto made = parse("[[access.rule]]\n" + rule + '\n', "t.toml");
  ASSERT_FALSE(made) << rule;
  EXPECT_TRUE(made.error().public_text.starts_with("t.toml:")) << made.error().public_text;
  EXPECT_NE(made.error().public_text.find(why), std::string::npos) << made.error().public_text;
}

TEST(access_settings, a_rule_that_does_not_say_what_it_gives_is_refused) {
  expect_refused("identities = [\"ann\"]", "deny = true");
  expect_refused("allow = []", "deny = true");
  expect_refused("deny = false", "deny = true");
  expect_refused("allow = [\"list\"]\ndeny = true", "deny = true");
  expect_refused("allow = [\"read\"]", "requires \"list\"");
  expect_refused("allow = [\"write\"]", "expected \"list\" or \"read\", not \"write\"");
  expect_refused("allow = [\"list\"]\naudience = \"all\"", "assistant");
  expect_refused("allow = [\"list\"]\nuri = [\"memo:///\"]", "uri");
}

TEST(access_settings, mistakes_in_rules_are_told_with_their_line_and_key) {
  const auto told = [](const std::string& line) {
    const auto made = parse("[[access.rule]]\ndeny = true\n" + line + '\n', "t.toml");
    return made ? std::string() : made.error().public_text;
  };
  const std::pair<std::string, std::string> wrong[] = {
      {"identities = [\"a*b\"]", "identities: "},
      {"groups = [\"\"]", "groups: "},
      {"scopes = [\"a b\"]", "scopes: \"a b\" is no"},
      {"uris = [\"FILE:///srv\"]", "uris: "},
      {"patterns = [\"*.md\"]", "patterns: "},
      {"patterns = [\"private/**\"]", "patterns: "},
      {"patterns = [\"/srv/**\"]", "patterns: "},
      {"kinds = [\"\"]", "kinds: "},
      {"tools = [\"a\"]\nkinds = [\"file\"]", "tools: "},
      {"identities = []", "identities: an empty list"},
      {"uris = []", "uris: an empty list"},
      {"prompts = []", "prompts: an empty list"},
  };
  for (const auto& [line, why] : wrong) {
    EXPECT_TRUE(told(line).starts_with("t.toml:3: access.rule." + why)) << line << " -> " << told(line);
  }
  EXPECT_EQ(told("patterns = [\"**/*.md\", \"file:///srv/**\", \"**\"]"), "");
}

TEST(access_settings, an_audience_is_a_string_or_an_array_of_one) {
  const auto made = parse("[[access.rule]]\ndeny = true\naudience = [\"user\"]\n", "t.toml");
  ASSERT_TRUE(made) << made.error().public_text;
  EXPECT_EQ(made->access.rules.front().audience, chat_role::user);
  expect_refused("deny = true\naudience = [\"user\", \"assistant\"]", "two rules");
  expect_refused("deny = true\naudience = []", "\"assistant\"");
  expect_refused("deny = true\naudience = 1", "\"assistant\"");
}

}  // namespace
}  // namespace hondana::config
