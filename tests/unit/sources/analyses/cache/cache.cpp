/// The cache: thresholds, waiting, listening and counting.
#include "sources/analyses/cache/cache.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>

#include "deadline.hpp"
#include "sources/analyses/cache/embedded/embedded_store.hpp"
#include "unit/sources/analyses/cache/store_contract.hpp"

namespace hondana::analyses {
namespace {

class the_cache : public testing::Test {
 protected:
  void SetUp() override {
    options_.claimant = "the test";
    for (auto& one : options_.policy.by_task) one.required = {0.5, 0.5, 2};
    make();
  }
  void make() {
    cache_.reset();
    embedded_options how;
    how.clock = [this] { return instant(milliseconds(clock_.load())); };
    store_ = good(open_embedded(how));
    cache_ = good(cache::create(store_, options_));
  }
  [[nodiscard]] claim_request request(const analysis& what, milliseconds wait = milliseconds(0)) const {
    claim_request out;
    out.question = what.question;
    out.task = what.task;
    out.wait_timeout = wait;
    return out;
  }
  [[nodiscard]] claim_ticket claim(const analysis& what) {
    const auto got = good(cache_->claim(request(what)));
    EXPECT_TRUE(got.ticket);
    return got.ticket.value_or(claim_ticket());
  }
  [[nodiscard]] task_statistics counted(task_type of = task_type::basic) {
    return good(cache_->read_statistics()).for_task(of);
  }

  std::atomic<std::int64_t> clock_{1'764'000'000'000};
  cache_options options_{};
  std::shared_ptr<analysis_store> store_;
  std::shared_ptr<cache> cache_;
};

TEST_F(the_cache, serves_what_was_put_and_counts_what_that_saves) {
  const auto what = small_analysis("x");
  EXPECT_EQ(good(cache_->look_up(what.question, what.task)).status, cached_answer::cache_status::missing);
  const auto kept = good(cache_->put(claim(what), what));
  EXPECT_EQ(kept.summary.status, analysis_status::complete);
  EXPECT_EQ(kept.not_final_reason, "");
  EXPECT_EQ(good(cache_->look_up(what.question, what.task)).status, cached_answer::cache_status::fresh);
  auto wide = what.question;
  wide.prompt = "　ｘ\n";
  EXPECT_EQ(good(cache_->look_up(wide, what.task)).status, cached_answer::cache_status::fresh);
  const auto all = counted();
  EXPECT_EQ(all.misses, 2u) << "a look, and the claim";
  EXPECT_EQ(all.hits, 2u);
  EXPECT_EQ(all.computed, 1u);
  EXPECT_EQ(all.cost_spent, 0.5);
  EXPECT_EQ(all.cost_saved, 1.0);
  EXPECT_EQ(all.milliseconds_saved, 4000u);
  EXPECT_EQ(all.milliseconds_spent, 2000u);
  good(cache_->clean_up());
  EXPECT_EQ(good(store_->read_statistics()).for_task(task_type::basic), all);
  EXPECT_EQ(counted(), all);
}

TEST_F(the_cache, counts_cost_and_time_of_votes_and_rounds_where_no_totals_are_given) {
  auto what = whole_analysis("x");
  what.total = {};
  const auto kept = good(cache_->put(claim(what), what));
  EXPECT_NEAR(kept.summary.cost, 0.15, 1e-9);
  EXPECT_EQ(kept.summary.duration, milliseconds(12'600));
  EXPECT_EQ(good(cache_->look_up(what.question, what.task)).status, cached_answer::cache_status::fresh);
  const auto all = counted(what.task);
  EXPECT_NEAR(all.cost_spent, 0.15, 1e-9);
  EXPECT_NEAR(all.cost_saved, 0.15, 1e-9);
  EXPECT_EQ(all.milliseconds_spent, 12'600u);
  EXPECT_EQ(all.milliseconds_saved, 12'600u);
}

TEST_F(the_cache, writes_what_it_counted_when_it_ends) {
  static_cast<void>(good(cache_->look_up(small_analysis("x").question, task_type::critical)));
  cache_.reset();
  EXPECT_EQ(good(store_->read_statistics()).for_task(task_type::critical).misses, 1u);
}

TEST_F(the_cache, stores_what_is_below_and_says_why_and_serves_it_to_nobody) {
  auto what = small_analysis("x");
  what.consensus->confidence = 0.4;
  const auto kept = good(cache_->put(claim(what), what));
  EXPECT_EQ(kept.summary.status, analysis_status::below_thresholds);
  EXPECT_EQ(kept.not_final_reason, "its confidence is 0.4, but 0.5 is the minimum for a basic task");
  EXPECT_EQ(good(cache_->look_up(what.question, what.task)).status, cached_answer::cache_status::missing);
  EXPECT_TRUE(good(cache_->get(kept.summary.id)));
  EXPECT_EQ(counted().below_thresholds, 1u);
  what.consensus->confidence = 0.9;
  what.required.confidence = 0.95;
  EXPECT_EQ(good(cache_->put(claim(what), what)).summary.status, analysis_status::below_thresholds)
      << "its own thresholds hold, too";
}

TEST_F(the_cache, keeps_each_task_as_long_as_its_policy_says) {
  options_.policy.for_task(task_type::premium) = {milliseconds(1000), milliseconds(500), {0, 0, 1}};
  make();
  auto what = small_analysis("x");
  what.task = task_type::premium;
  good(cache_->put(claim(what), what));
  clock_ += 999;
  EXPECT_EQ(good(cache_->look_up(what.question, what.task)).status, cached_answer::cache_status::fresh);
  clock_ += 1;
  EXPECT_EQ(good(cache_->look_up(what.question, what.task)).status, cached_answer::cache_status::stale);
  const auto got = good(cache_->claim(request(what)));
  EXPECT_TRUE(got.ticket) << "one computes it anew";
  EXPECT_EQ(got.answer.status, cached_answer::cache_status::stale);
  const auto other = good(cache_->claim(request(what, std::chrono::hours(1))));
  EXPECT_FALSE(other.ticket);
  EXPECT_EQ(other.answer.status, cached_answer::cache_status::stale) << "and nobody waits for that";
  clock_ += 500;
  EXPECT_EQ(good(cache_->look_up(what.question, what.task)).status, cached_answer::cache_status::computing);
  EXPECT_EQ(counted(task_type::premium).stale_hits, 3u);
}

TEST_F(the_cache, serves_no_task_what_is_too_weak_for_it) {
  options_.policy.for_task(task_type::critical).required = {0.95, 0.5, 2};
  make();
  auto what = small_analysis("x");
  good(cache_->put(claim(what), what));
  EXPECT_EQ(good(cache_->look_up(what.question, task_type::basic)).status, cached_answer::cache_status::fresh);
  const auto weak = good(cache_->look_up(what.question, task_type::critical));
  EXPECT_EQ(weak.status, cached_answer::cache_status::missing);
  EXPECT_FALSE(weak.entry);
  what.task = task_type::critical;
  const auto got = good(cache_->claim(request(what)));
  ASSERT_TRUE(got.ticket);
  EXPECT_EQ(got.answer.status, cached_answer::cache_status::missing);
  what.consensus->confidence = 0.97;
  good(cache_->put(*got.ticket, what));
  EXPECT_EQ(good(cache_->look_up(what.question, task_type::critical)).status, cached_answer::cache_status::fresh);
}

TEST_F(the_cache, remembers_failures_for_a_short_while) {
  const auto what = small_analysis("x");
  good(cache_->fail(claim(what), "all providers are down"));
  const auto got = good(cache_->look_up(what.question, what.task));
  EXPECT_EQ(got.status, cached_answer::cache_status::failed);
  EXPECT_EQ(got.failure_reason, "all providers are down");
  EXPECT_FALSE(good(cache_->claim(request(what))).ticket);
  EXPECT_EQ(counted().failures, 2u);
  clock_ += 30'001;
  EXPECT_EQ(good(cache_->look_up(what.question, what.task)).status, cached_answer::cache_status::missing);
  good(cache_->release_claim(claim(what)));
  EXPECT_EQ(good(cache_->look_up(what.question, what.task)).status, cached_answer::cache_status::missing);
}

TEST_F(the_cache, lets_those_who_wait_have_what_comes_of_it) {
  const auto what = small_analysis("x");
  const auto by = claim(what);
  std::atomic<int> fresh = 0;
  std::vector<std::jthread> all;
  for (int i = 0; i < 20; ++i)
    all.emplace_back([&] {
      fresh +=
          good(cache_->claim(request(what, hondana_test::event_deadline))).answer.status == cached_answer::cache_status::fresh
              ? 1
              : 0;
    });
  good(cache_->put_partial(by, what));
  good(cache_->put(by, what));
  all.clear();
  EXPECT_EQ(fresh, 20);
  EXPECT_EQ(counted().computed, 1u);
}

TEST_F(the_cache, gives_the_ticket_to_one_of_those_who_wait_when_it_is_given_up) {
  const auto what = small_analysis("x");
  const auto by = claim(what);
  std::atomic<int> tickets = 0, fresh = 0;
  std::vector<std::jthread> all;
  for (int i = 0; i < 8; ++i)
    all.emplace_back([&] {
      const auto got = good(cache_->claim(request(what, hondana_test::event_deadline)));
      fresh += got.answer.status == cached_answer::cache_status::fresh ? 1 : 0;
      if (!got.ticket) return;
      ++tickets;
      good(cache_->put(*got.ticket, what));
    });
  good(cache_->release_claim(by));
  all.clear();
  EXPECT_EQ(tickets, 1);
  EXPECT_EQ(fresh, 7);
}

TEST_F(the_cache, waits_no_longer_than_it_is_told_and_not_with_too_many) {
  options_.policy.max_waiting_claims = 1;
  make();
  const auto what = small_analysis("x");
  const auto by = claim(what);
  EXPECT_EQ(good(cache_->claim(request(what))).answer.status, cached_answer::cache_status::computing);
  EXPECT_EQ(good(cache_->claim(request(what, milliseconds(30)))).answer.status, cached_answer::cache_status::computing);
  std::stop_source stop;
  auto waiting = request(what, std::chrono::hours(1));
  waiting.stop = stop.get_token();
  std::atomic<bool> was_cancelled = false;
  std::jthread first([&] {
    result<claim_result> got{};
    do {
      got = cache_->claim(waiting);
    } while (!got && got.error().code == errc::overloaded);
    was_cancelled = !got && got.error().code == errc::cancelled;
  });
  // The first has to be waiting; who comes before that waits for a moment itself.
  result<claim_result> second{};
  const auto until = std::chrono::steady_clock::now() + hondana_test::event_deadline;
  do {
    static_cast<void>(
        good(store_->changes_since(good(store_->changes_since(0, milliseconds(0), {})).last_number, milliseconds(20), {})));
    second = cache_->claim(request(what, milliseconds(1)));
  } while (second && std::chrono::steady_clock::now() < until);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, errc::overloaded);
  EXPECT_TRUE(second.error().retry_after);
  stop.request_stop();
  first.join();
  EXPECT_TRUE(was_cancelled);
}

TEST_F(the_cache, refuses_leases_that_are_too_long) {
  auto what = request(small_analysis("x"));
  what.lease_ttl = std::chrono::hours(2);
  EXPECT_EQ(cache_->claim(what).error().code, errc::invalid_argument);
  const auto by = claim(small_analysis("x"));
  EXPECT_EQ(cache_->renew(by, std::chrono::hours(2)).error().code, errc::invalid_argument);
  good(cache_->renew(by, milliseconds(0)));
}

TEST_F(the_cache, puts_without_a_ticket_where_nobody_computes) {
  const auto what = small_analysis("x");
  good(cache_->put(what));
  const auto again = good(cache_->put(what));
  EXPECT_EQ(good(cache_->look_up(what.question, what.task)).entry->summary.id, again.summary.id);
  auto request_of = request(what);
  request_of.is_forced = true;
  const auto by = good(cache_->claim(request_of)).ticket;
  ASSERT_TRUE(by);
  const auto refused = cache_->put(what);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::overloaded);
  EXPECT_TRUE(refused.error().retry_after);
}

TEST_F(the_cache, forgets_what_rests_on_a_resource_that_has_changed) {
  auto what = small_analysis("x");
  what.question.context = {{"file:///x", "1"}};
  good(cache_->put(claim(what), what));
  EXPECT_EQ(good(cache_->erase_outdated("file:///x", {"1"})), 0u);
  const auto before = cache_->generation();
  EXPECT_EQ(good(cache_->erase_outdated("file:///x", {"2"})), 1u);
  EXPECT_GT(cache_->generation(), before);
  EXPECT_EQ(good(cache_->look_up(what.question, what.task)).status, cached_answer::cache_status::missing);
}

TEST_F(the_cache, tells_listeners_of_every_change_in_order_also_of_other_caches) {
  std::mutex mutex;
  std::condition_variable heard;
  std::vector<store_change::event_kind> all;
  auto token = cache_->listen([&](const store_change* what) {
    const std::lock_guard held(mutex);
    if (what != nullptr) all.push_back(what->event);
    heard.notify_all();
  });
  const auto other = good(cache::create(store_, options_));
  const auto what = small_analysis("x");
  const auto by = claim(what);
  good(other->put_partial(by, what));
  good(other->put(by, what));
  good(other->erase({.id = by.id}));
  {
    std::unique_lock held(mutex);
    ASSERT_TRUE(heard.wait_for(held, hondana_test::event_deadline, [&] { return all.size() >= 4; }));
    EXPECT_EQ(all, (std::vector{store_change::event_kind::claimed, store_change::event_kind::part,
                                store_change::event_kind::put, store_change::event_kind::removed}));
  }
  token.reset();
  static_cast<void>(claim(small_analysis("y")));
  const auto before = cache_->generation();
  EXPECT_GE(before, 4u);
  EXPECT_EQ(all.size(), 4u);
}

TEST_F(the_cache, evicts_by_itself) {
  options_.cleanup_interval = milliseconds(20);
  options_.policy.limits.max_entries = 2;
  make();
  std::set<std::string> gone;
  std::mutex mutex;
  std::condition_variable heard;
  const auto token = cache_->listen([&](const store_change* what) {
    if (what == nullptr || what->event != store_change::event_kind::removed) return;
    const std::lock_guard held(mutex);
    gone.insert(what->id);
    heard.notify_all();
  });
  std::set<std::string> oldest;
  for (int i = 0; i < 5; ++i) {
    const auto id = good(cache_->put(small_analysis("p" + std::to_string(i)))).summary.id;
    if (i < 3) oldest.insert(id);
    ++clock_;
  }
  std::unique_lock held(mutex);
  ASSERT_TRUE(heard.wait_for(held, hondana_test::event_deadline, [&] { return gone.size() >= 3; }));
  EXPECT_EQ(gone, oldest);
}

TEST(policies_of_a_cache, that_make_no_sense_are_refused) {
  const auto store = good(open_embedded({}));
  const auto refused = [&](const std::function<void(cache_options&)>& change) {
    cache_options how;
    change(how);
    const auto made = cache::create(store, how);
    return made ? std::string("made") : made.error().public_text;
  };
  EXPECT_EQ(refused([](auto&) {}), "made");
  EXPECT_EQ(refused([](auto& how) { how.policy.for_task(task_type::premium).fresh_ttl = milliseconds(0); }),
            "the time that analyses of premium tasks are fresh must be above 0 and at most 10 years");
  EXPECT_EQ(refused([](auto& how) { how.policy.for_task(task_type::basic).required.confidence = 7; }),
            "the lowest confidence and consensus of basic tasks must be from 0 to 1");
  EXPECT_NE(refused([](auto& how) { how.policy.lease_ttl = std::chrono::hours(2); }), "made");
  EXPECT_NE(refused([](auto& how) { how.policy.limits.max_bytes = 1; }), "made");
  EXPECT_NE(refused([](auto& how) { how.cleanup_interval = milliseconds(0); }), "made");
}

TEST_F(the_cache, does_not_ask_again_soon_where_what_is_there_is_too_weak) {
  options_.policy.for_task(task_type::critical).required = {0.95, 0.5, 2};
  make();
  auto what = small_analysis("x");
  good(cache_->put(claim(what), what));
  what.task = task_type::critical;
  good(cache_->fail(claim(what), "all are down"));
  const auto failed = good(cache_->claim(request(what)));
  EXPECT_FALSE(failed.ticket);
  EXPECT_EQ(failed.answer.status, cached_answer::cache_status::failed);
  EXPECT_EQ(failed.answer.failure_reason, "all are down");
  EXPECT_FALSE(failed.answer.entry);
  auto forced = request(what);
  forced.is_forced = true;
  EXPECT_TRUE(good(cache_->claim(forced)).ticket);
}

TEST_F(the_cache, has_nothing_of_what_is_hidden_from_a_claimant) {
  const auto what = small_analysis("x");
  good(cache_->put(claim(what), what));
  auto wanted = request(what);
  wanted.is_hidden = [](const analysis_summary&) { return true; };
  const auto first = good(cache_->claim(wanted));
  ASSERT_TRUE(first.ticket);
  EXPECT_FALSE(first.answer.entry);
  const auto second = good(cache_->claim(wanted));
  EXPECT_EQ(second.answer.status, cached_answer::cache_status::computing);
  EXPECT_FALSE(second.answer.entry);
  EXPECT_TRUE(second.answer.claim);
  EXPECT_EQ(counted().hits, 0u);
}

}  // namespace
}  // namespace hondana::analyses
