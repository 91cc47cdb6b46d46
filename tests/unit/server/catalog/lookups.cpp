/// One lookup for many who ask, and never one from before the change.
#include "server/catalog/entry_lookups.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <hondana/clock.hpp>

#include "deadline.hpp"
#include "unit/server/catalog/scripted_provider.hpp"

namespace {

using namespace hondana;
using namespace std::chrono_literals;
using catalog::entry_lookups;
using hondana_test::event_deadline;
using hondana_test::eventually;
using test::arrange;
using test::scripted_provider;

/// Counts outcomes and waits for them.
class outcomes {
 public:
  entry_lookups::entry_callback taker() {
    return [this](const std::shared_ptr<const resource>& entry) {
      const std::lock_guard lock(mutex_);
      versions_.push_back(entry ? entry->version : "none");
      changed_.notify_all();
    };
  }
  std::vector<std::string> wait_for(std::size_t count) {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(changed_.wait_for(lock, event_deadline, [&] { return versions_.size() >= count; }));
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
    ASSERT_TRUE(changed.wait_for(lock, event_deadline, [&] { return begun >= count; }));
  }
};

/// Whether nothing is under way any more, soon: a lookup is over only after the last who asked has taken its outcome.
bool is_over(const entry_lookups& all) {
  return eventually([&all] { return all.in_progress() == 0; });
}

// Time stands still in these tests: a lookup that takes longer than five seconds finds nothing.

TEST(lookups, answer_everybody_who_asked_before_it_began_with_one_and_the_rest_with_the_next) {
  manual_clock clock;
  counting_source source;
  const auto made = arrange({source.what});
  ASSERT_TRUE(made);
  const auto all = std::make_shared<entry_lookups>();
  all->set_catalog(*made);
  outcomes found;
  all->request("memo:///a", nullptr, found.taker());
  source.wait_for(1);
  for (int i = 0; i < 1000; ++i) all->request("memo:///a", nullptr, found.taker());
  source.allow(2);
  const auto versions = found.wait_for(1001);
  EXPECT_EQ(versions.front(), "1");
  EXPECT_EQ(std::count(versions.begin(), versions.end(), "2"), 1000);
  EXPECT_EQ(source.begun, 2);
  EXPECT_TRUE(is_over(*all));
}

TEST(lookups, begin_a_bounded_number_at_once_and_finish_all) {
  manual_clock clock;
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
  const auto all = std::make_shared<entry_lookups>(2);
  all->set_catalog(*made);
  outcomes found;
  for (int i = 0; i < 5000; ++i) all->request("memo:///" + std::to_string(i), nullptr, found.taker());
  EXPECT_EQ(found.wait_for(5000).back(), "none");
  EXPECT_LE(most, 2);
}

TEST(lookups, of_sources_that_answer_at_once_do_not_nest) {
  manual_clock clock;
  const auto source = std::make_shared<scripted_provider>("memo", std::vector<std::string>{"memo:///"});
  source->is_inline = true;
  const auto all = std::make_shared<entry_lookups>();
  outcomes found;
  int depth = 0;
  int deepest = 0;
  bool is_first = true;
  source->on_list = [&](const list_request&) {
    deepest = std::max(deepest, ++depth);
    if (std::exchange(is_first, false)) {
      for (int i = 0; i < 10'000; ++i) all->request("memo:///" + std::to_string(i), nullptr, found.taker());
    }
    --depth;
    return list_result{};
  };
  const auto made = arrange({source});
  ASSERT_TRUE(made);
  all->set_catalog(*made);
  all->request("memo:///first", nullptr, found.taker());
  found.wait_for(10'001);
  EXPECT_EQ(deepest, 1);
}

TEST(lookups, of_one_source_do_not_wait_for_those_of_another) {
  manual_clock clock;
  counting_source stuck;
  const auto quick = std::make_shared<scripted_provider>("note", std::vector<std::string>{"note:///"});
  const auto made = arrange({stuck.what, quick});
  ASSERT_TRUE(made);
  const auto all = std::make_shared<entry_lookups>(1);
  all->set_catalog(*made);
  outcomes never;
  outcomes found;
  for (int i = 0; i < 10; ++i) all->request("memo:///" + std::to_string(i), nullptr, never.taker());
  stuck.wait_for(1);
  all->request("note:///a", nullptr, found.taker());
  EXPECT_EQ(found.wait_for(1).size(), 1u);
  stuck.allow(100);
  never.wait_for(10);
}

TEST(lookups, that_are_patient_find_what_a_busy_source_gives_later_than_others_wait_for) {
  manual_clock clock;
  const auto source = std::make_shared<scripted_provider>("memo", std::vector<std::string>{"memo:///"});
  std::atomic<int> asked = 0;
  source->on_list = [&](const list_request&) -> result<list_result> {
    if (++asked < 6) return fail(asked % 2 == 0 ? errc::overloaded : errc::timed_out, "busy");
    resource entry;
    entry.uri = entry.name = "memo:///a";
    entry.version = "v1";
    return list_result{{entry}, {}};
  };
  const auto made = arrange({source});
  ASSERT_TRUE(made);
  const auto all = std::make_shared<entry_lookups>();
  all->set_catalog(*made);
  outcomes found;
  all->request_persistently("memo:///a", nullptr, found.taker());
  EXPECT_EQ(found.wait_for(1).front(), "v1");
  EXPECT_EQ(asked, 6);
  source->on_list = [&](const list_request&) { return list_result{}; };
  all->request_persistently("memo:///b", nullptr, found.taker());
  EXPECT_EQ(found.wait_for(2).back(), "none") << "what is not there is no reason to wait";
  EXPECT_TRUE(is_over(*all));
}

TEST(lookups, that_are_refused_are_not_tried_again) {
  manual_clock clock;
  const auto source = std::make_shared<scripted_provider>("memo", std::vector<std::string>{"memo:///"});
  std::atomic<int> asked = 0;
  errc why = errc::invalid_argument;
  source->on_list = [&](const list_request&) -> result<list_result> {
    ++asked;
    return fail(why, "not of this spelling");
  };
  const auto made = arrange({source});
  ASSERT_TRUE(made);
  const auto all = std::make_shared<entry_lookups>();
  all->set_catalog(*made);
  outcomes found;
  for (const auto refusal : {errc::invalid_argument, errc::access_denied, errc::insufficient_scope}) {
    why = refusal;
    const int before = asked;
    const auto count = found.wait_for(0).size();
    all->request_persistently("memo:///a", nullptr, found.taker());
    EXPECT_EQ(found.wait_for(count + 1).back(), "none");
    EXPECT_TRUE(is_over(*all));
    EXPECT_EQ(asked, before + 1);
  }
}

TEST(lookups, that_come_to_patient_ones_about_to_give_up_are_patient_themselves) {
  manual_clock clock;
  const auto source = std::make_shared<scripted_provider>("memo", std::vector<std::string>{"memo:///"});
  source->threads = 1;
  const auto all = std::make_shared<entry_lookups>(1);
  outcomes first, late, others;
  test::event both;
  int asked = 0;
  // The two take turns, so that the first is not under way while the other is.
  source->on_list = [&](const list_request& request) -> result<list_result> {
    both.wait();
    const bool is_of_other = request.after_key.starts_with("memo:///a");  // as the key before it
    if (is_of_other) {
      if (asked == 7) all->request_persistently("memo:///a", nullptr, late.taker());
      return fail(errc::overloaded, "busy");
    }
    if (++asked < 10) return fail(errc::overloaded, "busy");
    resource entry;
    entry.uri = entry.name = "memo:///a";
    entry.version = "v1";
    return list_result{{entry}, {}};
  };
  const auto made = arrange({source});
  ASSERT_TRUE(made);
  all->set_catalog(*made);
  all->request_persistently("memo:///a", nullptr, first.taker());
  all->request_persistently("memo:///b", nullptr, others.taker());
  both.happen();
  EXPECT_EQ(late.wait_for(1).front(), "v1");
  EXPECT_EQ(others.wait_for(1).front(), "none");
  EXPECT_TRUE(is_over(*all));
}

TEST(lookups, that_are_patient_pause_where_there_are_timers) {
  manual_clock clock;
  const auto source = std::make_shared<scripted_provider>("memo", std::vector<std::string>{"memo:///"});
  std::atomic<int> asked = 0;
  source->on_list = [&](const list_request&) -> result<list_result> {
    if (++asked == 1) return fail(errc::overloaded, "busy");
    return list_result{};
  };
  const auto made = arrange({source});
  ASSERT_TRUE(made);
  const auto all = std::make_shared<entry_lookups>(16, std::make_shared<executor::timers>());
  all->set_catalog(*made);
  outcomes found;
  const auto begun = monotonic_clock::now();
  all->request_persistently("memo:///a", nullptr, found.taker());
  ASSERT_TRUE(eventually([&] {
    if (asked < 2) clock.advance(100ms);
    return asked == 2;
  }));
  EXPECT_GE(monotonic_clock::now() - begun, 1s);
  EXPECT_EQ(found.wait_for(1).front(), "none");
  EXPECT_EQ(asked, 2);
  EXPECT_TRUE(is_over(*all));
}

TEST(lookups, that_fail_are_tried_again_and_a_source_that_is_unwell_is_not_taken_for_gone) {
  manual_clock clock;
  const auto source = std::make_shared<scripted_provider>("memo", std::vector<std::string>{"memo:///"});
  std::atomic<int> asked = 0;
  source->on_list = [&](const list_request&) -> result<list_result> {
    if (++asked < 3) return fail(errc::overloaded, "busy");
    resource entry;
    entry.uri = entry.name = "memo:///a";
    entry.version = "v1";
    return list_result{{entry}, {}};
  };
  const auto made = arrange({source});
  ASSERT_TRUE(made);
  const auto all = std::make_shared<entry_lookups>();
  all->set_catalog(*made);
  outcomes found;
  all->request("memo:///a", nullptr, found.taker());
  EXPECT_EQ(found.wait_for(1).front(), "v1");
  EXPECT_EQ(asked, 3);
  source->on_list = [&](const list_request&) -> result<list_result> {
    ++asked;
    return fail(errc::overloaded, "busy for good");
  };
  all->request("memo:///b", nullptr, found.taker());
  EXPECT_EQ(found.wait_for(2).back(), "none");
  EXPECT_EQ(asked, 6);
}

TEST(lookups, see_what_the_asker_may_see) {
  manual_clock clock;
  const auto source = std::make_shared<scripted_provider>("memo", std::vector<std::string>{"memo:///"});
  source->on_list = [](const list_request& request) -> result<list_result> {
    resource entry;
    entry.uri = entry.name = "memo:///a";
    entry.version = request.caller.access_filter ? "of " + std::to_string(request.caller.access_filter->id()) : "of all";
    return list_result{{entry}, {}};
  };
  const auto made = arrange({source});
  ASSERT_TRUE(made);
  const auto all = std::make_shared<entry_lookups>();
  all->set_catalog(*made);
  outcomes found;
  const auto some = std::make_shared<test::hiding_view>(7, [](std::string_view) { return false; });
  all->request("memo:///a", some, found.taker());
  EXPECT_EQ(found.wait_for(1).back(), "of 7");
  all->request("memo:///a", nullptr, found.taker());
  EXPECT_EQ(found.wait_for(2).back(), "of all");
}

TEST(lookups, with_timers_never_ask_a_source_before_they_return) {
  manual_clock clock;
  const auto source = std::make_shared<scripted_provider>("memo", std::vector<std::string>{"memo:///"});
  source->is_inline = true;
  std::mutex of_application;
  source->on_list = [&of_application](const list_request&) {
    const std::lock_guard lock(of_application);
    return list_result{};
  };
  const auto made = arrange({source});
  ASSERT_TRUE(made);
  const auto all = std::make_shared<entry_lookups>(16, std::make_shared<executor::timers>());
  all->set_catalog(*made);
  outcomes found;
  {
    const std::lock_guard lock(of_application);
    all->request("memo:///a", nullptr, found.taker());
  }
  EXPECT_EQ(found.wait_for(1).back(), "none");
}

TEST(lookups, without_a_source_for_it_find_nothing) {
  manual_clock clock;
  const auto all = std::make_shared<entry_lookups>();
  outcomes found;
  all->request("memo:///a", nullptr, found.taker());
  const auto made = arrange({});
  ASSERT_TRUE(made);
  all->set_catalog(*made);
  all->request("memo:///a", nullptr, found.taker());
  EXPECT_EQ(found.wait_for(2), (std::vector<std::string>{"none", "none"}));
}

}  // namespace
