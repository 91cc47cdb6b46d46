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
  EXPECT_EQ(refusal("q="), "q: expected words to search for, at most 1024 bytes.");
  EXPECT_EQ(refusal("q=" + std::string(1025, 'a')), "q: expected words to search for, at most 1024 bytes.");
  EXPECT_EQ(refusal("limit=3"), "q: it is missing: expected words to search for.");
  for (const auto* limit : {"0", "51", "-1", "1.5", "", "9999999999999999999999", "x"})
    EXPECT_EQ(refusal(std::string("q=a&limit=") + limit), "limit: expected a number from 1 to 50.") << limit;
  EXPECT_EQ(refusal("q=a&lang=%20"), "lang: expected a language tag, such as ja or en.");
  EXPECT_EQ(refusal("q=a&minPriority=2"), "minPriority: expected a number from 0 to 1.");
  EXPECT_EQ(refusal("q=a&minPriority=nan"), "minPriority: expected a number from 0 to 1.");
  EXPECT_EQ(refusal("q=a&audience=me"), "audience: expected user or assistant.");
  EXPECT_EQ(refusal("q=a&modifiedSince=soon"), "modifiedSince: expected a time such as 2025-01-12 or 2025-01-12T15:00:58Z.");
  for (const auto& owner : {std::string(), std::string(5000, 'a')})
    EXPECT_EQ(refusal("q=a&owner=" + owner),
              "owner: expected an e-mail address or a name, as in dev.hondana/owner of entries.");
  EXPECT_EQ(refusal("q=a&q=b"), "q: it is given twice.");
  EXPECT_EQ(refusal("q=%FF"), "q: its value is not valid UTF-8.");
  EXPECT_EQ(refusal("q=a%00b"), "q: its value is not valid UTF-8.");
  EXPECT_EQ(refusal("wait=now"), "wait: expected complete, which waits until everything that exists now is indexed.");
  EXPECT_EQ(refusal("wait=complete&q=a"), "wait: it cannot be combined with other parameters.");
  EXPECT_EQ(refusal("q"), "q: expected words to search for, at most 1024 bytes.");
  EXPECT_EQ(refusal("q=a&"), "accepted");
  for (const auto* query : {"Q=a", "&q=a", "q=a&&", "=a"})
    EXPECT_NE(refusal(query).find("unknown parameter"), std::string::npos) << query;
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
