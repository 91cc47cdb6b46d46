/// The URIs of analyses: read, written, and those that cannot be.
#include "sources/analyses/analysis_resources.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <hondana/uri.hpp>

namespace hondana::analyses_source {
namespace {

const std::string some_id = "fe6a3f20c1d7aa11223344556677889a";
const std::string some_digest(64, 'a');

errc code_of(const std::string& uri) {
  const auto at = parse_address(uri);
  return at ? errc::internal : at.error().code;
}

TEST(addresses_of_analyses, are_read_as_they_are_written) {
  auto at = parse_address(analysis_uri(some_id));
  ASSERT_TRUE(at);
  EXPECT_EQ(at->kind, resource_kind::analysis);
  EXPECT_EQ(at->id, some_id);
  at = parse_address(vote_uri(some_id, "モデル/1"));
  ASSERT_TRUE(at);
  EXPECT_EQ(at->kind, resource_kind::vote);
  EXPECT_EQ(at->provider, "モデル/1");
  at = parse_address(flow_uri(some_id) + "?format=json");
  ASSERT_TRUE(at);
  EXPECT_EQ(at->kind, resource_kind::flow);
  EXPECT_EQ(at->format, output_format::json);
  at = parse_address("wallbounce://by-prompt/" + some_digest);
  ASSERT_TRUE(at);
  EXPECT_EQ(by_prompt_uri(at->prompt_digest), "wallbounce://by-prompt/" + some_digest);
  at = parse_address("wallbounce://statistics");
  ASSERT_TRUE(at);
  EXPECT_EQ(at->kind, resource_kind::statistics);
}

TEST(addresses_of_analyses, of_an_index_keep_what_they_choose) {
  const auto uri = "wallbounce://analyses?session=a%20b&tag=%E3%81%82&task=critical&after=" + some_id + "&limit=7&format=json";
  const auto at = parse_address(uri);
  ASSERT_TRUE(at) << at.error().public_text;
  EXPECT_EQ(at->session, "a b");
  EXPECT_EQ(at->tag, "あ");
  EXPECT_EQ(at->limit, 7u);
  EXPECT_EQ(index_page_uri(*at), uri);
  EXPECT_EQ(canonical_uri(uri).value(), uri);
  EXPECT_EQ(index_page_uri({}), "wallbounce://analyses");
}

TEST(addresses_of_analyses, that_there_can_never_be_are_not_found) {
  for (const auto& uri : std::vector<std::string>{
           "wallbounce://analyses/1", "wallbounce://analyses/" + std::string(32, 'A'), analysis_uri(some_id) + "/votes",
           analysis_uri(some_id) + "/votes/", analysis_uri(some_id) + "/votes/a/b", analysis_uri(some_id) + "/else",
           "wallbounce://by-prompt", "wallbounce://by-prompt/abc", "wallbounce://statistics/x", "wallbounce://else",
           "wallbounce:///analyses", "wallbounce:analyses", "other://analyses", analysis_uri(some_id) + "#part"})
    EXPECT_EQ(code_of(uri), errc::resource_not_found) << uri;
}

TEST(addresses_of_analyses, with_wrong_parameters_say_which) {
  for (const auto* query :
       {"format=xml", "limit=0", "limit=501", "limit=x", "task=other", "after=1", "more=1", "session=a&session=b",
        "format=json&format=json", "=", "limit=7&=a", "&limit=7", "limit=7&&format=json"})
    EXPECT_EQ(code_of("wallbounce://analyses?" + std::string(query)), errc::invalid_argument) << query;
  const auto with_end = parse_address("wallbounce://analyses?limit=7&task=&format=json&");
  ASSERT_TRUE(with_end) << with_end.error().public_text;
  EXPECT_EQ(with_end->limit, 7u);
  EXPECT_EQ(with_end->format, output_format::json);
  const auto wrong = parse_address(analysis_uri(some_id) + "?session=a");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().public_text, "unknown parameter \"session\"; wallbounce://analyses/ID knows: format.");
  EXPECT_EQ(code_of("wallbounce://analyses?session=" + std::string(5000, 'a')), errc::invalid_argument);
}

TEST(addresses_of_analyses, tell_behind_which_id_a_list_goes_on) {
  EXPECT_EQ(list_start_id("wallbounce://analyses"), "");
  EXPECT_EQ(list_start_id("file:///a"), "");
  EXPECT_EQ(list_start_id(analysis_uri(some_id)), some_id);
  EXPECT_EQ(list_start_id(flow_uri(some_id)), some_id);
  EXPECT_EQ(list_start_id(key_before("wallbounce://analyses")), "");
  EXPECT_EQ(list_start_id(key_before("wallbounce://analyses/")), "");
  EXPECT_EQ(list_start_id(key_before("wallbounce://analyses/ab1")), "aaf" + std::string(29, 'f'));
  EXPECT_EQ(list_start_id("wallbounce://analyses/ab"), "aa" + std::string(30, 'f'));
  EXPECT_EQ(list_start_id("wallbounce://analyses/00"), "");
  EXPECT_EQ(list_start_id("wallbounce://analyses/zz"), "");
  EXPECT_EQ(list_start_id("wallbounce://by-prompt/x"), std::nullopt);
  EXPECT_EQ(list_start_id("wallbounce://statistics"), std::nullopt);
  EXPECT_EQ(list_start_id("wallbounce://analyses?limit=1"), std::nullopt);
}

}  // namespace
}  // namespace hondana::analyses_source
