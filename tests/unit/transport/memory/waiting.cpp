/// For how long callers wait, for their turn and for answers: whole conversations with a server in memory.
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <string_view>

#include <hondana/clock.hpp>
#include <hondana/server.hpp>

#include "unit/transport/memory/conversation.hpp"
#include "unit/transport/memory/held_shelf.hpp"

namespace hondana::test {
namespace {

using namespace std::chrono_literals;
using hondana_test::conversation;

void read(const conversation& by, int id, std::string_view name) {
  by.ask(id, "resources/read", R"({"uri":"memo:///)" + std::string(name) + "\"}");
}

TEST(deadlines, are_those_of_the_method) {
  server_limits limits;
  limits.call_timeouts = {{"resources/read", 20ms}};
  held_shelf with(with_limits(limits));
  conversation one(with.all);
  one.open();
  read(one, 1, "a");
  ASSERT_TRUE(with.source->has_begun(1));
  with.clock.advance(20ms);
  EXPECT_EQ(one.next().integer_at("/error/code"), 504);
}

TEST(deadlines, are_those_of_the_source_and_it_is_told) {
  server_limits limits;
  held_shelf with(with_limits(limits));
  limits.sources[with.source.get()].call_timeout = 20ms;
  ASSERT_TRUE(with.all.replace(with_limits(limits), {with.source}));
  conversation one(with.all);
  one.open();
  const auto before = monotonic_clock::now();
  read(one, 1, "a");
  ASSERT_TRUE(with.source->has_begun(1));
  with.clock.advance(20ms);
  const auto refused = one.next();
  EXPECT_EQ(refused.integer_at("/error/code"), 504);
  EXPECT_EQ(refused.string_at("/error/message").value(), "The source \"held\" did not answer in time. Retry later.");
  EXPECT_EQ(with.source->last_deadline() - before, 20ms);
}

TEST(deadlines, are_not_longer_than_the_longest_call) {
  server_limits limits;
  limits.call_timeouts = {{"resources/read", 1h}};
  limits.total_timeout = 20ms;
  held_shelf with(with_limits(limits));
  conversation one(with.all);
  one.open();
  read(one, 1, "a");
  ASSERT_TRUE(with.source->has_begun(1));
  with.clock.advance(20ms);
  EXPECT_EQ(one.next().integer_at("/error/code"), 504);
}

TEST(deadlines, are_not_put_off_by_progress) {
  server_limits limits;
  limits.call_timeouts = {{"tools/call", 30ms}};
  held_shelf with(with_limits(limits));
  tool busy;
  busy.name = "busy";
  ASSERT_TRUE(with.all.add_tool(busy, [](const tool_call& call) -> result<tool_outcome> {
    for (double done = 0; monotonic_clock::now() < call.deadline + 100ms; ++done)
      call.report_progress({done, 1e9, "still busy"});
    return text_result("late");
  }));
  conversation one(with.all);
  one.open();
  one.ask(1, "tools/call", R"({"name":"busy","_meta":{"progressToken":"p"}})");
  auto got = one.next();
  EXPECT_EQ(got.string_at("method"), "notifications/progress");
  with.clock.advance(30ms);
  while (got.string_at("method") == "notifications/progress") got = one.next();
  EXPECT_EQ(got.integer_at("/error/code"), 504);
  with.clock.advance(100ms);  // Ends the tool.
}

TEST(deadlines, hold_for_a_tool_that_asks_its_client_again_and_again) {
  server_limits limits;
  limits.total_timeout = 200ms;
  server_options options = with_limits(limits);
  options.input_timeout = 1h;
  held_shelf with(options);
  tool curious;
  curious.name = "curious";
  ASSERT_TRUE(with.all.add_tool(
      curious, [](const tool_call&) -> result<tool_outcome> { return input_required{{{"it", roots_request{}}}, {}}; }));
  conversation one(with.all);
  one.open(R"({"roots":{}})");
  one.ask(1, "tools/call", R"({"name":"curious"})");
  // The third question is not answered.
  value got = one.next();
  for (int i = 0; i < 2; ++i) {
    with.clock.advance(60ms);
    one.send(R"({"jsonrpc":"2.0","id":")" + got.string_at("id").value_or("") + R"(","result":{"roots":[]}})");
    got = one.next();
  }
  EXPECT_EQ(got.string_at("method"), "roots/list");
  with.clock.advance(80ms);
  do got = one.next();
  while (got.string_at("method"));
  EXPECT_EQ(got.integer_at("id"), 1);
  EXPECT_EQ(got.integer_at("/error/code"), 504);
}

TEST(sources, with_too_many_calls_waiting_are_named_with_when_to_ask_again) {
  server_limits limits;
  held_shelf with(with_limits(limits));
  limits.sources[with.source.get()] = {1, 4, {}, {}};
  ASSERT_TRUE(with.all.replace(with_limits(limits), {with.source}));
  conversation one(with.all);
  one.open();
  read(one, 1, "a");
  ASSERT_TRUE(with.source->has_begun(1));
  // One caller has a quarter of the places.
  read(one, 2, "b");
  read(one, 3, "c");
  const auto refused = one.next();
  EXPECT_EQ(refused.integer_at("id"), 3);
  EXPECT_EQ(refused.integer_at("/error/code"), 503);
  EXPECT_EQ(refused.integer_at("/error/data/retryAfterMs"), 1000);
  EXPECT_EQ(refused.string_at("/error/message").value().substr(0, 17), "The source \"held\"");
  with.source->open();
  EXPECT_EQ(one.next().integer_at("id"), 1);
  EXPECT_EQ(one.next().integer_at("id"), 2);
}

TEST(sources, work_on_as_many_calls_at_once_as_they_may_from_a_reload_on) {
  server_limits limits;
  held_shelf with(with_limits(limits));
  limits.sources[with.source.get()].max_concurrency = 6;
  ASSERT_TRUE(with.all.replace(with_limits(limits), {with.source}));
  conversation one(with.all);
  one.open();
  for (int i = 1; i <= 6; ++i) read(one, i, "a" + std::to_string(i));
  EXPECT_TRUE(with.source->has_begun(6)) << "the source itself takes four";
  limits.sources[with.source.get()] = {8, {}, 6, {}};
  ASSERT_TRUE(with.all.replace(with_limits(limits), {with.source}));
  read(one, 7, "now");
  with.source->open();
  for (int i = 1; i <= 7; ++i) EXPECT_NE(one.next().find("result"), nullptr);
}

TEST(work, stops_when_the_peer_goes) {
  held_shelf with{server_options()};
  conversation one(with.all);
  one.open();
  read(one, 1, "a");
  read(one, 2, "b");
  ASSERT_TRUE(with.source->has_begun(2));
  one.peer.reset();
  EXPECT_TRUE(with.source->has_stopped(2));
}

TEST(work, for_subscriptions_stops_when_the_peer_goes) {
  held_shelf with{server_options()};
  conversation one(with.all);
  one.open();
  one.ask(1, "resources/subscribe", R"({"uri":"memo:///a"})");
  EXPECT_NE(one.next().find("result"), nullptr);
  ASSERT_TRUE(with.source->is_attached(1));
  one.peer.reset();
  EXPECT_TRUE(with.source->is_attached(0));
}

}  // namespace
}  // namespace hondana::test
