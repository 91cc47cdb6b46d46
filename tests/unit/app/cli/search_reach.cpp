/// What of [search] is served, and who may ask.
#include "app/cli/search_checks.hpp"

#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hondana/memory_provider.hpp>

namespace hondana::cli {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;

std::vector<std::string> told(const std::string& text) {
  const auto settings = config::parse(text, "t.toml");
  EXPECT_TRUE(settings) << settings.error().public_text;
  if (!settings) return {};
  return search_warnings(*settings, {std::make_shared<memory_provider>("shelf", "memo:///shelf/"),
                                     std::make_shared<memory_provider>("other", "memo:///other")});
}

TEST(warnings_of_search, are_told_of_prefixes_that_no_source_can_serve) {
  EXPECT_THAT(told("[search]\ninclude = [\"memo:///shelf/a/\", \"memo:\", \"memo:///she\", \"memo:///other/\"]\n"), IsEmpty());
  EXPECT_THAT(
      told("[search]\n\ninclude = [\"memo:///shelf-of-old/\", \"memo:///other\"]\nexclude = [\"docs://manual/\"]\n"),
      ElementsAre(StartsWith("t.toml:3: search.include: memo:///shelf-of-old/ is not below any source, so nothing is indexed "
                             "by it; the sources serve memo:///shelf/, memo:///other"),
                  StartsWith("t.toml:4: search.exclude: docs://manual/ is not below any source, so it leaves nothing out")));
  EXPECT_THAT(told("name = \"x\"\n"), IsEmpty()) << "without an index";
}

std::vector<std::string> told_of_listed(const std::string& text, bool is_complete = true) {
  const auto settings = config::parse(text, "t.toml");
  EXPECT_TRUE(settings) << settings.error().public_text;
  if (!settings) return {};
  prefix_usage use(*settings);
  for (const auto* uri : {"memo:///shelf/", "memo:///shelf/%E6%A3%9A/1", "memo:///shelf/old/1", "memo:///shelf/a!/1"})
    use.record_uri(uri);
  use.finish_source(memory_provider("shelf", "memo:///shelf/"), is_complete);
  use.finish_source(memory_provider("other", "note:///other"), true);
  return use.unused_warnings();
}

TEST(prefix_use, warns_of_prefixes_that_nothing_listed_begins_with_and_says_what_is_nearest) {
  EXPECT_THAT(told_of_listed("[search]\ninclude = [\"memo:\", \"memo:///shelf/\", \"memo:///shelf/%e6%a3%9a/\", "
                             "\"memo:///shelf/a%21/\"]\nexclude = [\"memo:///shelf/old\"]\n"),
              IsEmpty());
  const std::string wrong =
      "[search]\ninclude = [\"memo:///shelf/\", \"memo:///shelf/odl/\"]\nexclude = [\"note:///other/x\", \"log:\"]\n";
  EXPECT_THAT(told_of_listed(wrong),
              ElementsAre(StartsWith("t.toml:2: search.include: no listed resource begins with memo:///shelf/odl/, so that "
                                     "nothing is indexed by it; the nearest listed URI is memo:///shelf/old/1"),
                          StartsWith("t.toml:3: search.exclude: no listed resource begins with note:///other/x, so that it "
                                     "leaves nothing out; no similar URI is listed")));
  EXPECT_THAT(told_of_listed(wrong, false), ElementsAre(StartsWith("t.toml:3: search.exclude: ")))
      << "what was not listed completely may have it";
  EXPECT_THAT(told_of_listed("name = \"x\"\n"), IsEmpty()) << "without an index";
}

TEST(warnings_of_search, are_told_where_rules_let_nobody_ask_the_index) {
  const std::string search = "[search]\n[[access.rule]]\nallow = [\"list\", \"read\"]\n";
  EXPECT_THAT(told(search), IsEmpty());
  EXPECT_THAT(told(search + "uris = [\"memo:///shelf/\", \"search:///\"]\n"), IsEmpty());
  EXPECT_THAT(told(search + "patterns = [\"**\"]\nkinds = [\"note\", \"results\"]\n"), IsEmpty());
  const auto is_warning = StartsWith("t.toml:1: search: access rules let only \"local\" read search:///, so other callers");
  EXPECT_THAT(told(search + "uris = [\"memo:///shelf/\"]\n"), ElementsAre(is_warning));
  EXPECT_THAT(told(search + "identities = [\"local\"]\n"), ElementsAre(is_warning));
  EXPECT_THAT(told(search + "kinds = [\"note\"]\n"), ElementsAre(is_warning));
  EXPECT_THAT(told("[search]\n[[access.rule]]\nallow = [\"list\"]\n"), ElementsAre(is_warning));
  EXPECT_THAT(told("[[access.rule]]\nallow = [\"list\"]\n"), IsEmpty()) << "without an index";
}

}  // namespace
}  // namespace hondana::cli
