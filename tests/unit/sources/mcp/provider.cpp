/// A mounted server, listed, read and completed under our prefix.
#include <gmock/gmock.h>

#include "support/must.hpp"
#include "unit/sources/mcp/mounting.hpp"

namespace hondana::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(mounted_server, lists_in_segment_order_under_the_prefix) {
  memo_server other;
  hearing log;
  const auto mounted = mount(mounted_from(other.here, log));
  EXPECT_EQ(mounted->name(), "team");
  EXPECT_THAT(mounted->claims(), ElementsAre("mcp://team/"));
  EXPECT_THAT(uris_of(*mounted), ElementsAre("mcp://team/memo:///a", "mcp://team/memo:///a/deep", "mcp://team/memo:///b"));
}

TEST(mounted_server, lists_page_by_page) {
  memo_server other;
  hearing log;
  const auto mounted = mount(mounted_from(other.here, log));
  auto request = asking<list_request>();
  request.limit = 2;
  const auto first = mounted->list(request);
  ASSERT_TRUE(first);
  ASSERT_EQ(first->entries.size(), 2u);
  ASSERT_TRUE(first->next_key);
  request.after_key = *first->next_key;
  const auto second = mounted->list(request);
  ASSERT_TRUE(second);
  ASSERT_EQ(second->entries.size(), 1u);
  EXPECT_EQ(second->entries[0].uri, "mcp://team/memo:///b");
  EXPECT_FALSE(second->next_key);
}

TEST(mounted_server, reads_texts_and_blobs) {
  memo_server other;
  ASSERT_TRUE(other.memos->add({.uri = "memo:///blob", .name = "blob", .mime_type = "image/png"},
                               std::string("\x89PNG\r\n\x1a\n\0", 9)));
  hearing log;
  const auto mounted = mount(mounted_from(other.here, log));
  const auto text = mounted->read(reading_of("mcp://team/memo:///a"));
  ASSERT_TRUE(text) << text.error().public_text;
  ASSERT_EQ(text->contents.size(), 1u);
  EXPECT_EQ(text->contents[0].kind, content_kind::text);
  EXPECT_EQ(bytes_of(text->contents[0]), "first");
  const auto blob = mounted->read(reading_of("mcp://team/memo:///blob"));
  ASSERT_TRUE(blob) << blob.error().public_text;
  EXPECT_EQ(blob->contents[0].kind, content_kind::blob);
  EXPECT_EQ(blob->contents[0].mime_type, "image/png");
  EXPECT_EQ(bytes_of(blob->contents[0]), std::string("\x89PNG\r\n\x1a\n\0", 9));
}

TEST(mounted_server, streams_what_is_large) {
  memo_server other;
  std::string large;
  while (large.size() < (6u << 20)) large += std::to_string(large.size()) + '\n';
  other.add("memo:///large", large);
  hearing log;
  const auto mounted = mount(mounted_from(other.here, log));
  const auto got = mounted->read(reading_of("mcp://team/memo:///large"));
  ASSERT_TRUE(got) << got.error().public_text;
  ASSERT_EQ(got->contents.size(), 1u);
  ASSERT_TRUE(std::holds_alternative<std::shared_ptr<byte_reader>>(got->contents[0].data));
  EXPECT_EQ(std::get<std::shared_ptr<byte_reader>>(got->contents[0].data)->size(), large.size());
  EXPECT_TRUE(bytes_of(got->contents[0]) == large);
}

TEST(mounted_server, refuses_what_is_larger_than_its_limit) {
  memo_server other;
  other.add("memo:///large", std::string(5000, 'x'));
  hearing log;
  auto options = mounted_from(other.here, log);
  options.max_read_bytes = 4096;
  const auto got = mount(options)->read(reading_of("mcp://team/memo:///large"));
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, errc::response_too_large);
  EXPECT_THAT(got.error().public_text, HasSubstr("max_read_bytes"));
}

TEST(mounted_server, answers_not_found_for_what_the_other_one_does_not_have) {
  memo_server other;
  hearing log;
  const auto mounted = mount(mounted_from(other.here, log));
  for (const std::string uri : {"mcp://team/memo:///zzz", "mcp://team/other:///a", "mcp://team/", "mcp://team/nothing"}) {
    const auto got = mounted->read(reading_of(uri));
    ASSERT_FALSE(got) << uri;
    EXPECT_EQ(got.error().code, errc::resource_not_found) << uri << ": " << got.error().public_text;
  }
  EXPECT_TRUE(mounted->health().is_healthy) << mounted->health().detail;
}

TEST(mounted_server, has_its_templates_and_completes_them_in_context) {
  const auto make = [](const read_request& request) -> result<read_result> { return text_read_result("of " + request.uri); };
  const auto complete = [](const complete_request& request) -> result<complete_result> {
    const std::string chosen = request.context.empty() ? "nothing" : request.context[0].first + '=' + request.context[0].second;
    return complete_result{{request.argument + ' ' + request.value + " after " + chosen}, 1, false};
  };
  const auto memos = std::make_shared<memory_provider>("memos", "memo:///");
  ASSERT_TRUE(memos->add_template({.uri_template = "memo:///by/{who}/{topic}", .name = "by"}, make, complete));
  server other = must(server::create());
  ASSERT_TRUE(other.add(memos));
  hearing log;
  const auto mounted = mount(mounted_from(other, log));
  const auto all = mounted->current_templates(asking<request_context>());
  ASSERT_TRUE(all);
  ASSERT_EQ(all->size(), 1u);
  EXPECT_EQ((*all)[0].uri_template, "mcp://team/memo:///by/{who}/{topic}");
  auto request = asking<complete_request>();
  request.uri_template = "mcp://team/memo:///by/{who}/{topic}";
  request.argument = "topic";
  request.value = "ca";
  request.context = {{"who", "ann"}};
  const auto got = mounted->complete(request);
  ASSERT_TRUE(got) << got.error().public_text;
  EXPECT_THAT(got->values, ElementsAre("topic ca after who=ann"));
  const auto text = mounted->read(reading_of("mcp://team/memo:///by/ann/cats"));
  ASSERT_TRUE(text) << text.error().public_text;
  EXPECT_EQ(bytes_of(text->contents[0]), "of memo:///by/ann/cats");
}

TEST(mounted_server, serves_what_its_rules_let_through) {
  memo_server other;
  hearing log;
  auto options = mounted_from(other.here, log);
  options.include = {"memo:///a", "memo:///a/**"};
  options.exclude = {"**/deep"};
  const auto mounted = mount(options);
  EXPECT_THAT(uris_of(*mounted), ElementsAre("mcp://team/memo:///a"));
  for (const std::string uri : {"mcp://team/memo:///b", "mcp://team/memo:///a/deep"}) {
    const auto got = mounted->read(reading_of(uri));
    ASSERT_FALSE(got) << uri;
    EXPECT_EQ(got.error().code, errc::resource_not_found);
  }
  std::vector<std::string> left_out;
  ASSERT_TRUE(mounted->inventory(asking<request_context>(), [&](const inventory_item& one) {
    if (!one.is_served) left_out.push_back(one.reason);
  }));
  EXPECT_THAT(left_out, testing::UnorderedElementsAre(HasSubstr("**/deep"), HasSubstr("include")));
}

// attacks: traversal (a rule got round by another spelling)
TEST(mounted_server, does_not_read_what_its_rules_leave_out_however_it_is_spelled) {
  memo_server other;
  hearing log;
  auto options = mounted_from(other.here, log);
  options.exclude = {"memo:///b"};
  const auto mounted = mount(options);
  for (const std::string uri : {"mcp://team/memo:///b", "mcp://team/MEMO:///b", "mcp://team/Memo:///b"}) {
    const auto got = mounted->read(reading_of(uri));
    ASSERT_FALSE(got) << uri;
    EXPECT_EQ(got.error().code, errc::resource_not_found) << uri;
  }
  EXPECT_TRUE(mounted->read(reading_of("mcp://team/MEMO:///a"))) << "it is the same there";
}

TEST(mounted_server, takes_no_more_entries_than_its_limit_and_says_so) {
  memo_server other;
  hearing log;
  auto options = mounted_from(other.here, log);
  options.max_entries = 2;
  const auto mounted = mount(options);
  EXPECT_EQ(uris_of(*mounted).size(), 2u);
  EXPECT_TRUE(log.hears("max_entries"));
  EXPECT_THAT(mounted->health().detail, HasSubstr("max_entries"));
}

TEST(mounted_server, is_a_source_beside_others) {
  memo_server first;
  memo_server second;
  second.add("memo:///only", "here");
  hearing log;
  auto options = mounted_from(first.here, log);
  options.name = "first";
  server ours = must(server::create());
  ASSERT_TRUE(ours.add(mount(options)));
  options = mounted_from(second.here, log);
  options.name = "second";
  options.prefix = "notes://second/";
  ASSERT_TRUE(ours.add(mount(options)));
  auto asks = connected(ours);
  const auto all = asks.resources().collect();
  ASSERT_TRUE(all) << all.error().public_text;
  std::vector<std::string> uris;
  for (const auto& one : *all) uris.push_back(one.uri);
  EXPECT_THAT(uris, ElementsAre("mcp://first/memo:///a", "mcp://first/memo:///a/deep", "mcp://first/memo:///b",
                                "notes://second/memo:///a", "notes://second/memo:///a/deep", "notes://second/memo:///b",
                                "notes://second/memo:///only"));
  const auto got = asks.read("notes://second/memo:///only");
  ASSERT_TRUE(got) << got.error().public_text;
  EXPECT_EQ(got->contents[0].bytes, "here");
  EXPECT_EQ(got->contents[0].uri, "notes://second/memo:///only");
}

TEST(mounted_server, overlapping_another_is_refused_by_the_server) {
  memo_server other;
  hearing log;
  server ours = must(server::create());
  ASSERT_TRUE(ours.add(mount(mounted_from(other.here, log))));
  const auto again = ours.add(mount(mounted_from(other.here, log)));
  ASSERT_FALSE(again);
  EXPECT_THAT(again.error().public_text, HasSubstr("mcp://team/"));
}

}  // namespace
}  // namespace hondana::test
