/// Connections that never ask: the program answers others as if they were not there, and sends them away in time.
#include <cstdio>

#include "load/loaded_program.hpp"
#include "program/http_client.hpp"

#include <gtest/gtest.h>

namespace {

using load_test::crowd;
using load_test::loaded_program;
using program_test::folder;

TEST(load_timing, half_open_connections_leave_a_request_under_10_ms) {
  const auto count = load_test::scaled(10'000);
  load_test::make_room_for(count);
  const folder what;
  loaded_program program(what, "header_timeout_ms = 600000");
  crowd all(program.port);
  for (std::size_t i = 0; i < count; ++i) all.join(i % 2 == 0 ? "POST /mcp HTTP/1.1\r\nHost: local" : "");
  const auto time = load_test::time_of_a_request(program);
  EXPECT_GE(program.process.descriptors(), count) << "not all of them were open";
  EXPECT_LT(time, load_test::allowed_milliseconds);
  std::printf("%zu half-open connections: %.2f ms a request\n", count, time);
}

TEST(load, half_open_connections_are_sent_away_in_time) {
  const auto count = load_test::scaled(10'000);
  load_test::make_room_for(count);
  const folder what;
  loaded_program program(what, "header_timeout_ms = 500");
  crowd all(program.port);
  for (std::size_t i = 0; i < count; ++i) all.join(i % 2 == 0 ? "POST /mcp HTTP/1.1\r\nHost: local" : "");
  EXPECT_TRUE(all.is_sent_away(load_test::patience));
  EXPECT_TRUE(load_test::answers(program));
}

TEST(load, connections_beyond_the_cap_are_refused_and_those_inside_served) {
  const folder what;
  loaded_program program(what, "header_timeout_ms = 600000\nmax_connections = 100");
  program_test::http_client inside(program.port);
  const auto list = program_test::request(1, "resources/list");
  EXPECT_FALSE(inside.post(list, "resources/list").empty());
  crowd all(program.port);
  for (std::size_t i = 0; i < 1'000; ++i) all.join("");
  EXPECT_LT(program.process.descriptors(), 300u);
  EXPECT_FALSE(inside.post(list, "resources/list").empty());
}

}  // namespace
