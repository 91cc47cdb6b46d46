/// Who hears of which changes.
#include "server/catalog/change_feed.hpp"

#include <atomic>
#include <functional>
#include <memory>
#include <string_view>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

namespace hondana::catalog {
namespace {

using kind = model::change::change_kind;

class recorder final : public listener {
 public:
  void on_change(const model::change& what) override {
    const std::lock_guard lock(mutex_);
    heard_.push_back(what);
  }
  std::vector<model::change> taken() {
    const std::lock_guard lock(mutex_);
    return std::exchange(heard_, {});
  }

 private:
  std::mutex mutex_;
  std::vector<model::change> heard_;
};

TEST(feed, tells_list_changes_to_all_who_joined_and_nobody_else) {
  change_feed all;
  const auto joined = std::make_shared<recorder>();
  const auto watching = std::make_shared<recorder>();
  all.add_listener(joined);
  ASSERT_TRUE(all.watch(watching, "memo:///a"));
  all.publish({kind::tools});
  ASSERT_EQ(joined->taken().size(), 1u);
  EXPECT_TRUE(watching->taken().empty());
}

TEST(feed, tells_content_changes_to_those_who_watch_that_uri) {
  change_feed all;
  const auto one = std::make_shared<recorder>();
  const auto other = std::make_shared<recorder>();
  ASSERT_TRUE(all.watch(one, "memo:///a"));
  ASSERT_TRUE(all.watch(one, "memo:///a"));
  ASSERT_TRUE(all.watch(other, "memo:///b"));
  all.publish({kind::content, "memo:///a", "A"});
  const auto heard = one->taken();
  ASSERT_EQ(heard.size(), 1u);
  EXPECT_EQ(heard[0].uri, "memo:///a");
  EXPECT_EQ(heard[0].title, "A");
  EXPECT_TRUE(other->taken().empty());
  all.unwatch(*one, "memo:///a");
  all.publish({kind::content, "memo:///a", {}});
  EXPECT_TRUE(one->taken().empty());
}

TEST(feed, forgets_everything_about_a_listener_that_leaves) {
  change_feed all;
  const auto one = std::make_shared<recorder>();
  all.add_listener(one);
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(all.watch(one, "memo:///" + std::to_string(i)));
  EXPECT_EQ(all.listeners(), 1u);
  EXPECT_EQ(all.watched(), 1000u);
  all.remove_listener(*one);
  EXPECT_EQ(all.listeners(), 0u);
  EXPECT_EQ(all.watched(), 0u);
  all.publish({kind::resources});
  EXPECT_TRUE(one->taken().empty());
}

TEST(feed, takes_watches_up_to_its_bytes_and_a_quarter_of_them_from_one) {
  const std::string a = "memo:///a";
  const std::string b = "memo:///b";
  change_feed all(5 * change_feed::cost_of(a));
  std::vector<std::shared_ptr<recorder>> many;
  many.reserve(6);
  for (int i = 0; i < 6; ++i) many.push_back(std::make_shared<recorder>());
  EXPECT_TRUE(all.watch(many[0], a));
  EXPECT_TRUE(all.watch(many[0], a)) << "it does already";
  EXPECT_FALSE(all.watch(many[0], b)) << "it has its quarter";
  for (int i = 1; i < 5; ++i) EXPECT_TRUE(all.watch(many[i], a));
  EXPECT_FALSE(all.watch(many[5], a)) << "there is no more room";
  all.publish({kind::content, b, {}});
  for (const auto& one : many) EXPECT_TRUE(one->taken().empty());
  all.unwatch(*many[0], a);
  EXPECT_FALSE(all.watch(many[0], "memo:///" + std::string(100, 'b'))) << "longer ones cost more";
  EXPECT_TRUE(all.watch(many[0], b));
  all.remove_listener(*many[1]);
  EXPECT_TRUE(all.watch(many[5], b));
}

TEST(feed, tells_those_who_watch_a_part_of_what_has_changed) {
  change_feed all;
  const auto part = std::make_shared<recorder>();
  const auto other = std::make_shared<recorder>();
  ASSERT_TRUE(all.watch(part, "memo:///a?lines=1-3"));
  ASSERT_TRUE(all.watch(other, "memo:///ab"));
  all.publish({kind::content, "memo:///a", {}});
  EXPECT_EQ(part->taken().size(), 1u);
  EXPECT_TRUE(other->taken().empty());
}

TEST(feed, says_when_the_list_gets_its_first_watcher_and_loses_its_last) {
  change_feed all;
  std::vector<bool> said;
  all.on_list_interest([&] { said.push_back(all.is_list_watched()); });
  const auto one = std::make_shared<recorder>();
  const auto other = std::make_shared<recorder>();
  const auto of_tools = std::make_shared<recorder>();
  all.add_listener(of_tools, false);
  ASSERT_TRUE(all.watch(one, "memo:///a"));
  EXPECT_TRUE(said.empty());
  all.add_listener(one);
  all.add_listener(one);
  all.add_listener(other);
  EXPECT_EQ(said, std::vector<bool>{true});
  all.remove_listener(*one);
  all.remove_listener(*of_tools);
  EXPECT_EQ(said, std::vector<bool>{true});
  all.remove_listener(*other);
  EXPECT_EQ(said, (std::vector<bool>{true, false}));
  all.add_listener(one);
  EXPECT_EQ(said, (std::vector<bool>{true, false, true}));
}

TEST(feed, says_when_a_uri_gets_its_first_watcher_and_loses_its_last) {
  change_feed all;
  std::vector<std::string> said;
  all.on_interest([&](const std::string& uri) { said.push_back((all.is_part_watched(uri) ? "+" : "-") + uri); });
  const auto one = std::make_shared<recorder>();
  const auto other = std::make_shared<recorder>();
  ASSERT_TRUE(all.watch(one, "memo:///a?lines=1-3"));
  ASSERT_TRUE(all.watch(one, "memo:///a"));
  ASSERT_TRUE(all.watch(other, "memo:///a"));
  EXPECT_EQ(said, (std::vector<std::string>{"+memo:///a?lines=1-3", "+memo:///a"}));
  EXPECT_EQ(all.watched_uris().size(), 2u);
  all.unwatch(*one, "memo:///a");
  EXPECT_EQ(said.size(), 2u) << "the other watches it";
  all.unwatch(*other, "memo:///a");
  EXPECT_EQ(said.back(), "-memo:///a");
  EXPECT_TRUE(all.is_watched("memo:///a")) << "somebody watches a part of it";
  EXPECT_FALSE(all.is_part_watched("memo:///a"));
  all.remove_listener(*one);
  EXPECT_EQ(said.back(), "-memo:///a?lines=1-3");
  EXPECT_TRUE(all.watched_uris().empty());
}

TEST(feed, tells_of_exact_changes_only_who_watches_just_that) {
  change_feed all;
  const auto whole = std::make_shared<recorder>();
  const auto part = std::make_shared<recorder>();
  ASSERT_TRUE(all.watch(whole, "memo:///a"));
  ASSERT_TRUE(all.watch(part, "memo:///a?above=1"));
  model::change what{kind::content, "memo:///a?above=1", {}};
  what.is_exact = true;
  all.publish(what);
  EXPECT_EQ(whole->taken().size(), 0u);
  EXPECT_EQ(part->taken().size(), 1u);
  what.uri = "memo:///a";
  all.publish(what);
  EXPECT_EQ(whole->taken().size(), 1u);
  EXPECT_EQ(part->taken().size(), 0u);
  what.is_exact = false;
  all.publish(what);
  EXPECT_EQ(whole->taken().size(), 1u);
  EXPECT_EQ(part->taken().size(), 1u);
}

/// Asks somebody else before it says what it may hear.
class thinker final : public listener {
 public:
  explicit thinker(std::function<bool()> thinks) : thinks_(std::move(thinks)) {}
  void on_change(const model::change&) override {}
  [[nodiscard]] bool may_receive(std::string_view) const override { return thinks_(); }

 private:
  std::function<bool()> thinks_;
};

TEST(feed, passes_changes_on_while_a_listener_thinks_what_it_may_hear) {
  change_feed all;
  const auto other = std::make_shared<recorder>();
  ASSERT_TRUE(all.watch(other, "memo:///b"));
  const auto one = std::make_shared<thinker>([&all] {
    all.publish({kind::content, "memo:///b", {}});
    return true;
  });
  ASSERT_TRUE(all.watch(one, "memo:///a"));
  EXPECT_EQ(other->taken().size(), 1u);
  EXPECT_TRUE(all.is_watched("memo:///a"));
  all.recheck_access(*one);
  EXPECT_EQ(other->taken().size(), 1u);
  EXPECT_TRUE(all.is_watched("memo:///a"));
}

TEST(feed, asks_again_when_rules_have_changed_while_a_listener_thought) {
  change_feed all;
  bool may = true;
  std::shared_ptr<thinker> one;
  one = std::make_shared<thinker>([&] {
    const bool could = may;
    if (std::exchange(may, false)) all.recheck_access(*one);
    return could;
  });
  ASSERT_TRUE(all.watch(one, "memo:///a"));
  EXPECT_FALSE(all.is_watched("memo:///a")) << "its first answer was of the rules before";
  may = true;
  all.recheck_access(*one);
  EXPECT_FALSE(all.is_watched("memo:///a"));
  all.remove_listener(*one);
  EXPECT_EQ(all.listeners(), 0u);
}

TEST(feed, keeps_no_listener_alive) {
  change_feed all;
  auto one = std::make_shared<recorder>();
  const std::weak_ptr<recorder> there = one;
  all.add_listener(one);
  one.reset();
  EXPECT_TRUE(there.expired());
  all.publish({kind::resources});
}

TEST(feed, takes_subscriptions_while_changes_are_passed_on) {
  change_feed all;
  std::atomic<bool> done{false};
  std::thread publisher([&] {
    while (!done) all.publish({kind::content, "memo:///a", {}});
  });
  std::size_t heard = 0;
  for (int i = 0; i < 2000 || heard == 0; ++i) {
    const auto one = std::make_shared<recorder>();
    ASSERT_TRUE(all.watch(one, "memo:///a"));
    all.add_listener(one);
    heard += one->taken().size();
    all.remove_listener(*one);
  }
  done = true;
  publisher.join();
  EXPECT_EQ(all.listeners(), 0u);
  EXPECT_EQ(all.watched(), 0u);
}

}  // namespace
}  // namespace hondana::catalog
