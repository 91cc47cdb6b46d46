/// What is posted, as the threads see it that read it.
#include "base/executor/published.hpp"

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace hondana::executor {
namespace {

TEST(posted, is_what_was_posted_last) {
  published<std::string> one;
  EXPECT_EQ(one.read(), nullptr);
  EXPECT_EQ(one.read(), nullptr) << "again, from what the thread remembers";
  one.publish(std::make_shared<const std::string>("a"));
  EXPECT_EQ(*one.read(), "a");
  EXPECT_EQ(*one.read(), "a");
  one.publish(std::make_shared<const std::string>("b"));
  EXPECT_EQ(*one.read(), "b");
  one.publish(nullptr);
  EXPECT_EQ(one.read(), nullptr);
}

TEST(posted, has_places_of_their_own) {
  published<std::string, 3> all;
  all.publish(std::make_shared<const std::string>("first"), 0);
  all.publish(std::make_shared<const std::string>("last"), 2);
  EXPECT_EQ(*all.read(0), "first");
  EXPECT_EQ(all.read(1), nullptr);
  EXPECT_EQ(*all.read(2), "last");
}

TEST(posted, is_replaced_only_by_who_knows_it) {
  published<std::string> one;
  const auto a = std::make_shared<const std::string>("a"), b = std::make_shared<const std::string>("b");
  one.publish(a);
  one.replace(b.get(), nullptr);
  EXPECT_EQ(one.read(), a);
  one.replace(a.get(), b);
  EXPECT_EQ(one.read(), b);
}

TEST(posted, is_kept_alive_by_nobody_who_has_read_it) {
  published<std::string> one;
  std::weak_ptr<const std::string> gone;
  {
    const auto text = std::make_shared<const std::string>("a");
    gone = text;
    one.publish(text);
  }
  EXPECT_NE(one.read(), nullptr);
  EXPECT_FALSE(gone.expired());
  one.publish(nullptr);
  EXPECT_TRUE(gone.expired());
}

TEST(posted, in_more_places_than_a_thread_remembers_is_never_mistaken) {
  std::vector<std::unique_ptr<published<std::string>>> many;
  for (int i = 0; i < 20; ++i) {
    many.push_back(std::make_unique<published<std::string>>());
    many.back()->publish(std::make_shared<const std::string>(std::to_string(i)));
  }
  for (int turn = 0; turn < 3; ++turn)
    for (int i = 0; i < 20; ++i) EXPECT_EQ(*many[static_cast<std::size_t>(i)]->read(), std::to_string(i));
  // Another one at the address of one that has gone.
  for (int i = 0; i < 20; ++i) {
    published<std::string> fresh;
    EXPECT_EQ(fresh.read(), nullptr);
    fresh.publish(std::make_shared<const std::string>("here"));
    EXPECT_EQ(*fresh.read(), "here");
  }
}

TEST(posted, is_read_by_many_threads_in_the_order_it_was_posted_in) {
  constexpr long last = 20'000;
  published<long> one;
  one.publish(std::make_shared<const long>(0));
  std::atomic<bool> went_back{false};
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i)
    readers.emplace_back([&] {
      for (long seen = 0; seen != last;) {
        const auto now = *one.read();
        if (now < std::exchange(seen, now)) went_back = true;
      }
    });
  for (long i = 1; i <= last; ++i) one.publish(std::make_shared<const long>(i));
  for (auto& each : readers) each.join();
  EXPECT_FALSE(went_back);
}

}  // namespace
}  // namespace hondana::executor
