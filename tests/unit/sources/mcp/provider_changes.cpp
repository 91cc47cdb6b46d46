/// Changes of a mounted server, heard under our prefix.
#include <gmock/gmock.h>

#include "support/must.hpp"
#include "unit/sources/mcp/mounting.hpp"

namespace hondana::test {
namespace {

using testing::Contains;

TEST(mounted_changes, of_lists_reach_the_listener) {
  memo_server other;
  hearing log;
  hearing news;
  const auto mounted = mount(mounted_from(other.here, log));
  mounted->set_listener(std::make_shared<note_taker>(news));
  EXPECT_EQ(uris_of(*mounted).size(), 3u);
  ASSERT_TRUE(news.count() == 0) << news.text();
  other.add("memo:///new", "fourth");
  ASSERT_TRUE(news.hears("list")) << log.text();
  EXPECT_THAT(uris_of(*mounted), Contains("mcp://team/memo:///new"));
  mounted->set_listener(nullptr);
}

TEST(mounted_changes, of_lists_reach_who_hears_of_them_though_nobody_has_listed) {
  memo_server other;
  hearing log;
  hearing news;
  const auto mounted = mount(mounted_from(other.here, log));
  mounted->set_listener(std::make_shared<note_taker>(news));
  EXPECT_EQ(mounted->health().detail, "not used yet");
  mounted->watch_list();
  // What changed before its lists were known is told, too.
  ASSERT_TRUE(news.hears("list")) << log.text();
  const auto before = news.count();
  other.add("memo:///new", "fourth");
  EXPECT_TRUE(news.hears("list", before)) << log.text();
  mounted->unwatch_list();
  mounted->set_listener(nullptr);
}

TEST(mounted_changes, of_lists_are_looked_for_when_the_other_server_tells_none) {
  manual_clock clock;
  server_options quiet;
  quiet.supports_list_changes = false;
  memo_server other(quiet);
  hearing log;
  hearing news;
  auto options = mounted_from(other.here, log);
  options.list_ttl = std::chrono::milliseconds(0);
  const auto mounted = mount(options);
  mounted->set_listener(std::make_shared<note_taker>(news));
  mounted->watch_list();
  ASSERT_TRUE(news.hears("list")) << log.text();
  const auto before = news.count();
  other.add("memo:///new", "fourth");
  const auto hears_later = [&] {
    clock.advance(std::chrono::seconds(1));
    return news.count() > before;
  };
  EXPECT_TRUE(hondana_test::eventually(hears_later)) << log.text();
  EXPECT_TRUE(news.hears("list", before)) << news.text();
  mounted->set_listener(nullptr);
}

TEST(mounted_changes, of_contents_reach_the_listener_once_it_is_attached) {
  memo_server other;
  hearing log;
  hearing news;
  const auto mounted = mount(mounted_from(other.here, log));
  mounted->set_listener(std::make_shared<note_taker>(news));
  mounted->watch("mcp://team/memo:///b");
  // What changed before it stood is told, too.
  ASSERT_TRUE(news.hears("content mcp://team/memo:///b ")) << log.text();
  const auto before = news.count();
  ASSERT_TRUE(other.here.notify_resource_updated("memo:///a"));
  ASSERT_TRUE(other.here.notify_resource_updated("memo:///b"));
  ASSERT_TRUE(news.hears("content mcp://team/memo:///b ", before)) << log.text();
  EXPECT_EQ(news.text().find("memo:///a "), std::string::npos) << "nobody is attached to it";
  mounted->set_listener(nullptr);
}

TEST(mounted_changes, of_many_contents_need_few_subscriptions) {
  memo_server other;
  for (int i = 0; i < 200; ++i) other.add("memo:///many/" + std::to_string(i), "x");
  hearing log;
  hearing news;
  const auto mounted = mount(mounted_from(other.here, log));
  mounted->set_listener(std::make_shared<note_taker>(news));
  for (int i = 0; i < 200; ++i) mounted->watch("mcp://team/memo:///many/" + std::to_string(i));
  for (int i = 0; i < 200; ++i) ASSERT_TRUE(news.hears("/many/" + std::to_string(i) + ' ')) << i;
  for (int i = 0; i < 199; ++i) mounted->unwatch("mcp://team/memo:///many/" + std::to_string(i));
  const auto before = news.count();
  ASSERT_TRUE(other.here.notify_resource_updated("memo:///many/199"));
  EXPECT_TRUE(news.hears("/many/199 ", before));
  mounted->set_listener(nullptr);
}

TEST(mounted_changes, reach_the_clients_of_our_server) {
  memo_server other;
  hearing log;
  hearing news;
  server ours = must(server::create());
  ASSERT_TRUE(ours.add(mount(mounted_from(other.here, log))));
  auto asks = connected(ours);
  ASSERT_TRUE(asks.resources().collect());
  const auto watching = asks.watch({.uris = {"mcp://team/memo:///a"}, .resource_list = true}, [&](const watch_event& what) {
    news.add(what.kind == watch_event_kind::resource ? "content " + what.uri : "list");
  });
  ASSERT_TRUE(watching) << watching.error().public_text;
  ASSERT_TRUE(news.hears("content mcp://team/memo:///a")) << log.text();
  auto before = news.count();
  other.add("memo:///a", "changed");
  ASSERT_TRUE(news.hears("content mcp://team/memo:///a", before)) << log.text();
  const auto got = asks.read("mcp://team/memo:///a");
  ASSERT_TRUE(got);
  EXPECT_EQ(got->contents[0].bytes, "changed");
  before = news.count();
  other.add("memo:///later", "x");
  ASSERT_TRUE(news.hears("list", before)) << log.text();
}

/// Leaves what it has as it is.
class frank_memos final : public memory_provider {
 public:
  using memory_provider::memory_provider;
  [[nodiscard]] provider_traits traits() const noexcept override { return {.masking = secret_masking::none}; }
};

TEST(mounted_changes, tell_titles_without_secrets_unless_they_are_wanted) {
  const auto token = std::string("ghp_") + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8";
  const auto masked = "ghp_" + std::string(36, '*');
  struct row {
    bool other_masks;
    bool mount_masks;
    std::string shown;
  };
  for (const auto& [other_masks, mount_masks, shown] :
       {row{false, true, masked}, row{true, false, masked}, row{false, false, token}}) {
    server other = must(server::create());
    const auto memos = other_masks ? std::make_shared<memory_provider>("memos", "memo:///")
                                   : std::make_shared<frank_memos>("memos", "memo:///");
    ASSERT_TRUE(memos->add({.uri = "memo:///a", .name = "a"}, "text"));
    ASSERT_TRUE(other.add(memos));
    hearing log;
    hearing news;
    auto options = mounted_from(other, log);
    options.redact = mount_masks;
    options.revision = "2025-06-18";  // whose changes have titles
    server ours = must(server::create());
    ASSERT_TRUE(ours.add(mount(options)));
    client_options speaking;
    speaking.revision = options.revision;
    auto asks = client::connect(memory_target{&ours}, speaking);
    ASSERT_TRUE(asks);
    const auto watching = asks->watch({.uris = {"mcp://team/memo:///a"}},
                                      [&](const watch_event& what) { news.add("content " + what.title + '.'); });
    ASSERT_TRUE(watching) << watching.error().public_text;
    ASSERT_TRUE(news.hears("content")) << log.text();
    ASSERT_TRUE(other.notify_resource_updated("memo:///a", "about " + token));
    EXPECT_TRUE(news.hears("content about " + shown + '.')) << news.text();
  }
}

TEST(mounted_changes, are_asked_for_when_the_other_server_tells_none) {
  server_options quiet;
  quiet.supports_list_changes = false;
  quiet.supports_subscriptions = false;
  memo_server other(quiet);
  hearing log;
  auto options = mounted_from(other.here, log);
  options.list_ttl = std::chrono::milliseconds(0);
  const auto mounted = mount(options);
  EXPECT_EQ(uris_of(*mounted).size(), 3u);
  other.add("memo:///new", "fourth");
  EXPECT_EQ(uris_of(*mounted).size(), 4u);
  hearing news;
  mounted->set_listener(std::make_shared<note_taker>(news));
  mounted->watch("mcp://team/memo:///a");
  EXPECT_TRUE(log.hears("does not support subscriptions"));
  mounted->set_listener(nullptr);
}

}  // namespace
}  // namespace hondana::test
