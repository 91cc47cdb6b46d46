/// Mounted servers that do what ours never do.
#include <gmock/gmock.h>

#include "unit/sources/mcp/mounting.hpp"

namespace hondana::test {
namespace {

TEST(mounted_odd_servers, that_name_what_lies_below_a_subscribed_resource_change_that) {
  hearing log;
  hearing news;
  const auto mounted = mount(mounted_script(
      R"sh(*'"method":"resources/subscribe"'*) answer '{}'; tell resources/updated ',"params":{"uri":"memo:///a/b/c"}' ;;)sh",
      log));
  mounted->set_listener(std::make_shared<note_taker>(news));
  mounted->watch("mcp://team/memo:///a");
  ASSERT_TRUE(news.hears("content mcp://team/memo:///a/b/c ")) << log.text();
  // Once because it is watched from now on, and once because something below it has changed.
  const auto count = [&] {
    const auto all = news.text();
    std::size_t found = 0;
    for (auto at = all.find("/a \n"); at != std::string::npos; at = all.find("/a \n", at + 1)) ++found;
    return found;
  };
  EXPECT_TRUE(hondana_test::eventually([&] { return count() >= 2; }));
  EXPECT_EQ(count(), 2u) << news.text();
  mounted->set_listener(nullptr);
}

TEST(mounted_odd_servers, that_call_their_list_changed_whenever_it_is_asked_for_are_asked_ever_more_seldom) {
  hearing log;
  hearing news;
  const auto mounted = mount(mounted_script(
      R"sh(*'"method":"resources/list"'*) asked=$((asked + 1)); echo "asked $asked times" >&2
      answer '{"resources":[{"uri":"memo:///a","name":"a"}]}'; tell resources/list_changed ;;)sh",
      log));
  mounted->set_listener(std::make_shared<note_taker>(news));
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(uris_of(*mounted).size(), 1u) << log.text();
  // Pauses of 50, 100, 200, 400 ms lie between these.
  ASSERT_TRUE(log.hears("asked 6 times")) << log.text();
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(350));
  EXPECT_EQ(uris_of(*mounted).size(), 1u) << log.text();
  mounted->set_listener(nullptr);
}

}  // namespace
}  // namespace hondana::test
