/// How much callers may ask for: whole conversations with a server in memory.
#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <string_view>

#include <hondana/clock.hpp>
#include <hondana/server.hpp>

#include "unit/transport/memory/conversation.hpp"
#include "unit/transport/memory/held_shelf.hpp"

namespace hondana::test {
namespace {

using namespace std::chrono_literals;
using hondana_test::conversation;

constexpr std::string_view completion =
    R"({"ref":{"type":"ref/resource","uri":"memo:///{name}"},"argument":{"name":"name","value":""}})";

TEST(limits, a_caller_who_asks_too_much_is_told_when_to_ask_again) {
  server_limits limits;
  limits.per_identity.requests = {0.001, 3};
  held_shelf with(with_limits(limits));
  conversation one(with.all);
  one.open();
  one.ask(1, "ping");
  one.ask(2, "ping");
  EXPECT_NE(one.next().find("result"), nullptr);
  EXPECT_NE(one.next().find("result"), nullptr);
  one.ask(3, "ping");
  const auto refused = one.next();
  EXPECT_EQ(refused.integer_at("id"), 3);
  EXPECT_EQ(refused.integer_at("/error/code"), 429);
  EXPECT_EQ(refused.integer_at("/error/data/retryAfterMs"), 1'000'000);
  EXPECT_EQ(refused.string_at("/error/message").value().substr(0, 45), "Too many requests from this caller: wait 1000");
  with.clock.advance(999s);
  one.ask(4, "ping");
  EXPECT_EQ(one.next().integer_at("/error/code"), 429);
  with.clock.advance(2s);
  one.ask(5, "ping");
  EXPECT_NE(one.next().find("result"), nullptr);
}

TEST(limits, the_same_caller_by_another_connection_is_the_same_caller) {
  server_limits limits;
  limits.per_identity.requests = {0.001, 2};
  held_shelf with(with_limits(limits));
  conversation one(with.all);
  one.open();
  one.ask(1, "ping");
  EXPECT_NE(one.next().find("result"), nullptr);
  conversation other(with.all);
  other.ask(1, "initialize", R"({"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"t","version":"1"}})");
  EXPECT_EQ(other.next().integer_at("/error/code"), 429);
}

TEST(limits, each_message_of_a_batch_counts) {
  server_limits limits;
  limits.per_identity.requests = {0.001, 3};
  held_shelf with(with_limits(limits));
  conversation one(with.all);
  one.open();
  one.send(
      R"([{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"},{"jsonrpc":"2.0","id":3,"method":"ping"}])");
  const auto all = one.next();
  EXPECT_NE(all.at("/0/result"), nullptr);
  EXPECT_NE(all.at("/1/result"), nullptr);
  EXPECT_EQ(all.integer_at("/2/error/code"), 429);
}

TEST(limits, that_refuse_somebody_are_lines_in_the_log_and_no_flood_of_them) {
  server_options options;
  options.limits.per_identity.requests = {0.001, 2};
  std::mutex writing;
  std::vector<std::string> said;
  options.log = [&](std::string_view line) {
    const std::lock_guard lock(writing);
    said.emplace_back(line);
  };
  held_shelf with(std::move(options));
  conversation one(with.all);
  one.open();
  one.ask(1, "ping");
  EXPECT_NE(one.next().find("result"), nullptr);
  for (int id = 2; id < 40; ++id) {
    one.ask(id, "ping");
    EXPECT_EQ(one.next().integer_at("/error/code"), 429);
  }
  const std::lock_guard lock(writing);
  ASSERT_FALSE(said.empty());
  EXPECT_TRUE(said[0].ends_with(" s before the next request, and send requests more slowly.")) << said[0];
  EXPECT_NE(said[0].find(" with 429: Too many requests from this caller: wait "), std::string::npos) << said[0];
  EXPECT_EQ(said.size(), 20u);
}

TEST(limits, completions_have_a_rate_of_their_own) {
  server_limits limits;
  limits.per_identity.completions = {0.001, 1};
  held_shelf with(with_limits(limits));
  conversation one(with.all);
  one.open();
  one.ask(1, "completion/complete", completion);
  EXPECT_NE(one.next().find("result"), nullptr);
  one.ask(2, "completion/complete", completion);
  EXPECT_EQ(one.next().integer_at("/error/code"), 429);
  one.ask(3, "ping");
  EXPECT_NE(one.next().find("result"), nullptr);
}

TEST(limits, hold_as_they_are_configured_now_and_for_what_was_asked_before) {
  server_limits limits;
  limits.per_identity.requests = {0.001, 2};
  held_shelf with(with_limits(limits));
  conversation one(with.all);
  one.open();
  one.ask(1, "ping");
  EXPECT_NE(one.next().find("result"), nullptr);
  one.ask(2, "ping");
  EXPECT_EQ(one.next().integer_at("/error/code"), 429);
  limits.total_timeout = 60s;
  ASSERT_TRUE(with.all.replace(with_limits(limits), {with.source}));
  one.ask(3, "ping");
  EXPECT_EQ(one.next().integer_at("/error/code"), 429) << "a reload forgave what had been asked for";
  ASSERT_TRUE(with.all.replace({}, {with.source}));
  one.ask(4, "ping");
  EXPECT_NE(one.next().find("result"), nullptr);
}

TEST(limits, that_cannot_be_are_refused_and_named) {
  server_limits limits;
  limits.per_identity.bytes = rate_quota{-1};
  EXPECT_FALSE(server::create(with_limits(limits)));
  limits = {};
  limits.call_timeouts["resources/raed"] = 1s;
  held_shelf with{server_options()};
  const auto refused = with.all.replace(with_limits(limits), {with.source});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().public_text,
            "server_limits::call_timeouts: \"resources/raed\" is not a method that can have a timeout. Use, for example, "
            "resources/read.");
  limits = {};
  limits.call_timeouts["resources/read"] = 0ms;
  const auto no_time = validate_server_limits(limits);
  ASSERT_FALSE(no_time);
  EXPECT_EQ(no_time.error().public_text,
            "server_limits::call_timeouts[\"resources/read\"]: expected a time of up to a day, not 0 ms");
  limits = {};
  limits.total_timeout = 0ms;
  const auto no_total = validate_server_limits(limits);
  ASSERT_FALSE(no_total);
  EXPECT_EQ(no_total.error().public_text, "server_limits::total_timeout: expected a time of up to a day, not 0 ms");
  limits = {};
  limits.max_tracked_callers = 0;
  const auto no_callers = validate_server_limits(limits);
  ASSERT_FALSE(no_callers);
  EXPECT_EQ(no_callers.error().public_text, "server_limits::max_tracked_callers: expected 1 or more");
  limits = {};
  limits.sources[nullptr].max_concurrency = 1'000'000;
  EXPECT_FALSE(validate_server_limits(limits));
  EXPECT_TRUE(validate_server_limits(server_limits()));
}

TEST(limits, of_zero_are_refused) {
  server_limits limits;
  limits.per_address.requests = rate_quota{0};
  EXPECT_FALSE(validate_server_limits(limits));
  limits = {};
  limits.per_address.requests = rate_quota{1, 0};
  EXPECT_FALSE(validate_server_limits(limits));
  limits = {};
  limits.sources[nullptr].max_queued_calls = 0;
  EXPECT_FALSE(validate_server_limits(limits));
  limits = {};
  limits.sources[nullptr].call_timeout = 0ms;
  EXPECT_FALSE(validate_server_limits(limits));
}

}  // namespace
}  // namespace hondana::test
