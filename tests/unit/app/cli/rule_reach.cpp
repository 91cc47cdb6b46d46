/// Rules about what nobody serves.
#include "app/cli/callers/rule_checks.hpp"

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <hondana/memory_provider.hpp>

namespace hondana::cli {
namespace {

config::settings with_rule(const std::string& uri) {
  auto made = config::parse("[auth]\n[[auth.rule]]\nuris = [\"" + uri + "\"]\nscopes = [\"private\"]\n", "t.toml");
  EXPECT_TRUE(made) << made.error().public_text;
  return made ? *made : config::settings();
}

/// Nothing, or why the rule protects nothing where `claim` is served.
std::string fault(const std::string& uri, const std::string& claim) {
  const std::vector<std::shared_ptr<provider>> sources{std::make_shared<memory_provider>("shelf", claim)};
  const auto checked = check_rule_targets(with_rule(uri), sources);
  return checked ? "" : checked.error().public_text;
}

TEST(rule_reach, is_a_source_that_the_uri_is_below_or_above) {
  for (const std::string uri : {"memo:///shelf/", "memo:///shelf/private/", "memo:///shelf", "memo:///",
                                "memo:///shelf/{+rest}", "memo:///{folder}/secret", "memo:///shelf/a{rest}"}) {
    EXPECT_EQ(fault(uri, "memo:///shelf/"), "") << uri;
  }
  EXPECT_EQ(fault("memo:///shelf/", "memo:///shelf"), "");
}

TEST(rule_reach, is_nothing_for_a_uri_beside_all_sources_and_the_error_names_line_and_sources) {
  const auto told = fault("memo:///link/private/", "memo:///shelf/");
  EXPECT_TRUE(told.starts_with("t.toml:3: auth.rule.uris: memo:///link/private/ is not below any source")) << told;
  EXPECT_NE(told.find("memo:///shelf/"), std::string::npos) << told;
  for (const std::string uri : {"memo:///shelves/", "file:///shelf/", "memo:///link/{+rest}"}) {
    EXPECT_NE(fault(uri, "memo:///shelf/"), "") << uri;
  }
}

TEST(rule_use, says_what_reading_needs_and_which_uris_nothing_was_about) {
  const auto settings = config::parse(
      "[auth]\nscopes = [\"mcp\"]\n[[auth.rule]]\nuris = [\"memo:///a/\", \"memo:///typo/\"]\nscopes = [\"private\"]\n",
      "t.toml");
  ASSERT_TRUE(settings) << settings.error().public_text;
  rule_usage use(*settings);
  EXPECT_EQ(use.record_uri("memo:///b"), std::vector<std::string>{"mcp"});
  EXPECT_EQ(use.record_uri("memo:///a/x"), (std::vector<std::string>{"mcp", "private"}));
  const auto idle = use.unused_warnings();
  ASSERT_EQ(idle.size(), 1u);
  EXPECT_TRUE(idle.front().starts_with("t.toml:4: auth.rule.uris: memo:///typo/ matches no resource that is listed now"))
      << idle.front();
}

config::settings with_access(const std::string& rule) {
  auto made =
      config::parse("[[access.rule]]\nallow = [\"list\", \"read\"]\n[[access.rule]]\ndeny = true\n" + rule + '\n', "t.toml");
  EXPECT_TRUE(made) << made.error().public_text;
  return made ? *made : config::settings();
}

TEST(rule_reach, of_access_rules_is_looked_at_too) {
  const std::vector<std::shared_ptr<provider>> sources{std::make_shared<memory_provider>("shelf", "memo:///shelf/")};
  for (const std::string good : {"uris = [\"memo:///shelf/a\"]", "patterns = [\"memo:///shelf/**/*.key\"]",
                                 "patterns = [\"**/*.key\"]", "patterns = [\"memo:///**\"]", "kinds = [\"note\"]"}) {
    EXPECT_TRUE(check_rule_targets(with_access(good), sources)) << good;
  }
  const auto uri = check_rule_targets(with_access("uris = [\"memo:///shelv/a\"]"), sources);
  ASSERT_FALSE(uri);
  EXPECT_TRUE(uri.error().public_text.starts_with("t.toml:5: access.rule.uris: memo:///shelv/a is not below any source"));
  const auto pattern = check_rule_targets(with_access("patterns = [\"memo:///link/**\"]"), sources);
  ASSERT_FALSE(pattern);
  EXPECT_TRUE(
      pattern.error().public_text.starts_with("t.toml:5: access.rule.patterns: memo:///link/** is not below any source"));
}

TEST(rule_use, tells_access_rules_that_nothing_was_about) {
  const auto settings = with_access("uris = [\"memo:///a\", \"memo:///typo\"]\npatterns = [\"**/*.key\", \"**/*.kye\"]");
  rule_usage use(settings);
  EXPECT_EQ(use.record_uri("memo:///a/x"), std::vector<std::string>());
  EXPECT_EQ(use.record_uri("memo:///b/x.key"), std::vector<std::string>());
  const auto idle = use.unused_warnings();
  ASSERT_EQ(idle.size(), 2u);
  EXPECT_TRUE(idle[0].starts_with("t.toml:5: access.rule.uris: memo:///typo matches no resource that is listed now"))
      << idle[0];
  EXPECT_TRUE(idle[1].starts_with("t.toml:6: access.rule.patterns: **/*.kye matches no resource that is listed now"))
      << idle[1];
}

TEST(rule_use, counts_rules_about_parts_where_that_is_listed_which_they_are_parts_of) {
  const auto settings = with_access(
      "uris = [\"memo:///a/x.pdf?format=original\", \"memo:///typo?format=original\", \"memo:///{+path}{?format}\"]\n"
      "patterns = [\"memo://**?format=original\", \"memo:///b/**?format=original\", \"memo:///a/?.pdf\"]");
  rule_usage use(settings);
  EXPECT_EQ(use.record_uri("memo:///a/x.pdf"), std::vector<std::string>());
  const auto idle = use.unused_warnings();
  ASSERT_EQ(idle.size(), 2u);
  EXPECT_NE(idle[0].find("memo:///typo?format=original matches no resource that is listed now"), std::string::npos) << idle[0];
  EXPECT_NE(idle[1].find("memo:///b/**?format=original matches no resource that is listed now"), std::string::npos) << idle[1];
  const auto scopes = with_rule("memo:///a/x.pdf?format=original");
  rule_usage of_scopes(scopes);
  static_cast<void>(of_scopes.record_uri("memo:///a/x.pdf"));
  EXPECT_TRUE(of_scopes.unused_warnings().empty());
}

TEST(unknown_kinds, are_those_that_no_source_gives) {
  const auto shelf = std::make_shared<memory_provider>("shelf", "memo:///shelf/");
  resource note;
  note.uri = "memo:///shelf/a";
  note.name = "a";
  note.kind = "note";
  ASSERT_TRUE(shelf->add(note, std::string("text")));
  const auto told = unknown_kind_warnings(with_access("kinds = [\"note\", \"fiel\"]"), {shelf});
  ASSERT_EQ(told.size(), 1u);
  EXPECT_TRUE(
      told.front().starts_with("t.toml:5: access.rule.kinds: no served resource has the kind \"fiel\"; known here: note"))
      << told.front();
}

TEST(rule_reach, of_the_index_is_there_where_there_is_an_index) {
  const std::vector<std::shared_ptr<provider>> sources{std::make_shared<memory_provider>("shelf", "memo:///shelf/")};
  const std::string rules =
      "[auth]\n[[auth.rule]]\nuris = [\"search:///\"]\nscopes = [\"find\"]\n"
      "[[access.rule]]\nidentities = [\"*\"]\nuris = [\"search:///\"]\nkinds = [\"results\"]\nallow = [\"list\", \"read\"]\n";
  const auto without = config::parse(rules, "t.toml");
  ASSERT_TRUE(without) << without.error().public_text;
  EXPECT_FALSE(check_rule_targets(*without, sources));
  const auto with = config::parse(rules + "[search]\n", "t.toml");
  ASSERT_TRUE(with) << with.error().public_text;
  const auto reached = check_rule_targets(*with, sources);
  EXPECT_TRUE(reached) << reached.error().public_text;
  rule_usage use(*with);
  EXPECT_TRUE(use.unused_warnings().empty());
  EXPECT_EQ(use.record_uri("search:///?q=a"), std::vector<std::string>{"find"});
  EXPECT_TRUE(unknown_kind_warnings(*with, sources).empty());
}

}  // namespace
}  // namespace hondana::cli
