/// Servers that want to be asked later: they are, if that is not too long.
#include "client/retry.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include <hondana/clock.hpp>

#include "client/composed_calls.hpp"
#include "unit/client/scripted_channel.hpp"

namespace hondana::test {
namespace {

using namespace std::chrono_literals;
using heard = scripted_server::heard;

/// Refuses the first lists so, and then has none.
scripted_server::answerer busy(int refusals, std::string data, int code = 429) {
  auto left = std::make_shared<std::atomic<int>>(refusals);
  return [left, data = std::move(data), code](scripted_server& of, const heard& one) {
    if (one.method == "server/discover") return of.result(one, modern_self);
    if (one.method != "resources/list") return;
    if ((*left)-- > 0) return of.error(one, code, "too many", data);
    of.result(one, R"({"resultType":"complete","ttlMs":0,"cacheScope":"public","resources":[]})");
  };
}

TEST(patience, a_server_that_says_when_is_asked_again_then_and_not_before) {
  scripted_server server(busy(2, R"({"retryAfterMs":40})"));
  opened_engine engine(server);
  const auto began = monotonic_clock::now();
  const auto got = outbound::resource_page(*engine, {}, {}, {});
  EXPECT_TRUE(got) << got.error().public_text;
  EXPECT_GE(monotonic_clock::now() - began, 80ms);
  EXPECT_EQ(server.all("resources/list").size(), 3u);
}

TEST(patience, so_is_a_source_that_has_too_much_to_do) {
  scripted_server server(busy(1, R"({"retryAfterMs":10})", 503));
  opened_engine engine(server);
  EXPECT_TRUE(outbound::resource_page(*engine, {}, {}, {}));
  EXPECT_EQ(server.all("resources/list").size(), 2u);
}

TEST(patience, ends_after_two_times_with_what_the_server_says) {
  scripted_server server(busy(100, R"({"retryAfterMs":10})"));
  opened_engine engine(server);
  const auto got = outbound::resource_page(*engine, {}, {}, {});
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, errc::too_many_requests);
  EXPECT_EQ(got.error().retry_after, 10ms);
  EXPECT_EQ(server.all("resources/list").size(), 3u);
}

TEST(patience, does_not_wait_longer_than_the_call_may_take_or_than_anybody_would) {
  // Time stands still: a wait would never end.
  const manual_clock clock;
  for (const auto* data : {R"({"retryAfterMs":10000})", R"({"retryAfterMs":9223372036854775807})"}) {
    scripted_server server(busy(1, data));
    opened_engine engine(server);
    call_options how;
    how.timeout = 5s;
    const auto got = outbound::resource_page(*engine, {}, {}, how);
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().code, errc::too_many_requests);
    EXPECT_EQ(server.all("resources/list").size(), 1u);
  }
  scripted_server brief(busy(1, R"({"retryAfterMs":10000})"));
  opened_engine impatient(brief);
  const auto refused = outbound::resource_page(*impatient, {}, {}, {.timeout = 1h, .total_timeout = 5s});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::too_many_requests);
  scripted_server server(busy(1, R"({"retryAfterMs":31000})"));
  opened_engine engine(server);
  call_options how;
  how.timeout = 1h;
  EXPECT_EQ(outbound::resource_page(*engine, {}, {}, how).error().code, errc::too_many_requests);
}

TEST(patience, is_not_asked_for_by_who_does_not_say_how_long_or_says_nonsense) {
  for (const auto* data : {"", "{}", R"({"retryAfterMs":"soon"})", R"({"retryAfterMs":null})", "7"}) {
    scripted_server server(busy(1, data));
    opened_engine engine(server);
    const auto got = outbound::resource_page(*engine, {}, {}, {});
    ASSERT_FALSE(got) << data;
    EXPECT_EQ(got.error().retry_after, std::nullopt) << data;
    EXPECT_EQ(server.all("resources/list").size(), 1u) << data;
  }
  scripted_server server(busy(1, R"({"retryAfterMs":-5})"));
  opened_engine engine(server);
  EXPECT_TRUE(outbound::resource_page(*engine, {}, {}, {})) << "at once";
}

TEST(patience, ends_with_the_call) {
  const manual_clock clock;
  scripted_server server(busy(1, R"({"retryAfterMs":20000})"));
  opened_engine engine(server);
  std::stop_source leaving;
  call_options how;
  how.stop = leaving.get_token();
  const std::jthread leaver([&] {
    (void)server.waits_for("resources/list", 1);
    leaving.request_stop();
  });
  const auto got = outbound::resource_page(*engine, {}, {}, how);
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, errc::cancelled);
}

TEST(patience, ends_with_the_client) {
  const manual_clock clock;
  scripted_server server(busy(1, R"({"retryAfterMs":20000})"));
  opened_engine engine(server);
  const std::jthread leaver([&] {
    (void)server.waits_for("resources/list", 1);
    engine->close();
  });
  EXPECT_EQ(outbound::resource_page(*engine, {}, {}, {}).error().code, errc::cancelled);
}

TEST(patience, is_had_with_a_status_of_http_as_well_and_while_the_connection_is_opened) {
  for (const int status : {429, 503}) {
    std::atomic<int> refusals = 1;
    scripted_server server(
        [&refusals, status](scripted_server& of, const heard& one) {
          if (one.sent.call == 0) return;
          if (refusals-- > 0) {
            channel::termination later;
            later.http_status = status;
            later.retry_after = 20ms;
            return of.end(one.sent.call, later);
          }
          of.result(one, modern_self);
        },
        true);
    http_target target;
    target.url = "http://patient.example/" + std::to_string(status);
    opened_engine engine(server, {}, target);
    const auto opened = engine->open();
    EXPECT_TRUE(opened) << status;
    EXPECT_TRUE(engine->server().is_modern) << status;
    EXPECT_EQ(server.all("server/discover").size(), 2u) << status;
  }
}

}  // namespace
}  // namespace hondana::test
