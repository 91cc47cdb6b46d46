/// What is traced, and what waits to be sent.
#include "base/tracing/tracing.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include <hondana/clock.hpp>

#include "deadline.hpp"

namespace {

using namespace hondana;
using namespace std::chrono_literals;

const std::string sampled = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
const std::string unsampled = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00";

std::vector<tracing::span> taken(tracer& from) {
  std::stop_source stop;
  if (from.queued() == 0) return {};
  return from.next_batch(from.queued(), 1ms, stop.get_token());
}

TEST(tracing, continues_the_trace_of_whoever_asks) {
  const auto with = std::make_shared<tracer>(0, 10);
  const trace_context outer{sampled, "a=1", "b=2"};
  {
    const auto span = with->begin_request("resources/read", outer);
    ASSERT_TRUE(span);
    const auto inner = span->child_context(outer);
    EXPECT_EQ(inner.traceparent.substr(0, 36), sampled.substr(0, 36));
    EXPECT_NE(inner.traceparent, sampled);
    EXPECT_EQ(inner.tracestate, "a=1");
    EXPECT_EQ(inner.baggage, "b=2");
    const auto within = with->begin_child("read memo", tracing::span_kind::client, inner);
    ASSERT_TRUE(within);
  }
  const auto all = taken(*with);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].name, "read memo");
  EXPECT_EQ(all[0].parent, all[1].context.span);
  EXPECT_EQ(tracing::to_hex(*all[1].parent), "00f067aa0ba902b7");
  EXPECT_EQ(all[1].kind, tracing::span_kind::server);
  EXPECT_EQ(all[1].tracestate, "a=1");
}

TEST(tracing, obeys_a_flag_that_says_not_to) {
  const auto with = std::make_shared<tracer>(1, 10);
  EXPECT_FALSE(with->begin_request("ping", {unsampled, {}, {}}));
  EXPECT_FALSE(with->begin_child("read memo", tracing::span_kind::internal, {unsampled, {}, {}}));
  EXPECT_FALSE(with->begin_child("read memo", tracing::span_kind::internal, {}));
}

TEST(tracing, samples_the_wanted_part_of_what_comes_without_a_trace) {
  EXPECT_FALSE(std::make_shared<tracer>(0, 10)->begin_request("ping", {}));
  EXPECT_TRUE(std::make_shared<tracer>(1, 10)->begin_request("ping", {}));
  const auto half = std::make_shared<tracer>(0.5, 10'000);
  int count = 0;
  for (int i = 0; i < 4000; ++i) count += half->begin_request("ping", {}) ? 1 : 0;
  EXPECT_GT(count, 1700);
  EXPECT_LT(count, 2300);
}

TEST(tracing, drops_and_counts_what_there_is_no_room_for) {
  const auto with = std::make_shared<tracer>(1, 3);
  for (int i = 0; i < 5; ++i) (void)with->begin_request("ping", {});
  EXPECT_EQ(with->queued(), 3u);
  EXPECT_EQ(with->dropped(), 2u);
}

TEST(tracing, flush_waits_until_what_there_is_has_been_sent) {
  const auto with = std::make_shared<tracer>(1, 10);
  (void)with->begin_request("ping", {});
  EXPECT_FALSE(with->flush(monotonic_clock::now() + 1ms)) << "no thread sends the spans";
  std::size_t sent = 0;
  std::jthread sender([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) sent += with->next_batch(100, 1h, stop).size();
  });
  EXPECT_TRUE(flush_traces(*with, monotonic_clock::now() + hondana_test::event_deadline));
  sender.request_stop();
  sender.join();
  EXPECT_EQ(sent, 1u);
}

}  // namespace
