/// Watches taken up again, what they missed, and how they end.
#include <gtest/gtest.h>

#include <future>

#include <hondana/clock.hpp>

#include "client/watch_registry.hpp"
#include "unit/client/ear.hpp"

namespace hondana::test {
namespace {

using question = scripted_server::heard;

const failure broke{errc::source_unavailable, "the connection broke", {}};

/// A server whose resources all have the same text, which clients may cache for an hour.
class library {
 public:
  std::atomic<const char*> text = "before";
  scripted_server server{[this](scripted_server& of, const question& one) {
    if (one.method == "server/discover") return of.result(one, modern_self);
    if (one.method == "subscriptions/listen") return acknowledge(of, one);
    if (one.method != "resources/read") return;
    of.result(one, R"({"resultType":"complete","ttlMs":3600000,"cacheScope":"private","contents":[{"uri":")" +
                       *one.param("uri")->as_string() + R"(","text":")" + text.load() + R"("}]})");
  }};
};

TEST(keeping, tells_every_watch_of_a_uri_what_it_missed) {
  library of;
  ear first;
  ear second;
  opened_engine engine(of.server);
  ASSERT_TRUE(engine->watches().add({.uris = {"x:a"}}, first.handler(), {}));
  ASSERT_TRUE(engine->watches().add({.uris = {"x:a"}}, second.handler(), {}));
  ASSERT_TRUE(engine->read("x:a", {}, {}, {}));
  of.text = "after";
  of.server.break_off(broke);
  EXPECT_TRUE(first.hears(watch_event_kind::resource, "x:a", true));
  EXPECT_TRUE(second.hears(watch_event_kind::resource, "x:a", true));
}

TEST(keeping, tells_what_was_missed_even_if_the_application_reads_it_first) {
  library of;
  ear news;
  opened_engine engine(of.server);
  std::promise<void> has_read;
  const auto hear = news.handler();
  ASSERT_TRUE(engine->watches().add({.uris = {"x:a"}},
                                    [&](const watch_event& one) {
                                      if (one.kind == watch_event_kind::connection_lost) {
                                        EXPECT_TRUE(engine->read("x:a", {}, {}, {}));
                                        has_read.set_value();
                                      }
                                      hear(one);
                                    },
                                    {}));
  ASSERT_TRUE(engine->read("x:a", {}, {}, {}));
  of.text = "after";
  of.server.break_off(broke);
  ASSERT_EQ(has_read.get_future().wait_for(hondana_test::event_deadline), std::future_status::ready);
  EXPECT_TRUE(news.hears(watch_event_kind::resource, "x:a", true));
}

TEST(keeping, forgets_answers_from_before_a_loss) {
  library of;
  ear news;
  opened_engine engine(of.server);
  ASSERT_TRUE(engine->watches().add({.resource_list = true}, news.handler(), {}));
  ASSERT_TRUE(engine->read("x:other", {}, {}, {}));
  ASSERT_TRUE(engine->read("x:other", {}, {}, {})->is_from_cache);
  of.text = "after";
  of.server.break_off(broke);
  ASSERT_TRUE(news.hears(watch_event_kind::connection_restored));
  const auto now = engine->read("x:other", {}, {}, {});
  ASSERT_TRUE(now);
  EXPECT_EQ(now->contents.at(0).bytes, "after");
}

/// Ends each stream as soon as it stands.
void end_at_once(scripted_server& of, const question& one) {
  if (one.method == "server/discover") return of.result(one, modern_self);
  if (one.method != "subscriptions/listen") return;
  acknowledge(of, one);
  of.result(one, R"({"resultType":"complete"})");
}

TEST(keeping, waits_longer_each_time_for_a_stream_that_ends_at_once) {
  manual_clock clock;
  scripted_server server(end_at_once);
  ear news;
  opened_engine engine(server);
  const auto began = monotonic_clock::now();
  ASSERT_TRUE(engine->watches().add({.resource_list = true}, news.handler(), {}));
  ASSERT_TRUE(hondana_test::eventually([&] {
    clock.advance(std::chrono::milliseconds(10));
    return server.all("subscriptions/listen").size() >= 5;
  }));
  // Half of 100, 200, 400 and 800 ms at least.
  EXPECT_GE(monotonic_clock::now() - began, std::chrono::milliseconds(750));
}

TEST(keeping, does_not_wait_longer_after_a_stream_that_stood) {
  manual_clock clock;
  scripted_server server([](scripted_server& of, const question& one) {
    end_at_once(of, one);
    if (one.method == "subscriptions/listen") of.say(0, "ended");
  });
  client_options options;
  // The longest first pause each time: with doubling pauses the third attempt would not come.
  options.on_message = [&clock](message_direction, std::string_view message) {
    if (message == "ended") clock.advance(std::chrono::milliseconds(100));
  };
  ear news;
  opened_engine engine(server, std::move(options));
  engine->watches().set_timing({.min_lifetime = std::chrono::milliseconds(0)});
  ASSERT_TRUE(engine->watches().add({.resource_list = true}, news.handler(), {}));
  EXPECT_TRUE(server.waits_for("subscriptions/listen", 10));
}

TEST(keeping, tells_what_waited_for_room_without_more_news) {
  library of;
  std::promise<void> waits;
  client_options options;
  options.log = [&, was_told = false](std::string_view line) mutable {
    if (line.starts_with("change notifications are delayed") && !std::exchange(was_told, true)) waits.set_value();
  };
  std::promise<void> open;
  ear news;
  opened_engine engine(of.server, std::move(options));
  ASSERT_TRUE(engine->watches().add({.resource_list = true}, news.handler(), {}));
  std::promise<void> is_held;
  ASSERT_TRUE(engine->schedule([&is_held, gate = open.get_future().share()] {
    is_held.set_value();
    gate.wait();
  }));
  ASSERT_EQ(is_held.get_future().wait_for(hondana_test::event_deadline), std::future_status::ready);
  while (engine->schedule([] {})) {
  }
  of.server.say(0, R"({"jsonrpc":"2.0","method":"notifications/resources/list_changed"})");
  const auto told = waits.get_future().wait_for(hondana_test::event_deadline);
  open.set_value();
  ASSERT_EQ(told, std::future_status::ready);
  EXPECT_TRUE(news.hears(watch_event_kind::resource_list));
}

TEST(keeping, takes_a_busy_server_for_there_and_a_silent_one_for_gone) {
  static constexpr std::chrono::milliseconds between_pings{500};
  manual_clock clock;
  std::atomic<bool> is_silent = false;
  scripted_server server(
      [&, pings = 0](scripted_server& of, const question& one) mutable {
        if (one.method == "initialize") return of.result(one, older_self("2025-11-25"));
        if (one.method == "server/discover") return of.error(one, -32601, "no");
        if (one.method == "ping" && (is_silent || ++pings % 2 == 1)) return clock.advance(between_pings);
        if (one.method == "ping") {
          of.error(one, -32000, "busy");
          return of.say(0, "answered");
        }
        if (one.sent.call != 0) of.result(one, "{}");
      },
      true);
  client_options options;
  options.on_message = [&clock](message_direction, std::string_view message) {
    if (message == "answered") clock.advance(between_pings);
  };
  ear news;
  const auto hear = news.handler();
  opened_engine engine(server, std::move(options));
  engine->watches().set_timing({.ping_interval = between_pings});
  ASSERT_TRUE(engine->watches().add({.uris = {"x:a"}},
                                    [&](const watch_event& one) {
                                      if (one.kind == watch_event_kind::connection_lost)
                                        clock.advance(std::chrono::milliseconds(100));
                                      hear(one);
                                    },
                                    {}));
  // In steps that are too short for a ping to time out: when the first one is due is not announced.
  ASSERT_TRUE(hondana_test::eventually([&] {
    if (!server.all("ping").empty()) return true;
    clock.advance(std::chrono::milliseconds(20));
    return false;
  }));
  ASSERT_TRUE(server.waits_for("ping", 5));
  EXPECT_FALSE(news.was_lost());
  is_silent = true;
  EXPECT_TRUE(news.waits_for([](const watch_event& one) { return one.kind == watch_event_kind::connection_lost; }));
  EXPECT_TRUE(news.hears(watch_event_kind::connection_restored));
}

TEST(keeping, does_not_ask_a_server_whose_connection_tells_when_it_ends) {
  scripted_server server([](scripted_server& of, const question& one) {
    if (one.method == "initialize") return of.result(one, older_self("2025-11-25"));
    if (one.method == "server/discover") return of.error(one, -32601, "no");
    if (one.sent.call != 0) of.result(one, "{}");
  });
  ear news;
  opened_engine engine(server);
  engine->watches().set_timing({.ping_interval = std::chrono::milliseconds(1)});
  ASSERT_TRUE(engine->watches().add({.uris = {"x:a"}}, news.handler(), {}));
  for (int round = 0; round < 200; ++round) ASSERT_TRUE(engine->call({.message = asking::subscribe("x:b")}, {}));
  EXPECT_TRUE(server.all("ping").empty());
}

TEST(keeping, is_not_held_up_by_a_watch_that_ends_while_it_is_taken_up) {
  std::promise<void> is_waiting;
  scripted_server server([&is_waiting, listens = 0](scripted_server& of, const question& one) mutable {
    if (one.method == "server/discover") return of.result(one, modern_self);
    if (one.method != "subscriptions/listen") return;
    if (++listens == 2) return is_waiting.set_value();
    acknowledge(of, one);
  });
  ear gone;
  ear news;
  opened_engine engine(server);
  const auto first = engine->watches().add({.resource_list = true}, gone.handler(), {});
  ASSERT_TRUE(first);
  server.break_off(broke);
  ASSERT_EQ(is_waiting.get_future().wait_for(hondana_test::event_deadline), std::future_status::ready);
  engine->watches().remove(*first);
  const auto second = engine->watches().add({.resource_list = true}, news.handler(), {});
  ASSERT_TRUE(second) << second.error().public_text;
  server.break_off(broke);
  EXPECT_TRUE(news.hears(watch_event_kind::connection_restored));
}

TEST(keeping, ends_at_once_whatever_it_is_doing) {
  // Time stands still afterwards: a wait for the read would never end.
  manual_clock clock;
  std::atomic<bool> is_stuck = false;
  scripted_server server([&is_stuck](scripted_server& of, const question& one) {
    if (one.method == "server/discover") return of.result(one, modern_self);
    if (one.method == "subscriptions/listen") return acknowledge(of, one);
    if (one.method == "resources/read" && !is_stuck)
      of.result(one, R"({"resultType":"complete","contents":[{"uri":"x:a","text":"1"}]})");
  });
  opened_engine engine(server);
  ASSERT_TRUE(engine->watches().add({.uris = {"x:a"}},
                                    [&clock](const watch_event& one) {
                                      if (one.kind == watch_event_kind::connection_lost)
                                        clock.advance(std::chrono::milliseconds(100));
                                    },
                                    {}));
  ASSERT_TRUE(engine->read("x:a", {}, {}, {}));
  is_stuck = true;
  server.break_off(broke);
  ASSERT_TRUE(server.waits_for("resources/read", 2));
  engine->close();
  EXPECT_EQ(engine->call({.message = asking::ping()}, {}).error().code, errc::cancelled);
}

TEST(keeping, ends_after_the_handler_that_is_running) {
  library of;
  opened_engine engine(of.server);
  std::promise<void> began;
  std::atomic<bool> has_finished = false;
  ASSERT_TRUE(engine->watches().add({.resource_list = true},
                                    [&](const watch_event& one) {
                                      if (one.kind != watch_event_kind::resource_list) return;
                                      began.set_value();
                                      // Until the end has begun; then as long as a slow handler takes.
                                      while (const auto more =
                                                 engine->watches().add({.uris = {"x:a"}}, [](const watch_event&) {}, {}))
                                        engine->watches().remove(*more);
                                      for (int i = 0; i < 1'000; ++i) std::this_thread::yield();
                                      has_finished = true;
                                    },
                                    {}));
  of.server.say(0, R"({"jsonrpc":"2.0","method":"notifications/resources/list_changed"})");
  ASSERT_EQ(began.get_future().wait_for(hondana_test::event_deadline), std::future_status::ready);
  engine->close();
  EXPECT_TRUE(has_finished);
}

}  // namespace
}  // namespace hondana::test
