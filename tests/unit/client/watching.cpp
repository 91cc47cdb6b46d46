/// Watches: acknowledged, told, lost and taken up again.
#include <gtest/gtest.h>

#include <future>

#include "client/watch_registry.hpp"
#include "unit/client/ear.hpp"

namespace hondana::test {
namespace {

using heard = scripted_server::heard;

TEST(watching, hears_what_its_stream_tells) {
  scripted_server server([](scripted_server& of, const heard& one) {
    if (one.method == "server/discover") return of.result(one, modern_self);
    if (one.method != "subscriptions/listen") return;
    EXPECT_TRUE(one.sent.is_subscription);
    acknowledge(of, one);
    of.say(one.sent.call, tagged(one, "notifications/resources/updated", R"("uri":"x:a")"));
    of.say(one.sent.call, tagged(one, "notifications/resources/list_changed", ""));
    of.say(one.sent.call, R"({"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":5}})");
  });
  ear news;
  opened_engine engine(server);
  const auto watch = engine->watches().add({.uris = {"x:a"}, .resource_list = true}, news.handler(), {});
  ASSERT_TRUE(watch) << watch.error().public_text;
  EXPECT_TRUE(news.hears(watch_event_kind::resource, "x:a"));
  EXPECT_TRUE(news.hears(watch_event_kind::resource_list));
  EXPECT_EQ(engine->watches().accepted(**watch).uris, (std::vector<std::string>{"x:a"}));
  engine->watches().remove(*watch);
  ASSERT_TRUE(server.waits_for("notifications/cancelled", 1));
}

TEST(watching, says_what_the_server_refuses) {
  scripted_server server([](scripted_server& of, const heard& one) {
    if (one.method == "server/discover") return of.result(one, modern_self);
    of.error(one, -32601, "Method not found");
  });
  ear news;
  opened_engine engine(server);
  const auto watch = engine->watches().add({.resource_list = true}, news.handler(), {});
  ASSERT_FALSE(watch);
  EXPECT_EQ(watch.error().code, errc::unsupported);
  EXPECT_EQ(engine->watches().add({}, news.handler(), {}).error().code, errc::invalid_argument);
  EXPECT_EQ(engine->watches().add({.resource_list = true}, {}, {}).error().code, errc::invalid_argument);
}

TEST(watching, gives_up_on_a_server_that_never_acknowledges) {
  scripted_server server([](scripted_server& of, const heard& one) {
    if (one.method == "server/discover") of.result(one, modern_self);
  });
  ear news;
  opened_engine engine(server);
  ASSERT_TRUE(engine->open());
  const auto watch = engine->watches().add({.resource_list = true}, news.handler(), {.timeout = std::chrono::milliseconds(50)});
  ASSERT_FALSE(watch);
  EXPECT_EQ(watch.error().code, errc::timed_out);
  EXPECT_EQ(server.abandoned().size(), 1u);
}

TEST(watching, is_taken_up_again_and_finds_what_was_missed) {
  std::atomic<bool> has_changed = false;
  scripted_server server([&has_changed](scripted_server& of, const heard& one) {
    if (one.method == "server/discover") return of.result(one, modern_self);
    if (one.method == "subscriptions/listen") return acknowledge(of, one);
    if (one.method != "resources/read") return;
    const auto uri = *one.param("uri")->as_string();
    const std::string text = uri == "x:b" && has_changed ? "after" : "before";
    of.result(one, R"({"contents":[{"uri":")" + uri + R"(","text":")" + text + R"("}]})");
  });
  ear news;
  opened_engine engine(server);
  const auto watch = engine->watches().add({.uris = {"x:a", "x:b", "x:c"}, .resource_list = true}, news.handler(), {});
  ASSERT_TRUE(watch);
  ASSERT_TRUE(engine->read("x:a", {}, {}, {}));
  ASSERT_TRUE(engine->read("x:b", {}, {}, {}));
  has_changed = true;
  server.break_off({errc::source_unavailable, "the connection broke", {}});
  EXPECT_TRUE(news.waits_for([](const watch_event& one) {
    return one.kind == watch_event_kind::connection_lost && one.reason == "the connection broke";
  }));
  EXPECT_TRUE(news.hears(watch_event_kind::connection_restored));
  EXPECT_TRUE(news.hears(watch_event_kind::resource, "x:b", true));  // it has changed
  EXPECT_TRUE(news.hears(watch_event_kind::resource, "x:c", true));  // it was never read, so that nobody knows
  EXPECT_TRUE(news.hears(watch_event_kind::resource_list, "", true));
  // The list is told last: what has not been told by now is not told.
  EXPECT_FALSE(news.has([](const watch_event& one) { return one.uri == "x:a" || (one.uri == "x:b" && !one.was_missed); }));
  EXPECT_EQ(server.all("subscriptions/listen").size(), 2u);
}

TEST(watching, is_told_once_that_the_server_refuses_it_and_goes_on_when_it_does_no_more) {
  std::atomic<int> asked = 0;
  scripted_server server([&asked](scripted_server& of, const heard& one) {
    if (one.method == "server/discover") return of.result(one, modern_self);
    if (one.method != "subscriptions/listen") return;
    const int which = asked++;
    if (which == 0 || which == 3) return acknowledge(of, one);
    channel::termination how;
    how.http_status = 401;
    of.end(one.sent.call, how);
  });
  ear news;
  opened_engine engine(server);
  const auto watch = engine->watches().add({.uris = {"x:a"}}, news.handler(), {});
  ASSERT_TRUE(watch);
  server.break_off({errc::source_unavailable, "the connection broke", {}});
  EXPECT_TRUE(news.waits_for([](const watch_event& one) {
    return one.kind == watch_event_kind::subscription_rejected && one.reason.find("HTTP 401") != std::string::npos;
  }));
  EXPECT_TRUE(news.hears(watch_event_kind::connection_restored));
  EXPECT_EQ(news.count([](const watch_event& one) { return one.kind == watch_event_kind::subscription_rejected; }), 1);
}

TEST(watching, of_older_servers_subscribes_once_a_uri_and_again_after_a_loss) {
  scripted_server server([](scripted_server& of, const heard& one) {
    if (one.method == "initialize") return of.result(one, older_self("2025-06-18"));
    if (one.method == "server/discover") return of.error(one, -32601, "no");
    if (one.sent.call != 0) of.result(one, "{}");
  });
  ear first_news;
  ear second_news;
  opened_engine engine(server);
  const auto first = engine->watches().add({.uris = {"x:dir"}}, first_news.handler(), {});
  ASSERT_TRUE(first) << first.error().public_text;
  const auto second = engine->watches().add({.uris = {"x:dir"}, .resource_list = true}, second_news.handler(), {});
  ASSERT_TRUE(second);
  server.say(0, R"({"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"x:dir/part","title":"Part"}})");
  EXPECT_TRUE(first_news.hears(watch_event_kind::resource, "x:dir/part"));
  EXPECT_TRUE(second_news.hears(watch_event_kind::resource, "x:dir/part"));
  server.say(0, R"({"jsonrpc":"2.0","method":"notifications/resources/list_changed"})");
  EXPECT_TRUE(second_news.hears(watch_event_kind::resource_list));

  server.break_off({errc::source_unavailable, "gone", {}});
  EXPECT_TRUE(first_news.hears(watch_event_kind::connection_restored));
  EXPECT_TRUE(second_news.hears(watch_event_kind::connection_restored));
  // One for each session, whoever wants it.
  EXPECT_EQ(server.all("initialize").size(), 2u);
  EXPECT_EQ(server.all("resources/subscribe").size(), 2u);

  engine->watches().remove(*first);
  EXPECT_TRUE(server.all("resources/unsubscribe").empty());  // the other still wants it
  engine->watches().remove(*second);
  EXPECT_TRUE(server.waits_for("resources/unsubscribe", 1));
}

TEST(watching, of_older_servers_hears_of_what_they_spell_canonically_and_it_does_not) {
  scripted_server server([](scripted_server& of, const heard& one) {
    if (one.method == "initialize") return of.result(one, older_self("2025-06-18"));
    if (one.method == "server/discover") return of.error(one, -32601, "no");
    if (one.sent.call != 0) of.result(one, "{}");
  });
  ear news;
  opened_engine engine(server);
  const auto watch = engine->watches().add({.uris = {"x:本", "x:%zz"}}, news.handler(), {});
  ASSERT_TRUE(watch) << watch.error().public_text;
  EXPECT_EQ(engine->watches().accepted(**watch).uris, (std::vector<std::string>{"x:本", "x:%zz"}));
  server.say(0, R"({"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"x:%E6%9C%AC/part"}})");
  EXPECT_TRUE(news.hears(watch_event_kind::resource, "x:%E6%9C%AC/part"));
}

TEST(watching, of_older_servers_finds_what_an_interrupted_stream_did_not_tell) {
  scripted_server server([](scripted_server& of, const heard& one) {
    if (one.method == "initialize") return of.result(one, older_self("2025-11-25"));
    if (one.method == "server/discover") return of.error(one, -32601, "no");
    if (one.method == "resources/read") {
      const bool is_first = of.all("resources/read").size() <= 2;
      const auto uri = *one.param("uri")->as_string();
      return of.result(
          one, R"({"contents":[{"uri":")" + uri + R"(","text":")" + (is_first || uri == "x:same" ? "1" : "2") + "\"}]}");
    }
    if (one.sent.call != 0) of.result(one, "{}");
  });
  ear news;
  opened_engine engine(server);
  const auto watch = engine->watches().add({.uris = {"x:same", "x:other"}, .resource_list = true}, news.handler(), {});
  ASSERT_TRUE(watch);
  ASSERT_TRUE(engine->read("x:same", {}, {}, {}));
  ASSERT_TRUE(engine->read("x:other", {}, {}, {}));
  server.interrupt();
  EXPECT_TRUE(news.hears(watch_event_kind::resource, "x:other", true));
  EXPECT_TRUE(news.hears(watch_event_kind::resource_list, "", true));
  EXPECT_FALSE(
      news.has([](const watch_event& one) { return one.uri == "x:same" || one.kind == watch_event_kind::connection_lost; }));
}

TEST(watching, is_not_held_up_by_a_server_that_does_not_answer_its_end) {
  scripted_server server([](scripted_server& of, const heard& one) {
    if (one.method == "initialize") return of.result(one, older_self("2025-06-18"));
    if (one.method == "server/discover") return of.error(one, -32601, "no");
    if (one.sent.call != 0 && one.method != "resources/unsubscribe") of.result(one, "{}");
  });
  client_options options;
  options.max_calls = 20;
  ear news;
  opened_engine engine(server, std::move(options));
  for (int round = 0; round < 60; ++round) {
    const auto watch = engine->watches().add({.uris = {"x:" + std::to_string(round)}}, news.handler(), {});
    ASSERT_TRUE(watch) << round << watch.error().public_text;
    engine->watches().remove(*watch);
  }
  EXPECT_TRUE(engine->call({.message = asking::ping()}, {}));
}

TEST(watching, never_calls_a_handler_that_is_gone) {
  scripted_server* far = nullptr;
  scripted_server server([](scripted_server& of, const heard& one) {
    if (one.method == "server/discover") return of.result(one, modern_self);
    if (one.method == "subscriptions/listen") acknowledge(of, one);
  });
  far = &server;
  opened_engine engine(server);
  for (int round = 0; round < 50; ++round) {
    auto calls = std::make_unique<std::atomic<int>>(0);
    const auto watch = engine->watches().add({.uris = {"x:a"}}, [&calls](const watch_event&) { ++*calls; }, {});
    ASSERT_TRUE(watch);
    const auto stream = server.all("subscriptions/listen").back();
    for (int i = 0; i < 20; ++i)
      far->say(stream.sent.call, tagged(stream, "notifications/resources/updated", R"("uri":"x:a")"));
    engine->watches().remove(*watch);
    calls.reset();  // a handler called now would touch freed memory
  }
}

TEST(watching, may_be_ended_by_its_own_handler) {
  scripted_server server([](scripted_server& of, const heard& one) {
    if (one.method == "server/discover") return of.result(one, modern_self);
    if (one.method == "subscriptions/listen") acknowledge(of, one);
  });
  opened_engine engine(server);
  std::promise<std::shared_ptr<outbound::watch_entry>> made;
  std::promise<void> ended;
  auto known = made.get_future().share();
  const auto watch = engine->watches().add({.uris = {"x:a"}},
                                           [&](const watch_event&) {
                                             engine->watches().remove(known.get());
                                             ended.set_value();
                                           },
                                           {});
  ASSERT_TRUE(watch);
  made.set_value(*watch);
  const auto stream = server.all("subscriptions/listen").back();
  server.say(stream.sent.call, tagged(stream, "notifications/resources/updated", R"("uri":"x:a")"));
  EXPECT_EQ(ended.get_future().wait_for(hondana_test::event_deadline), std::future_status::ready);
}

}  // namespace
}  // namespace hondana::test
