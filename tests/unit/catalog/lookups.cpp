/// One lookup for many who ask, and never one from before the change.
#include "catalog/lookups.hpp"

#include <algorithm>

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "unit/catalog/scripted_provider.hpp"

namespace {

using namespace hondana;
using namespace std::chrono_literals;
using catalog::lookups;
using test::arrange;
using test::scripted_provider;

/// Counts outcomes and waits for them.
class outcomes {
 public:
  lookups::taker taker() {
    return [this](const std::shared_ptr<const resource>& entry) {
      const std::lock_guard lock(mutex_);
      versions_.push_back(entry ? entry->version : "none");
      changed_.notify_all();
    };
  }
  std::vector<std::string> wait_for(std::size_t count) {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(changed_.wait_for(lock, 10s, [&] { return versions_.size() >= count; }));
    return versions_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> versions_;
};

/// Answers with the number of the lookup as the version, once it may.
struct counting_source {
  std::mutex mutex;
  std::condition_variable changed;
  int begun = 0;
  int allowed = 0;
  std::shared_ptr<scripted_provider> what = std::make_shared<scripted_provider>("memo", std::vector<std::string>{"memo:///"});

  counting_source() {
    what->threads = 1;
    what->on_list = [this](const list_request&) {
      std::unique_lock lock(mutex);
      const int mine = ++begun;
      changed.notify_all();
      changed.wait(lock, [&] { return allowed >= mine; });
      list_result found;
      resource entry;
      entry.uri = "memo:///a";
      entry.name = "a";
      entry.version = std::to_string(mine);
      found.entries.push_back(entry);
      return found;
    };
  }
  void allow(int count) {
    const std::lock_guard lock(mutex);
    allowed = count;
    changed.notify_all();
  }
  void wait_for(int count) {
    std::unique_lock lock(mutex);
    ASSERT_TRUE(changed.wait_for(lock, 10s, [&] { return begun >= count; }));
  }
};

TEST(lookups, answer_everybody_who_asked_before_it_began_with_one_and_the_rest_with_the_next) {
  counting_source source;
  const auto made = arrange({source.what});
  ASSERT_TRUE(made);
  const auto all = std::make_shared<lookups>();
  all->use(*made);
  outcomes found;
  all->ask("memo:///a", found.taker());
  source.wait_for(1);
  for (int i = 0; i < 1000; ++i) all->ask("memo:///a", found.taker());
  source.allow(2);
  const auto versions = found.wait_for(1001);
  EXPECT_EQ(versions.front(), "1");
  EXPECT_EQ(std::count(versions.begin(), versions.end(), "2"), 1000);
  EXPECT_EQ(source.begun, 2);
  EXPECT_EQ(all->under_way(), 0u);
}

TEST(lookups, begin_a_bounded_number_at_once_and_finish_all) {
  const auto source = std::make_shared<scripted_provider>("memo", std::vector<std::string>{"memo:///"});
  source->threads = 8;
  std::atomic<int> running = 0;
  std::atomic<int> most = 0;
  source->on_list = [&](const list_request&) {
    const int now = ++running;
    for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
    }
    --running;
    return list_result{};
  };
  const auto made = arrange({source});
  ASSERT_TRUE(made);
  const auto all = std::make_shared<lookups>(2);
  all->use(*made);
  outcomes found;
  for (int i = 0; i < 5000; ++i) all->ask("memo:///" + std::to_string(i), found.taker());
  EXPECT_EQ(found.wait_for(5000).back(), "none");
  EXPECT_LE(most, 2);
}

TEST(lookups, of_sources_that_answer_at_once_do_not_nest) {
  const auto source = std::make_shared<scripted_provider>("memo", std::vector<std::string>{"memo:///"});
  source->is_inline = true;
  const auto all = std::make_shared<lookups>();
  outcomes found;
  int depth = 0;
  int deepest = 0;
  bool is_first = true;
  source->on_list = [&](const list_request&) {
    deepest = std::max(deepest, ++depth);
    if (std::exchange(is_first, false)) {
      for (int i = 0; i < 10'000; ++i) all->ask("memo:///" + std::to_string(i), found.taker());
    }
    --depth;
    return list_result{};
  };
  const auto made = arrange({source});
  ASSERT_TRUE(made);
  all->use(*made);
  all->ask("memo:///first", found.taker());
  found.wait_for(10'001);
  EXPECT_EQ(deepest, 1);
}

TEST(lookups, without_a_source_for_it_find_nothing) {
  const auto all = std::make_shared<lookups>();
  outcomes found;
  all->ask("memo:///a", found.taker());
  const auto made = arrange({});
  ASSERT_TRUE(made);
  all->use(*made);
  all->ask("memo:///a", found.taker());
  EXPECT_EQ(found.wait_for(2), (std::vector<std::string>{"none", "none"}));
}

}  // namespace
