/// Subscribing: what is taken on, taken back and refused, and a session that ends meanwhile.
#include <gtest/gtest.h>

#include <future>
#include <set>

#include <hondana/clock.hpp>

#include "client/watch_registry.hpp"
#include "unit/client/ear.hpp"

namespace hondana::test {
namespace {

using message = scripted_server::heard;

/// Opens a session; true when that was all `one` wanted.
bool opens_session(scripted_server& of, const message& one) {
  if (one.method == "initialize") {
    of.result(one, older_self("2025-11-25"));
  } else if (one.method == "server/discover") {
    of.error(one, -32601, "no");
  } else {
    return false;
  }
  return true;
}

std::string uri_of(const message& one) { return *one.param("uri")->as_string(); }

std::vector<std::string> uris_of(const std::vector<message>& all) {
  std::vector<std::string> out;
  out.reserve(all.size());
  for (const auto& one : all) out.push_back(uri_of(one));
  return out;
}

TEST(subscribing, is_not_taken_back_while_somebody_subscribes_it_again) {
  std::optional<message> first_end;
  std::optional<message> last_begin;
  scripted_server server([&](scripted_server& of, const message& one) {
    if (opens_session(of, one) || one.sent.call == 0) return;
    if (one.method == "resources/unsubscribe" && uri_of(one) == "x:0") {
      first_end = one;
      return;
    }
    if (one.method == "resources/subscribe" && uri_of(one) == "x:9") {
      // Only now does the client get to what else was let go.
      last_begin = one;
      return of.result(*first_end, "{}");
    }
    of.result(one, "{}");
    if (one.method == "resources/unsubscribe" && uri_of(one) == "x:2") of.result(*last_begin, "{}");
  });
  ear news;
  opened_engine engine(server);
  std::vector<std::shared_ptr<outbound::watch_entry>> old;
  for (const char* uri : {"x:0", "x:1", "x:2"}) {
    const auto made = engine->watches().add({.uris = {uri}}, news.handler(), {});
    ASSERT_TRUE(made);
    old.push_back(*made);
  }
  engine->watches().remove(old[0]);
  ASSERT_TRUE(server.waits_for("resources/unsubscribe", 1));
  engine->watches().remove(old[1]);
  engine->watches().remove(old[2]);
  const auto again = engine->watches().add({.uris = {"x:1", "x:9"}}, news.handler(), {});
  ASSERT_TRUE(again) << again.error().public_text;
  EXPECT_EQ(uris_of(server.all("resources/unsubscribe")), (std::vector<std::string>{"x:0", "x:2"}));
}

TEST(subscribing, is_not_taken_back_while_it_is_watched_in_another_spelling) {
  scripted_server server([](scripted_server& of, const message& one) {
    if (!opens_session(of, one) && one.sent.call != 0) of.result(one, "{}");
  });
  ear news;
  opened_engine engine(server);
  const auto watch = [&](const char* uri) {
    auto made = engine->watches().add({.uris = {uri}}, news.handler(), {});
    EXPECT_TRUE(made) << uri;
    return made.value_or(nullptr);
  };
  const auto other = watch("X:a");
  const auto canonical = watch("x:a");
  engine->watches().remove(other);
  // Taken back behind whatever was let go before it.
  engine->watches().remove(watch("x:z"));
  ASSERT_TRUE(server.waits_for("resources/unsubscribe", 1));
  EXPECT_EQ(uris_of(server.all("resources/unsubscribe")), (std::vector<std::string>{"x:z"}));
  const auto again = watch("X:a");
  EXPECT_EQ(uris_of(server.all("resources/subscribe")), (std::vector<std::string>{"X:a", "x:a", "x:z"})) << "it still stands";
  engine->watches().remove(canonical);
  engine->watches().remove(watch("x:z"));
  ASSERT_TRUE(server.waits_for("resources/unsubscribe", 2));
  EXPECT_EQ(uris_of(server.all("resources/unsubscribe")), (std::vector<std::string>{"x:z", "x:z"}));
  engine->watches().remove(again);
  ASSERT_TRUE(server.waits_for("resources/unsubscribe", 4));
}

TEST(subscribing, is_taken_back_though_its_other_spelling_is_refused) {
  std::optional<message> refused;
  scripted_server server([&](scripted_server& of, const message& one) {
    if (opens_session(of, one) || one.sent.call == 0) return;
    if (one.method == "resources/subscribe" && uri_of(one) == "x:a") {
      refused = one;
      return;
    }
    of.result(one, "{}");
    // By now the subscription of the first spelling has had its turn to be taken back, and was wanted in the other.
    if (one.method == "resources/unsubscribe" && uri_of(one) == "x:z") of.error(*refused, -32002, "there is no x:a");
  });
  ear news;
  opened_engine engine(server);
  const auto first = engine->watches().add({.uris = {"X:a"}}, news.handler(), {});
  const auto last = engine->watches().add({.uris = {"x:z"}}, news.handler(), {});
  ASSERT_TRUE(first && last);
  auto other = std::async(std::launch::async, [&] { return engine->watches().add({.uris = {"x:a"}}, news.handler(), {}); });
  ASSERT_TRUE(server.waits_for("resources/subscribe", 3));
  engine->watches().remove(*first);
  engine->watches().remove(*last);
  EXPECT_FALSE(other.get());
  ASSERT_TRUE(server.waits_for("resources/unsubscribe", 2));
  EXPECT_EQ(uris_of(server.all("resources/unsubscribe")), (std::vector<std::string>{"x:z", "X:a"}));
}

TEST(subscribing, waits_until_it_is_known_how_taking_it_back_ended) {
  manual_clock clock;
  std::atomic<bool> is_over_first = false;
  std::atomic<bool> was_given_up = false;
  scripted_server server([&](scripted_server& of, const message& one) {
    if (one.method == "notifications/cancelled") was_given_up = true;
    if (opens_session(of, one) || one.sent.call == 0 || one.method == "resources/unsubscribe") return;
    if (one.method == "resources/subscribe") is_over_first = was_given_up.load();
    of.result(one, "{}");
  });
  ear news;
  opened_engine engine(server);
  const auto first = engine->watches().add({.uris = {"x:a"}}, news.handler(), {});
  ASSERT_TRUE(first);
  engine->watches().remove(*first);
  ASSERT_TRUE(server.waits_for("resources/unsubscribe", 1));
  auto second = std::async(std::launch::async, [&] { return engine->watches().add({.uris = {"x:a"}}, news.handler(), {}); });
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(engine->call({.message = asking::ping()}, {}));
  EXPECT_EQ(server.all("resources/subscribe").size(), 1u);
  clock.advance(std::chrono::seconds(2));
  ASSERT_TRUE(second.get());
  EXPECT_TRUE(is_over_first);
}

TEST(subscribing, begins_anew_when_the_session_ends_meanwhile) {
  std::set<std::string> now;
  bool has_ended = false;
  scripted_server server([&](scripted_server& of, const message& one) {
    if (one.method == "initialize") now.clear();
    if (opens_session(of, one) || one.sent.call == 0) return;
    if (one.method != "resources/subscribe") return of.result(one, "{}");
    if (uri_of(one) == "x:b" && !std::exchange(has_ended, true)) {
      channel::termination how;
      how.http_status = 404;
      how.session_has_ended = true;
      return of.end(one.sent.call, how);
    }
    now.insert(uri_of(one));
    of.result(one, "{}");
  });
  ear news;
  opened_engine engine(server);
  const auto watch = engine->watches().add({.uris = {"x:a", "x:b", "x:c"}}, news.handler(), {});
  ASSERT_TRUE(watch) << watch.error().public_text;
  EXPECT_EQ(server.all("initialize").size(), 2u);
  EXPECT_EQ(now, (std::set<std::string>{"x:a", "x:b", "x:c"}));
  EXPECT_FALSE(news.was_lost());
}

TEST(subscribing, of_which_a_part_is_refused_takes_the_rest_back) {
  scripted_server server([](scripted_server& of, const message& one) {
    if (opens_session(of, one) || one.sent.call == 0) return;
    if (one.method == "resources/subscribe" && uri_of(one) == "x:none") return of.error(one, -32002, "there is none");
    of.result(one, "{}");
  });
  ear news;
  opened_engine engine(server);
  const auto watch = engine->watches().add({.uris = {"x:a", "x:none"}}, news.handler(), {});
  ASSERT_FALSE(watch);
  EXPECT_EQ(watch.error().code, errc::resource_not_found);
  ASSERT_TRUE(server.waits_for("resources/unsubscribe", 1));
  EXPECT_EQ(uris_of(server.all("resources/unsubscribe")), (std::vector<std::string>{"x:a"}));
}

TEST(subscribing, to_lists_an_older_server_does_not_tell_of_is_not_honoured) {
  scripted_server server([](scripted_server& of, const message& one) {
    if (!opens_session(of, one) && one.sent.call != 0) of.result(one, "{}");
  });
  ear news;
  opened_engine engine(server);
  const auto some = engine->watches().add({.resource_list = true, .tool_list = true, .prompt_list = true}, news.handler(), {});
  ASSERT_TRUE(some);
  const auto honoured = engine->watches().accepted(**some);
  EXPECT_TRUE(honoured.resource_list);
  EXPECT_FALSE(honoured.tool_list);
  EXPECT_FALSE(honoured.prompt_list);
  const auto none = engine->watches().add({.tool_list = true}, news.handler(), {});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, errc::unsupported);
}

TEST(subscribing, to_nothing_that_the_server_honours_is_unsupported) {
  scripted_server server([](scripted_server& of, const message& one) {
    if (one.method == "server/discover") return of.result(one, modern_self);
    if (one.method == "subscriptions/listen")
      of.say(one.sent.call, tagged(one, "notifications/subscriptions/acknowledged", R"("notifications":{})"));
  });
  ear news;
  opened_engine engine(server);
  const auto watch = engine->watches().add({.resource_list = true}, news.handler(), {});
  ASSERT_FALSE(watch);
  EXPECT_EQ(watch.error().code, errc::unsupported);
  EXPECT_EQ(server.abandoned().size(), 1u);
}

std::string cancelled(const message& stream) {
  return R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":)" + std::to_string(stream.sent.call) +
         "}}";
}

TEST(subscribing, is_over_when_the_server_cancels_it_and_leaves_nothing_behind) {
  scripted_server server([](scripted_server& of, const message& one) {
    if (one.method == "server/discover") return of.result(one, modern_self);
    if (one.method == "subscriptions/listen") {
      acknowledge(of, one);
      of.say(one.sent.call, cancelled(one));
    } else if (one.sent.call != 0) {
      of.result(one, R"({"resultType":"complete"})");
    }
  });
  client_options options;
  options.max_calls = 8;
  opened_engine engine(server, std::move(options));
  for (int round = 0; round < 20; ++round) {
    ear news;
    const auto watch = engine->watches().add({.resource_list = true}, news.handler(), {});
    ASSERT_TRUE(watch) << round << ' ' << watch.error().public_text;
    EXPECT_TRUE(news.hears(watch_event_kind::connection_lost));
    engine->watches().remove(*watch);
  }
  EXPECT_TRUE(engine->call({.message = asking::ping()}, {}));
}

TEST(subscribing, that_the_server_cancels_before_it_stands_is_refused) {
  scripted_server server([](scripted_server& of, const message& one) {
    if (one.method == "server/discover") return of.result(one, modern_self);
    if (one.method == "subscriptions/listen") of.say(one.sent.call, cancelled(one));
  });
  ear news;
  opened_engine engine(server);
  const auto watch = engine->watches().add({.resource_list = true}, news.handler(), {});
  ASSERT_FALSE(watch);
  EXPECT_EQ(watch.error().code, errc::unsupported);
}

TEST(subscribing, hears_only_what_was_asked_for_in_a_stream_of_its_own) {
  scripted_server server([](scripted_server& of, const message& one) {
    if (one.method == "server/discover") return of.result(one, modern_self);
    if (one.method != "subscriptions/listen") return;
    acknowledge(of, one);
    of.say(one.sent.call, tagged(one, "notifications/resources/updated", R"("uri":"x:other")"));
    of.say(one.sent.call, tagged(one, "notifications/tools/list_changed", ""));
    of.say(one.sent.call, tagged(one, "notifications/resources/updated", R"("uri":"x:a/part")"));
  });
  ear news;
  opened_engine engine(server);
  ASSERT_TRUE(engine->watches().add({.uris = {"x:a"}}, news.handler(), {}));
  EXPECT_TRUE(news.hears(watch_event_kind::resource, "x:a/part"));
  EXPECT_FALSE(
      news.has([](const watch_event& one) { return one.uri == "x:other" || one.kind == watch_event_kind::tool_list; }));
}

}  // namespace
}  // namespace hondana::test
