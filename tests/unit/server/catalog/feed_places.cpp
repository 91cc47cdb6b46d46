/// Listeners that want to hear of changes at a place of their own.
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "server/catalog/change_feed.hpp"

namespace hondana::catalog {
namespace {

using kind = model::change::change_kind;

/// A thread that the test steps through.
class stepped final : public executor::step_executor {
 public:
  void run_in_steps(std::function<bool()> step) override { jobs.push_back(std::move(step)); }
  /// One step of the first job; true when it has more.
  bool turn() {
    auto one = std::move(jobs.front());
    jobs.pop_front();
    const bool has_more = one();
    if (has_more) jobs.push_back(std::move(one));
    return has_more;
  }
  std::deque<std::function<bool()>> jobs;
};

class settled final : public listener {
 public:
  explicit settled(std::shared_ptr<executor::step_executor> where) : where_(std::move(where)) {}
  void on_change(const model::change& what) override {
    last = what.uri;
    ++count;
  }
  std::shared_ptr<executor::step_executor> preferred_executor() const override { return where_; }
  std::string last;
  int count = 0;

 private:
  std::shared_ptr<executor::step_executor> where_;
};

std::vector<std::shared_ptr<settled>> watching(change_feed& all, std::size_t count,
                                               const std::shared_ptr<executor::step_executor>& where) {
  std::vector<std::shared_ptr<settled>> out;
  for (std::size_t i = 0; i < count; ++i) {
    out.push_back(std::make_shared<settled>(where));
    EXPECT_TRUE(all.watch(out.back(), "memo:///a"));
  }
  return out;
}

std::size_t told(const std::vector<std::shared_ptr<settled>>& of) {
  std::size_t count = 0;
  for (const auto& one : of) count += static_cast<std::size_t>(one->count);
  return count;
}

TEST(feed_places, are_told_once_each_and_tell_their_own_listeners) {
  change_feed all;
  const auto here = std::make_shared<stepped>();
  const auto there = std::make_shared<stepped>();
  const auto some = watching(all, 3, here);
  const auto others = watching(all, 2, there);
  const auto anywhere = watching(all, 1, nullptr);
  all.publish({kind::content, "memo:///a", {}});
  EXPECT_EQ(told(anywhere), 1u) << "before publish returned";
  ASSERT_EQ(here->jobs.size(), 1u);
  ASSERT_EQ(there->jobs.size(), 1u);
  EXPECT_EQ(told(some) + told(others), 0u);
  EXPECT_FALSE(here->turn());
  EXPECT_EQ(told(some), 3u);
  EXPECT_EQ(told(others), 0u);
  EXPECT_FALSE(there->turn());
  EXPECT_EQ(told(others), 2u);
  EXPECT_EQ(others.front()->last, "memo:///a");
}

TEST(feed_places, leave_turns_to_others_between_slices) {
  change_feed all;
  const auto here = std::make_shared<stepped>();
  const auto many = watching(all, 1'000, here);
  all.publish({kind::content, "memo:///a", {}});
  ASSERT_EQ(here->jobs.size(), 1u);
  std::size_t turns = 1;
  std::size_t before = 0;
  for (; here->turn(); ++turns) {
    const auto now = told(many);
    EXPECT_GT(now, before);
    EXPECT_LE(now - before, 100u);
    before = now;
  }
  EXPECT_GE(turns, 10u);
  for (const auto& one : many) EXPECT_EQ(one->count, 1);
}

TEST(feed_places, that_have_gone_take_their_listeners_changes_with_them) {
  change_feed all;
  auto here = std::make_shared<stepped>();
  const std::weak_ptr<stepped> gone = here;
  /// Does not keep its place.
  class loose final : public listener {
   public:
    explicit loose(std::weak_ptr<executor::step_executor> where) : where_(std::move(where)) {}
    void on_change(const model::change&) override { ++count; }
    std::shared_ptr<executor::step_executor> preferred_executor() const override { return where_.lock(); }
    int count = 0;

   private:
    std::weak_ptr<executor::step_executor> where_;
  };
  const auto one = std::make_shared<loose>(here);
  all.add_listener(one);
  here.reset();
  ASSERT_TRUE(gone.expired()) << "the feed keeps no place alive";
  all.publish({kind::resources});
  EXPECT_EQ(one->count, 0);
}

TEST(feed_places, keep_a_listener_until_it_has_been_told) {
  change_feed all;
  const auto here = std::make_shared<stepped>();
  auto many = watching(all, 2, here);
  all.publish({kind::content, "memo:///a", {}});
  const std::weak_ptr<settled> first = many.front();
  many.clear();
  EXPECT_FALSE(first.expired());
  EXPECT_FALSE(here->turn());
  EXPECT_TRUE(first.expired());
}

TEST(feed_places, that_fall_far_behind_hold_a_bounded_number_of_changes) {
  change_feed all;
  const auto stuck = std::make_shared<stepped>();
  const auto some = watching(all, 1'000, stuck);
  std::size_t changes = 0;
  while (told(some) == 0 && changes < 10'000) {
    all.publish({kind::content, "memo:///a", {}});
    ++changes;
  }
  EXPECT_EQ(told(some), 1'000u) << "by the thread that publishes";
  const auto queued = stuck->jobs.size();
  all.publish({kind::content, "memo:///a", {}});
  EXPECT_EQ(stuck->jobs.size(), queued);
  while (!stuck->jobs.empty()) stuck->turn();
  EXPECT_EQ(told(some), (changes + 1) * 1'000u);
  all.publish({kind::content, "memo:///a", {}});
  EXPECT_EQ(stuck->jobs.size(), 1u) << "there is room again";
  while (!stuck->jobs.empty()) stuck->turn();
}

}  // namespace
}  // namespace hondana::catalog
