/// `hondana serve` where it is not simply a port on loopback: Unix sockets, sockets handed over, reports, and leaving at once.
#include <netinet/in.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "program/folder.hpp"
#include "program/http_client.hpp"
#include "program/messages.hpp"
#include "program/process.hpp"

namespace {

using program_test::departure;
using program_test::folder;
using program_test::http_client;
using program_test::patience;
using program_test::process;
using program_test::request;
using program_test::well;
using program_test::within;
using std::chrono::seconds;

bool lists(http_client& by, std::string_view name) {
  return by.post(request(1, "resources/list"), "resources/list").find('"' + std::string(name) + '"') != std::string::npos;
}

/// A port of 127.0.0.1, listening, not marked to be closed by exec.
struct listening_socket {
  listening_socket() : descriptor(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof where;
    if (::bind(descriptor, reinterpret_cast<const sockaddr*>(&where), size) != 0 || ::listen(descriptor, 64) != 0 ||
        ::getsockname(descriptor, reinterpret_cast<sockaddr*>(&where), &size) != 0) {
      throw std::runtime_error("cannot listen");
    }
    port = ntohs(where.sin_port);
  }
  ~listening_socket() { ::close(descriptor); }
  listening_socket(const listening_socket&) = delete;
  listening_socket& operator=(const listening_socket&) = delete;

  int descriptor;
  std::uint16_t port = 0;
};

/// Starts the program as systemd does, with two sockets of which the second is named `admin`.
std::vector<std::string> activated(const listening_socket& messages, const listening_socket& reports, const std::string& path) {
  const auto redirect = [](int to, int from) {
    const auto source = std::to_string(from);
    return std::to_string(to) + "<&" + source + (to == from ? " " : " " + source + "<&- ");
  };
  // By way of numbers out of reach of each other's.
  return {"-c",
          "exec 103<&" + std::to_string(messages.descriptor) + " 104<&" + std::to_string(reports.descriptor) + "; exec " +
              redirect(3, 103) + redirect(4, 104) +
              "; LISTEN_PID=$$ LISTEN_FDS=2 LISTEN_FDNAMES=mcp:admin exec \"$0\" serve \"$1\"",
          HONDANA_PROGRAM, path};
}

TEST(program_listening, over_a_unix_socket_serves_and_removes_the_file) {
  const folder what;
  what.put("shown/a.txt", "hello");
  const auto path = what.path("s");
  process program({"serve", "--socket", path, what.path("shown")});
  ASSERT_TRUE(program.error_line_with("Stop with Ctrl-C", within(patience))) << program.errors();
  EXPECT_NE(program.errors().find("at the Unix socket " + path + ":"), std::string::npos) << program.errors();
  EXPECT_NE(program.errors().find("--unix-socket " + path + " http://localhost/mcp"), std::string::npos) << program.errors();
  {
    http_client peer(path);
    EXPECT_TRUE(lists(peer, "a.txt"));
    process second({"serve", "--socket", path, what.path("shown")});
    EXPECT_EQ(second.leaves(within(patience)), (departure{5, 0}));
    EXPECT_NE(second.errors().find("another program answers there"), std::string::npos) << second.errors();
    EXPECT_TRUE(lists(peer, "a.txt"));
  }
  program.signal(SIGTERM);
  EXPECT_EQ(program.leaves(within(patience)), well) << program.errors();
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(program_listening, replaces_the_socket_that_a_killed_server_left) {
  const folder what;
  what.put("shown/a.txt", "hello");
  const auto path = what.path("s");
  {
    process killed({"serve", "--socket", path, what.path("shown")});
    ASSERT_TRUE(killed.error_line_with("Stop with Ctrl-C", within(patience))) << killed.errors();
    killed.signal(SIGKILL);
    EXPECT_EQ(killed.leaves(within(patience)), (departure{-1, SIGKILL}));
  }
  ASSERT_TRUE(std::filesystem::exists(path));
  process program({"serve", "--socket", path, what.path("shown")});
  ASSERT_TRUE(program.error_line_with("Stop with Ctrl-C", within(patience))) << program.errors();
  http_client peer(path);
  EXPECT_TRUE(lists(peer, "a.txt"));
}

TEST(program_listening, on_sockets_handed_over_serves_and_reports) {
  const folder what;
  what.put("a.txt", "hello");
  const listening_socket messages;
  const listening_socket reports;
  process program(activated(messages, reports, what.path()), program_test::output_to::pipe, "/bin/bash");
  // Who connects before the program is there waits in the socket.
  http_client peer(messages.port);
  EXPECT_TRUE(lists(peer, "a.txt")) << program.errors();
  EXPECT_TRUE(program.error_line_with("on the sockets that it was started with", within(patience))) << program.errors();
  EXPECT_EQ(peer.status_of("/healthz"), 404);
  http_client watcher(reports.port);
  EXPECT_EQ(watcher.status_of("/readyz"), 200);
  EXPECT_EQ(watcher.status_of("/mcp"), 404);
  program.signal(SIGTERM);
  EXPECT_EQ(program.leaves(within(patience)), well) << program.errors();
}

TEST(program_listening, a_configured_address_for_reports_is_the_only_one) {
  const folder what;
  what.put("a.txt", "hello");
  what.put("h.toml", "[http]\nport = 0\nadmin = \"" + what.path("admin") + "\"\n[[source]]\ntype = \"files\"\npath = \".\"\n");
  process program({"serve", "--config", what.path("h.toml")});
  const auto line = program.error_line_with("/mcp:", within(patience));
  ASSERT_TRUE(line) << program.errors();
  std::uint16_t port = 0;
  const auto at = line->find("127.0.0.1:") + sizeof "127.0.0.1";
  std::from_chars(line->data() + at, line->data() + line->size(), port);
  http_client peer(port);
  EXPECT_EQ(peer.status_of("/healthz"), 404);
  http_client watcher(what.path("admin"));
  EXPECT_EQ(watcher.status_of("/healthz"), 200);
  EXPECT_EQ(watcher.status_of("/readyz"), 200);
}

TEST(program_listening, a_second_signal_ends_it_at_once) {
  const folder what;
  what.put("h.toml", "[http]\ndrain_timeout_ms = 3600000\nsocket = \"s\"\n[[source]]\ntype = \"files\"\npath = \".\"\n");
  process program({"serve", "--config", what.path("h.toml")});
  ASSERT_TRUE(program.error_line_with("Stop with Ctrl-C", within(patience))) << program.errors();
  http_client unfinished(what.path("s"));
  EXPECT_EQ(unfinished.status_of("/healthz"), 200);
  unfinished.send("POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{");
  // The drain takes what has arrived before it looks for connections without a request.
  program.signal(SIGTERM);
  ASSERT_TRUE(program.error_line_with("stopping; requests in progress have at most 3600000 ms", within(patience)))
      << program.errors();
  EXPECT_FALSE(program.leaves(within(std::chrono::milliseconds(50)))) << "nothing was under way";
  program.signal(SIGTERM);
  EXPECT_EQ(program.leaves(within(patience)), (departure{128 + SIGTERM, 0})) << program.errors();
}

TEST(program_listening, beyond_loopback_says_what_that_needs) {
  const folder what;
  process unsaid({"serve", "--port", "0", "--address", "0.0.0.0", "--host", "shelf.example", what.path()});
  EXPECT_EQ(unsaid.leaves(within(patience)), (departure{5, 0}));
  EXPECT_NE(unsaid.errors().find("without authentication they could read everything"), std::string::npos) << unsaid.errors();
  process said(
      {"serve", "--port", "0", "--address", "0.0.0.0", "--host", "shelf.example", "--without-authentication", what.path()});
  EXPECT_TRUE(said.error_line_with("http://shelf.example:", within(patience))) << said.errors();
}

TEST(program_listening, a_mistake_below_http_is_named_with_its_line) {
  const folder what;
  what.put("h.toml", "[[source]]\ntype = \"files\"\npath = \".\"\n[http]\nport = 0\nhosts = [\"*.example\"]\n");
  process program({"serve", "--config", what.path("h.toml")});
  EXPECT_EQ(program.leaves(within(patience)), (departure{1, 0}));
  EXPECT_NE(program.errors().find("h.toml:6: http.hosts: \"*.example\" is not a host"), std::string::npos) << program.errors();
}

#ifndef HONDANA_IS_SANITIZED
TEST(program_listening, raises_its_descriptor_limit_to_what_it_may) {
  const folder what;
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit low = before;
  low.rlim_cur = 256;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &low), 0);
  process program({"serve", "--socket", what.path("s"), what.path()});
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_TRUE(program.error_line_with("Stop with Ctrl-C", within(patience))) << program.errors();
  EXPECT_EQ(program.descriptor_limit(), std::min<std::size_t>(before.rlim_max, 1u << 17));
}
#endif

}  // namespace
