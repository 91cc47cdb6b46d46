/// Very many sessions: idle ones with their streams open, and ones that nobody comes back to.
#include <sys/socket.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "load/loaded_program.hpp"

namespace {

using load_test::crowd;
using load_test::loaded_program;
using program_test::folder;

std::string legacy_post(std::string_view message, std::string_view more = {}) {
  return "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, "
         "text/event-stream\r\nContent-Length: " +
         std::to_string(message.size()) + "\r\n" + std::string(more) + "\r\n" + std::string(message);
}

const std::string initialize =
    legacy_post(R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},)"
                R"("clientInfo":{"name":"load","version":"1"}}})");

/// What arrives up to and with `end`.
std::string receive_until(int socket, std::string_view end) {
  std::string had;
  std::array<char, 4096> buffer;
  while (had.find(end) == std::string::npos) {
    const auto count = ::recv(socket, buffer.data(), buffer.size(), 0);
    if (count <= 0) throw std::runtime_error("no answer; so far: " + had);
    had.append(buffer.data(), static_cast<std::size_t>(count));
  }
  return had;
}

void send_all(int socket, std::string_view text) {
  if (::send(socket, text.data(), text.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(text.size())) {
    throw std::runtime_error("cannot send");
  }
}

/// Opens a session and gives its id.
std::string open_session(int socket) {
  send_all(socket, initialize);
  const auto answer = receive_until(socket, "}}}");
  constexpr std::string_view field = "Mcp-Session-Id: ";
  const auto at = answer.find(field);
  if (!answer.starts_with("HTTP/1.1 200 ") || at == std::string::npos) throw std::runtime_error("no session: " + answer);
  return answer.substr(at + field.size(), answer.find("\r\n", at) - at - field.size());
}

TEST(load_timing, idle_streams_leave_a_request_under_10_ms) {
  const auto count = load_test::scaled(10'000);
  load_test::make_room_for(count);
  const folder what;
  loaded_program program(what);
  const auto before = program.process.memory();
  crowd all(program.port);
  for (std::size_t i = 0; i < count; ++i) {
    const int one = all.join("");
    const auto id = open_session(one);
    send_all(one,
             "GET /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\nMCP-Protocol-Version: "
             "2025-06-18\r\nMcp-Session-Id: " +
                 id + "\r\n\r\n");
    const auto head = receive_until(one, "\r\n\r\n");
    ASSERT_TRUE(head.starts_with("HTTP/1.1 200 ")) << head;
    ASSERT_NE(head.find("text/event-stream"), std::string::npos) << head;
  }
  const auto time = load_test::time_of_a_request(program);
  EXPECT_GE(program.process.descriptors(), count) << "not all of them were open";
  EXPECT_LT(time, load_test::allowed_milliseconds);
  std::printf("%zu idle streams: %.2f ms a request, %.1f KiB of memory each\n", count, time,
              static_cast<double>(program.process.memory() - before) / static_cast<double>(count));
}

/// Opens streams of changes until there are `count`.
void listen_in(crowd& all, std::size_t count) {
  const auto listen =
      load_test::post(program_test::request(1, "subscriptions/listen", R"("notifications":{"resourcesListChanged":true},)"),
                      "subscriptions/listen");
  for (std::size_t i = 0; i < count; ++i) (void)all.join(listen);
  all.await_each("notifications/subscriptions/acknowledged", load_test::patience);
}

TEST(load, streams_of_changes_all_hear_of_one) {
  const auto count = load_test::scaled(10'000);
  load_test::make_room_for(count);
  const folder what;
  loaded_program program(what);
  crowd all(program.port);
  listen_in(all, count);
  program.process.signal(SIGHUP);  // a reloaded configuration is a changed list
  EXPECT_NO_THROW(all.await_each("notifications/resources/list_changed", load_test::patience));
}

TEST(load_timing, streams_of_changes_leave_a_request_under_10_ms) {
  const auto count = load_test::scaled(10'000);
  load_test::make_room_for(count);
  const folder what;
  loaded_program program(what);
  const auto before = program.process.memory();
  crowd all(program.port);
  listen_in(all, count);
  const auto time = load_test::time_of_a_request(program);
  EXPECT_LT(time, load_test::allowed_milliseconds);
  const auto grown = program.process.memory() - before;
  std::printf("%zu streams of changes: %.2f ms a request, %.1f KiB of memory each\n", count, time,
              static_cast<double>(grown) / static_cast<double>(count));
}

TEST(load, abandoned_sessions_leave_memory_flat) {
  const auto count = load_test::scaled(100'000);
  // The full run is of the default; the tenth has to reach its cap too.
  const std::size_t cap = load_test::is_full() ? 16'384 : count / 20;
  const folder what;
  loaded_program program(what, load_test::is_full() ? "" : "max_sessions = " + std::to_string(cap));
  crowd one(program.port);
  const int by = one.join("");
  std::string oldest;
  std::string newest;
  std::size_t full = 0;
  for (std::size_t i = 0; i < count; ++i) {
    newest = open_session(by);
    if (i == 0) oldest = newest;
    // All places are taken, and every size of memory has been asked for and given back often.
    if (i == 2 * cap) full = program.process.memory();
  }
  const auto end = program.process.memory();
  std::printf("%zu abandoned sessions, %zu kept: %zu KiB of memory, then %zu KiB\n", count, cap, full, end);
#ifndef HONDANA_IS_SANITIZED
  EXPECT_LT(end, full + (8 << 10));
#endif
  const auto ask = [by](const std::string& id) {
    send_all(by, legacy_post(R"({"jsonrpc":"2.0","id":2,"method":"ping"})",
                             "MCP-Protocol-Version: 2025-06-18\r\nMcp-Session-Id: " + id + "\r\n"));
    return receive_until(by, "}}");
  };
  EXPECT_TRUE(ask(newest).starts_with("HTTP/1.1 200 "));
  EXPECT_TRUE(ask(oldest).starts_with("HTTP/1.1 404 "));
}

}  // namespace
