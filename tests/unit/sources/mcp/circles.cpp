/// Servers that mount themselves, or each other.
#include <gmock/gmock.h>

#include <atomic>
#include <functional>

#include "support/must.hpp"
#include "unit/sources/mcp/mounting.hpp"

namespace hondana::test {
namespace {

using testing::HasSubstr;

/// Memos that know how often they were asked.
class counting_memos final : public provider {
 public:
  [[nodiscard]] std::string name() const override { return "memos"; }
  [[nodiscard]] std::vector<std::string> claims() const override { return {"memo:///"}; }
  [[nodiscard]] scheme_documentation documentation() const override { return {"memo", "Memos.", {}, {}}; }
  [[nodiscard]] result<list_result> list(const list_request&) override {
    ++lists;
    list_result page{{{.uri = "memo:///a", .name = "a"}}, {}};
    if (has_more) page.entries.push_back({.uri = "memo:///more", .name = "more"});
    return page;
  }
  [[nodiscard]] result<read_result> read(const read_request& request) override {
    ++reads;
    if (request.uri != "memo:///a") return fail(errc::resource_not_found, "Resource not found");
    return text_read_result("first");
  }
  std::atomic<bool> has_more = false;
  std::atomic<int> lists = 0;
  std::atomic<int> reads = 0;
};

/// A server with memos of its own that listens, and mounts whatever is named.
struct node {
  node() {
    EXPECT_TRUE(here.add(memos));
    auto made = http_service::start(here, {.port = 0, .threads = 1});
    EXPECT_TRUE(made);
    if (made) service.emplace(std::move(*made));
  }
  void mounts(const std::string& name, std::uint16_t port) {
    mount_options options;
    options.name = name;
    options.target = http_target{.url = "http://127.0.0.1:" + std::to_string(port) + "/mcp"};
    options.call_timeout = patience;
    options.list_timeout = std::chrono::seconds(2);  // lists of the two may wait for each other
    options.log = [this](std::string_view line) { log.add(line); };
    mounted = mount(options);
    EXPECT_TRUE(here.add(mounted));
  }
  [[nodiscard]] std::uint16_t port() const { return service->port(); }
  /// All that a client is told, once it is as it should be; asked again whenever the list changes. Empty: it never was.
  std::vector<std::string> listed_until(const std::function<bool(const std::vector<std::string>&)>& is_right) {
    auto asks = connected(here);
    hearing news;
    const auto watching = asks.watch({.resource_list = true}, [&](const watch_event&) { news.add("list"); });
    EXPECT_TRUE(watching);
    for (int round = 0; round < 20; ++round) {
      const auto heard = news.count();
      const auto all = asks.resources({}, {.bypass_cache = true}).collect();
      EXPECT_TRUE(all) << (all ? "" : all.error().public_text);
      std::vector<std::string> uris;
      if (all) {
        for (const auto& one : *all) uris.push_back(one.uri);
      }
      if (is_right(uris)) return uris;
      if (!all || !news.hears("list", heard)) break;
    }
    return {};
  }
  std::vector<std::string> listed_once_there_is(const std::string& awaited) {
    return listed_until([&](const auto& uris) { return std::find(uris.begin(), uris.end(), awaited) != uris.end(); });
  }

  hearing log;
  std::shared_ptr<counting_memos> memos = std::make_shared<counting_memos>();
  std::shared_ptr<mcp::mcp_provider> mounted;
  server here = must(server::create());
  std::optional<http_service> service;
};

TEST(circles, of_a_server_that_mounts_itself_are_left_out_of_lists_and_refused) {
  node one;
  one.mounts("self", one.port());
  const auto uris = one.listed_once_there_is("mcp://self/memo:///a");
  for (const auto& uri : uris) EXPECT_EQ(uri.find("mcp://self/mcp://self/"), std::string::npos) << uri;
  auto asks = connected(one.here);
  const auto once = asks.read("mcp://self/memo:///a");
  ASSERT_TRUE(once) << once.error().public_text;
  EXPECT_EQ(once->contents[0].bytes, "first");
  const auto twice = asks.read("mcp://self/mcp://self/memo:///a");
  ASSERT_FALSE(twice);
  EXPECT_THAT(twice.error().public_text, HasSubstr("circle")) << twice.error().public_text;
  EXPECT_LE(one.memos->lists, 40) << one.log.text();
  EXPECT_LE(one.memos->reads, 2);
  EXPECT_TRUE(one.log.hears("circle")) << one.log.text();
  EXPECT_THAT(one.mounted->health().detail, HasSubstr("circle"));
}

TEST(circles, of_two_servers_that_mount_each_other_end_where_they_began) {
  node left;
  node right;
  left.mounts("right", right.port());
  right.mounts("left", left.port());
  const auto seen_left = left.listed_once_there_is("mcp://right/memo:///a");
  const auto seen_right = right.listed_once_there_is("mcp://left/memo:///a");
  EXPECT_THAT(seen_left, testing::Contains("mcp://right/memo:///a")) << left.log.text();
  EXPECT_THAT(seen_right, testing::Contains("mcp://left/memo:///a")) << right.log.text();
  for (const auto& uri : seen_left) EXPECT_EQ(uri.find("mcp://right/mcp://left/mcp://"), std::string::npos) << uri;
  for (const auto& uri : seen_right) EXPECT_EQ(uri.find("mcp://left/mcp://right/mcp://"), std::string::npos) << uri;
  auto asks = connected(left.here);
  const auto once = asks.read("mcp://right/memo:///a");
  ASSERT_TRUE(once) << once.error().public_text;
  const auto round = asks.read("mcp://right/mcp://left/mcp://right/memo:///a");
  ASSERT_FALSE(round);
  EXPECT_THAT(round.error().public_text, HasSubstr("circle"));
  RecordProperty("lists", left.memos->lists + right.memos->lists);
  EXPECT_LE(left.memos->lists, 60) << left.log.text();
  EXPECT_LE(right.memos->lists, 60) << right.log.text();
  EXPECT_LE(left.memos->reads + right.memos->reads, 2);
}

TEST(circles, carry_each_change_round_once) {
  node left;
  node right;
  left.mounts("right", right.port());
  right.mounts("left", left.port());
  // Both listen to each other's lists from here on.
  auto asks_left = connected(left.here);
  auto asks_right = connected(right.here);
  hearing news;
  const auto first = asks_left.watch({.resource_list = true}, [&](const watch_event&) { news.add("left"); });
  const auto second = asks_right.watch({.resource_list = true}, [&](const watch_event&) { news.add("right"); });
  ASSERT_TRUE(first && second);
  EXPECT_THAT(left.listed_once_there_is("mcp://right/memo:///a"), testing::Contains("mcp://right/memo:///a"));
  EXPECT_THAT(right.listed_once_there_is("mcp://left/memo:///a"), testing::Contains("mcp://left/memo:///a"));
  const int before = left.memos->lists + right.memos->lists;
  left.memos->has_more = true;
  left.here.notify_resources_changed();
  EXPECT_THAT(right.listed_once_there_is("mcp://left/memo:///more"), testing::Contains("mcp://left/memo:///more"))
      << right.log.text();
  // What comes round to where it began is in no list, once both know.
  const auto is_settled = [](const std::vector<std::string>& uris) {
    return std::none_of(uris.begin(), uris.end(), [](const auto& uri) { return uri.find("/mcp://") != std::string::npos; });
  };
  EXPECT_THAT(left.listed_until(is_settled), testing::ElementsAre("mcp://right/memo:///a", "memo:///a", "memo:///more"));
  EXPECT_THAT(right.listed_until(is_settled),
              testing::ElementsAre("mcp://left/memo:///a", "mcp://left/memo:///more", "memo:///a"));
  for (int i = 0; i < 50; ++i) {
    const auto one = asks_left.read("mcp://right/memo:///a", {.bypass_cache = true});
    ASSERT_TRUE(one) << i << ": " << one.error().public_text;
    const auto other = asks_right.read("mcp://left/memo:///a", {.bypass_cache = true});
    ASSERT_TRUE(other) << i << ": " << other.error().public_text;
  }
  EXPECT_LE(left.memos->lists + right.memos->lists - before, 40) << left.log.text() << right.log.text();
}

}  // namespace
}  // namespace hondana::test
