/// Many changes of one thing become few, and the last is always told.
#include "server/catalog/change_feed.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <hondana/clock.hpp>

#include "deadline.hpp"

namespace hondana::catalog {
namespace {

using namespace std::chrono_literals;
using kind = model::change::change_kind;

/// Waits for what it hears.
class ear final : public listener {
 public:
  void on_change(const model::change& what) override {
    const std::lock_guard lock(mutex_);
    heard_.push_back(what);
    changed_.notify_all();
  }
  bool has_heard(std::size_t count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, hondana_test::event_deadline, [&] { return heard_.size() >= count; });
  }
  /// Of one URI.
  std::size_t count(std::string_view uri) {
    const std::lock_guard lock(mutex_);
    return static_cast<std::size_t>(
        std::count_if(heard_.begin(), heard_.end(), [uri](const model::change& one) { return one.uri == uri; }));
  }
  std::vector<model::change> all() {
    const std::lock_guard lock(mutex_);
    return heard_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<model::change> heard_;
};

struct fixture {
  manual_clock clock;
  std::shared_ptr<change_feed> all = std::make_shared<change_feed>();
  std::shared_ptr<ear> who = std::make_shared<ear>();
  std::shared_ptr<coalescer> through =
      std::make_shared<coalescer>(all, std::make_shared<executor::timers>(), coalescer::window_durations{50ms, 50ms, 300ms});
};

TEST(coalescer, tells_the_first_at_once_and_the_rest_as_one) {
  fixture with;
  ASSERT_TRUE(with.all->watch(with.who, "memo:///a"));
  with.through->push({kind::content, "memo:///a", "first"});
  ASSERT_EQ(with.who->all().size(), 1u) << "not at once";
  for (int i = 0; i < 1'000; ++i) with.through->push({kind::content, "memo:///a", "last"});
  EXPECT_EQ(with.who->all().size(), 1u) << "before its window has ended";
  with.clock.advance(50ms);
  ASSERT_TRUE(with.who->has_heard(2));
  EXPECT_EQ(with.who->all().back().title, "last");
  // Another resource is told at once, and when its window has ended so has that of the first.
  ASSERT_TRUE(with.all->watch(with.who, "memo:///b"));
  with.through->push({kind::content, "memo:///b", {}});
  EXPECT_EQ(with.who->count("memo:///b"), 1u);
  with.through->push({kind::content, "memo:///b", {}});
  with.clock.advance(50ms);
  ASSERT_TRUE(with.who->has_heard(4));
  EXPECT_EQ(with.who->count("memo:///b"), 2u);
  EXPECT_EQ(with.who->count("memo:///a"), 2u);
}

TEST(coalescer, an_exact_change_takes_nothing_away_from_one_of_all_parts) {
  fixture with;
  ASSERT_TRUE(with.all->watch(with.who, "memo:///a"));
  model::change exact{kind::content, "memo:///a", {}};
  exact.is_exact = true;
  with.through->push(exact);
  with.through->push({kind::content, "memo:///a", {}});
  with.through->push(exact);
  with.clock.advance(50ms);
  ASSERT_TRUE(with.who->has_heard(2));
  EXPECT_TRUE(with.who->all()[0].is_exact);
  EXPECT_FALSE(with.who->all()[1].is_exact);
}

TEST(coalescer, the_title_of_what_another_name_leads_to_is_not_told_with_a_change_of_its_own) {
  fixture with;
  ASSERT_TRUE(with.all->watch(with.who, "memo:///a"));
  with.through->push({kind::content, "memo:///a", {}});
  with.through->push({kind::content, "memo:///a", "own"});
  model::change other{kind::content, "memo:///a", "hidden"};
  other.is_alias = true;
  with.through->push(other);
  with.clock.advance(50ms);
  ASSERT_TRUE(with.who->has_heard(2));
  EXPECT_FALSE(with.who->all().back().is_alias);
  EXPECT_EQ(with.who->all().back().title, "own");
}

TEST(coalescer, a_change_of_another_name_takes_nothing_away_from_one_of_its_own) {
  fixture with;
  ASSERT_TRUE(with.all->watch(with.who, "memo:///a"));
  model::change other{kind::content, "memo:///a", {}};
  other.is_alias = true;
  with.through->push(other);
  with.through->push({kind::content, "memo:///a", {}});
  with.through->push(other);
  with.clock.advance(50ms);
  ASSERT_TRUE(with.who->has_heard(2));
  EXPECT_TRUE(with.who->all()[0].is_alias);
  EXPECT_FALSE(with.who->all()[1].is_alias);
}

TEST(coalescer, keeps_nothing_of_what_nobody_watches) {
  fixture with;
  ASSERT_TRUE(with.all->watch(with.who, "memo:///1?above=1"));
  model::change exact{kind::content, "memo:///1", {}};
  exact.is_exact = true;
  with.through->push(exact);
  EXPECT_EQ(with.through->size(), 0u);
  for (int i = 2; i < 100'000; ++i) with.through->push({kind::content, "memo:///" + std::to_string(i), {}});
  EXPECT_EQ(with.through->size(), 0u);
}

TEST(coalescer, tells_of_a_list_when_it_rests_and_of_one_that_never_does_too) {
  fixture with;
  with.all->add_listener(with.who);
  with.through->push({kind::resources});
  ASSERT_EQ(with.who->all().size(), 1u) << "not at once";
  with.through->push({kind::resources});
  with.clock.advance(50ms);
  ASSERT_TRUE(with.who->has_heard(2));
  for (int i = 0; i < 8; ++i) {
    with.through->push({kind::resources});
    EXPECT_EQ(with.who->all().size(), 2u) << i;
    with.clock.advance(40ms);
  }
  ASSERT_TRUE(with.who->has_heard(3)) << "though it never rests";
  with.through->push({kind::tools});
  const auto all = with.who->all();
  EXPECT_TRUE(std::any_of(all.begin(), all.end(), [](const model::change& one) { return one.kind == kind::tools; }))
      << "each list has a window of its own";
}

}  // namespace
}  // namespace hondana::catalog
