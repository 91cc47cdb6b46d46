/// URIs of searches.
#include "search/index/search_query.hpp"

#include <gtest/gtest.h>

namespace hondana::search {
namespace {

std::string refusal(const std::string& query) {
  const auto got = parse_address("search:///?" + query);
  return got ? "accepted" : got.error().public_text;
}

TEST(search_address, without_a_query_is_the_state) {
  const auto got = parse_address("search:///");
  ASSERT_TRUE(got);
  EXPECT_EQ(got->query.q, "");
  EXPECT_FALSE(got->waits);
  EXPECT_TRUE(parse_address("search:///?wait=complete")->waits);
}

TEST(search_address, takes_every_parameter) {
  const auto got = parse_address(
      "search:///"
      "?q=%E5%BE%A9%E6%97%A7+%22x%22&limit=3&lang=ja&scheme=Docs%3A%2F%2F&uriPrefix=docs%3A%2F%2Fm%2F&minPriority=0.5&"
      "audience=user&modifiedSince=2025-01-12&owner=Hanako%40Example.com");
  ASSERT_TRUE(got) << got.error().public_text;
  EXPECT_EQ(got->query.q, "復旧+\"x\"") << "a plus is a plus in a URI template";
  EXPECT_EQ(got->query.limit, 3u);
  EXPECT_EQ(got->query.filter.language, "ja");
  EXPECT_EQ(got->query.filter.scheme, "docs");
  EXPECT_EQ(got->query.filter.uri_prefix, "docs://m/");
  EXPECT_EQ(got->query.filter.min_priority, 0.5);
  EXPECT_EQ(got->query.filter.audience, chat_role::user);
  EXPECT_TRUE(got->query.filter.modified_since);
  EXPECT_EQ(got->query.filter.owner, "hanako@example.com");
}

TEST(search_address, refusals_name_the_parameter_and_what_is_expected) {
  for (const auto* query : {"q=", "q", "wait=", "&"}) EXPECT_NE(refusal(query), "accepted") << query;
  EXPECT_EQ(refusal("q="), "q: it is missing: expected words to search for.");
  EXPECT_EQ(refusal("q=" + std::string(1025, 'a')), "q: the value is longer than 1024 bytes.");
  EXPECT_EQ(refusal("limit=3"), "q: it is missing: expected words to search for.");
  for (const std::string limit : {"0", "51", "-1", "1.5", "9999999999999999999999", "x"})
    EXPECT_EQ(refusal("q=a&limit=" + limit), "limit=" + limit + ": expected a whole number from 1 to 50.");
  EXPECT_EQ(refusal("q=a&lang=%20"), "lang=%20: expected a language tag, such as ja or en.");
  EXPECT_EQ(refusal("q=a&minPriority=2"), "minPriority=2: expected a number from 0 to 1.");
  EXPECT_EQ(refusal("q=a&minPriority=nan"), "minPriority=nan: expected a number from 0 to 1.");
  EXPECT_EQ(refusal("q=a&audience=me"), "audience=me: unknown value; known: user, assistant.");
  EXPECT_EQ(refusal("q=a&modifiedSince=soon"),
            "modifiedSince=soon: expected a time such as 2025-01-12 or 2025-01-12T15:00:58Z.");
  EXPECT_EQ(refusal("q=a&owner=" + std::string(5000, 'a')),
            "owner=" + std::string(64, 'a') + "...: expected an e-mail address or a name, as in dev.hondana/owner of entries.");
  EXPECT_EQ(refusal("q=a&q=b"), "q: given more than once. Give it once.");
  EXPECT_EQ(refusal("q=%FF"), "q: the value is not valid UTF-8 or contains a NUL.");
  EXPECT_EQ(refusal("q=a%00b"), "q: the value is not valid UTF-8 or contains a NUL.");
  EXPECT_EQ(refusal("wait=now"), "wait=now: unknown value; known: complete.");
  EXPECT_EQ(refusal("wait=complete&q=a"), "wait: it cannot be combined with other parameters.");
  for (const auto* query : {"q=a&", "q=a&limit=&owner=", "wait=complete&q="}) EXPECT_EQ(refusal(query), "accepted") << query;
  for (const auto* query : {"Q=a", "&q=a", "q=a&&", "=a"})
    EXPECT_TRUE(refusal(query).starts_with("unknown parameter \"")) << query;
  EXPECT_EQ(parse_address("search:///x").error().code, errc::resource_not_found);
  EXPECT_EQ(parse_address("search://x/").error().code, errc::resource_not_found);
}

TEST(search_address, is_what_the_template_expands_to) {
  const auto compiled = uri_template::compile(std::string(search_template));
  ASSERT_TRUE(compiled);
  const auto expanded = compiled->expand(
      {{"q", uri_template_value(std::string("a b & \"c\" OR NEAR(d)"))}, {"limit", uri_template_value(std::string("5"))}});
  ASSERT_TRUE(expanded);
  const auto got = parse_address(*canonical_uri(*expanded));
  ASSERT_TRUE(got) << got.error().public_text;
  EXPECT_EQ(got->query.q, "a b & \"c\" OR NEAR(d)");
  EXPECT_EQ(got->query.limit, 5u);
}

}  // namespace
}  // namespace hondana::search
