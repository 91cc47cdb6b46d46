/// What breaks other servers: half-open and abandoned connections, nonsense, and readers that do not read.
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <hondana/clock.hpp>

#include "transport/http_server/limits.hpp"
#include "unit/transport/http_server/client.hpp"
#include "unit/transport/http_server/shelf.hpp"

namespace {

using hondana_test::client;
using hondana_test::eventually;
using hondana_test::get;
using hondana_test::library;
using hondana_test::post;
using std::chrono::milliseconds;

const std::string ordinary = hondana_test::modern("server/discover");

void expect_service(const library& with) {
  client peer(with.port());
  peer.send(post(ordinary));
  EXPECT_EQ(peer.receive().status, 200);
}

TEST(http_traffic, half_open_connections_stop_nobody) {
  library with;
  std::vector<client> half_open;
  for (int i = 0; i < 64; ++i) {
    half_open.emplace_back(with.port());
    if (i % 2 == 0) half_open.back().send("POST /mcp HTTP/1.1\r\nHost: local");
  }
  expect_service(with);
}

TEST(http_traffic, abrupt_disconnects_leave_nothing_behind) {
  library with;
  const auto text = post(ordinary);
  for (std::size_t cut = 0; cut <= text.size(); cut += 9) {
    client peer(with.port());
    peer.send(text.substr(0, cut));
    peer.vanish();
  }
  expect_service(with);
  with.service->drain(hondana_test::event_deadline);
  EXPECT_EQ(with.service->connections(), 0u);
}

TEST(http_traffic, nonsense_is_answered_and_the_server_lives_on) {
  library with;
  const std::string chunked =
      "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n";
  for (const auto& [text, status] : std::vector<std::pair<std::string, int>>{
           {"\x16\x03\x01\x02\x01 \r\n\r\n", 400},
           {"{\"jsonrpc\":\"2.0\"}\r\n\r\n", 400},
           {"GET / HTTP/9.9\r\n\r\n", 400},
           {"GET /mcp HTTP/1.1\r\n\r\n", 400},
           {"GET /mcp HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n", 400},
           {chunked + "Content-Length: 5\r\n\r\n0\r\n\r\n", 400},
           {chunked + "\r\nFFFFFFFFFFFFFFFFF\r\n", 400},
           {chunked + "\r\nFFFFFFFFFFFFFFFF\r\n", 413},
           {chunked + "\r\n-5\r\nhello", 400},
           {"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 99999999999\r\n\r\n",
            413},
           {"GET / HTTP/1.1\r\n" + std::string(20'000, 'h'), 431}}) {
    client peer(with.port());
    peer.send(text);
    EXPECT_EQ(peer.receive().status, status) << text.substr(0, 200);
  }
  expect_service(with);
}

TEST(http_traffic, malformed_messages_are_answered_and_the_connection_lives_on) {
  library with;
  client peer(with.port());
  for (const std::string& body : {std::string("[]"), std::string("7"), std::string("{"), std::string(), std::string("[1]"),
                                  std::string(R"({"jsonrpc":"2.0","id":1,"method":7})"), std::string("\xff\xfe"),
                                  std::string(10'000, '['), std::string(R"({"JSONRPC":"2.0","ID":1,"METHOD":"ping"})")}) {
    peer.send(post(body));
    const auto got = peer.receive();
    EXPECT_TRUE(got.is_complete) << body.substr(0, 60);
    EXPECT_NE(got.body.find("\"error\""), std::string::npos) << body.substr(0, 60) << " -> " << got.body;
  }
  peer.send(post(ordinary));
  EXPECT_EQ(peer.receive().status, 200);
}

TEST(http_traffic, a_slow_header_and_a_slow_body_time_out) {
  hondana::manual_clock clock;
  hondana::transport::http_server::limits hasty;
  hasty.header_timeout = milliseconds(50);
  hasty.body_idle_timeout = milliseconds(50);
  library with(hasty);
  const auto wait_for_answer = [&clock](client& peer) {
    EXPECT_TRUE(eventually([&] {
      clock.advance(milliseconds(50));
      return peer.has_received("\r\n");
    }));
  };
  client header(with.port());
  // Behind a whole request, so that it has come once that is answered.
  header.send(post(ordinary) + "POST /mcp HTTP/1.1\r\n");
  EXPECT_EQ(header.receive().status, 200);
  wait_for_answer(header);
  EXPECT_EQ(header.receive().status, 408);
  EXPECT_TRUE(header.sees_the_end());
  client body(with.port());
  const auto text = post(ordinary, "Expect: 100-continue\r\n");
  body.send(text.substr(0, text.size() - ordinary.size()));
  EXPECT_EQ(body.receive_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  body.send(ordinary.substr(1));
  wait_for_answer(body);
  EXPECT_EQ(body.receive().status, 408);
  EXPECT_TRUE(body.sees_the_end());
}

TEST(http_traffic, idle_connections_are_closed_in_time) {
  hondana::manual_clock clock;
  const auto wait_for_end = [&clock](client& peer) {
    EXPECT_TRUE(eventually([&] {
      clock.advance(milliseconds(50));
      return peer.has_received("never");
    }));
    EXPECT_TRUE(peer.sees_the_end());
  };
  hondana::transport::http_server::limits hasty;
  hasty.header_timeout = milliseconds(50);
  {
    library with(hasty);
    client silent(with.port());
    wait_for_end(silent);
  }
  hondana::transport::http_server::limits after_one;
  after_one.keep_alive_timeout = milliseconds(50);
  library with(after_one);
  client once(with.port());
  once.send(post(ordinary));
  EXPECT_EQ(once.receive().status, 200);
  wait_for_end(once);
}

TEST(http_traffic, connections_beyond_the_cap_are_told_so) {
  hondana::transport::http_server::limits few;
  few.max_connections = 2;
  library with(few);
  client first(with.port());
  client second(with.port());
  for (auto* one : {&first, &second}) {
    one->send(post(ordinary));
    EXPECT_EQ(one->receive().status, 200);
  }
  client third(with.port());
  const auto got = third.receive();
  EXPECT_EQ(got.status, 503);
  EXPECT_EQ(got.fields.at("connection"), "close");
  EXPECT_TRUE(third.sees_the_end());
}

/// Leaves the process without a free descriptor while it lives.
class no_descriptors {
 public:
  no_descriptors() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const int lowest_free = ::dup(STDERR_FILENO);
    ::close(lowest_free);
    rlimit none = before_;
    none.rlim_cur = static_cast<rlim_t>(lowest_free);
    ::setrlimit(RLIMIT_NOFILE, &none);
  }
  ~no_descriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  no_descriptors(const no_descriptors&) = delete;
  no_descriptors& operator=(const no_descriptors&) = delete;

 private:
  rlimit before_{};
};

TEST(http_traffic, running_out_of_descriptors_passes) {
  hondana::transport::http_server::limits quick;
  quick.accept_retry_delay = milliseconds(5);
  // A handshake would wait for what this thread does later.
  library with(quick, {}, {}, std::nullopt);
  client waiting;
  {
    const no_descriptors meanwhile;
    waiting.connect(with.port());
    waiting.send(post(ordinary));
    EXPECT_TRUE(with.logged->reaches(1));
  }
  EXPECT_EQ(waiting.receive().status, 200);
  EXPECT_EQ(with.log(), "cannot accept connections for now: Too many open files\n");
  expect_service(with);
}

TEST(http_traffic, a_reader_that_never_reads_is_dropped) {
  hondana::server_options options;
  options.stall_timeout = milliseconds(100);
  library with({}, std::move(options));
  const auto given = std::make_shared<std::atomic<std::uint64_t>>(0);
  with.source->entries["memo:///big"] = [given](const auto&) {
    hondana::read_result out;
    out.contents.push_back({{},
                            "big",
                            "",
                            "text/plain",
                            hondana::content_kind::text,
                            std::make_shared<hondana_test::letters>(std::uint64_t{60} << 20, given)});
    return out;
  };
  client peer(with.port(), 4096);
  peer.send(post(library::read("memo:///big")));
  const auto head = peer.receive_until("\r\n\r\n");
  EXPECT_TRUE(head.starts_with("HTTP/1.1 200 OK\r\n"));
  // Nothing is read from here on.
  client other(with.port());
  other.send(get("/healthz"));
  EXPECT_EQ(other.receive().status, 200);
  EXPECT_TRUE(eventually([&] { return with.service->connections() == 1; }));
  other.send(get("/healthz"));
  EXPECT_EQ(other.receive().status, 200);
}

}  // namespace
