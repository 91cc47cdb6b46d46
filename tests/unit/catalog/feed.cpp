/// Who hears of which changes.
#include "catalog/feed.hpp"

#include <atomic>
#include <thread>

#include <gtest/gtest.h>

namespace hondana::catalog {
namespace {

using kind = model::change::what;

class recorder final : public listener {
 public:
  void heard(const model::change& what) override {
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
  feed all;
  const auto joined = std::make_shared<recorder>();
  const auto watching = std::make_shared<recorder>();
  all.join(joined);
  ASSERT_TRUE(all.watch(watching, "memo:///a"));
  all.publish({kind::tools});
  ASSERT_EQ(joined->taken().size(), 1u);
  EXPECT_TRUE(watching->taken().empty());
}

TEST(feed, tells_content_changes_to_those_who_watch_that_uri) {
  feed all;
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
  feed all;
  const auto one = std::make_shared<recorder>();
  all.join(one);
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(all.watch(one, "memo:///" + std::to_string(i)));
  EXPECT_EQ(all.listeners(), 1u);
  EXPECT_EQ(all.watched(), 1000u);
  all.leave(*one);
  EXPECT_EQ(all.listeners(), 0u);
  EXPECT_EQ(all.watched(), 0u);
  all.publish({kind::resources});
  EXPECT_TRUE(one->taken().empty());
}

TEST(feed, takes_watches_up_to_its_bytes_whoever_watches) {
  const std::string a = "memo:///a";
  feed all(2 * feed::cost_of(a));
  const auto one = std::make_shared<recorder>();
  const auto other = std::make_shared<recorder>();
  EXPECT_TRUE(all.watch(one, a));
  EXPECT_TRUE(all.watch(other, a));
  EXPECT_TRUE(all.watch(one, a)) << "it does already";
  EXPECT_FALSE(all.watch(one, "memo:///b"));
  all.publish({kind::content, "memo:///b", {}});
  EXPECT_TRUE(one->taken().empty());
  all.unwatch(*other, a);
  EXPECT_FALSE(all.watch(one, "memo:///" + std::string(100, 'b'))) << "longer ones cost more";
  EXPECT_TRUE(all.watch(one, "memo:///b"));
  all.leave(*one);
  EXPECT_TRUE(all.watch(other, a));
  EXPECT_TRUE(all.watch(other, "memo:///b"));
}

TEST(feed, keeps_no_listener_alive) {
  feed all;
  auto one = std::make_shared<recorder>();
  const std::weak_ptr<recorder> there = one;
  all.join(one);
  one.reset();
  EXPECT_TRUE(there.expired());
  all.publish({kind::resources});
}

TEST(feed, takes_subscriptions_while_changes_are_passed_on) {
  feed all;
  std::atomic<bool> done{false};
  std::thread publisher([&] {
    while (!done) all.publish({kind::content, "memo:///a", {}});
  });
  std::size_t heard = 0;
  for (int i = 0; i < 2000 || heard == 0; ++i) {
    const auto one = std::make_shared<recorder>();
    ASSERT_TRUE(all.watch(one, "memo:///a"));
    all.join(one);
    heard += one->taken().size();
    all.leave(*one);
  }
  done = true;
  publisher.join();
  EXPECT_EQ(all.listeners(), 0u);
  EXPECT_EQ(all.watched(), 0u);
}

}  // namespace
}  // namespace hondana::catalog
