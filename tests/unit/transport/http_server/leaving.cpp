/// Work stops when the peer goes: of the oldest transport's sessions, of subscriptions, of streams of changes.
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <hondana/clock.hpp>
#include <hondana/server.hpp>

#include "support/must.hpp"
#include "unit/transport/http_server/client.hpp"
#include "unit/transport/http_server/shelf.hpp"

namespace {

using hondana_test::client;
using hondana_test::modern;
using hondana_test::post;

/// Reads wait until whoever asked has gone; counts who is subscribed.
class attended final : public hondana::provider, public hondana::watch_source {
 public:
  std::string name() const override { return "attended"; }
  std::vector<std::string> claims() const override { return {"memo:///"}; }
  hondana::scheme_documentation documentation() const override { return {"memo", "Texts of the test.", {}, {}}; }
  hondana::result<hondana::list_result> list(const hondana::list_request&) override { return hondana::list_result{}; }
  hondana::result<hondana::read_result> read(const hondana::read_request& request) override {
    const std::stop_callback wake(request.stop, [this] {
      const std::lock_guard lock(mutex_);
      changed_.notify_all();
    });
    count(begun_, 1);
    std::unique_lock waiting(mutex_);
    const bool has_gone =
        changed_.wait_for(waiting, hondana_test::event_deadline, [&] { return request.stop.stop_requested() || is_over_; });
    waiting.unlock();
    if (has_gone && request.stop.stop_requested()) count(stopped_, 1);
    return hondana::text_read_result("late");
  }
  void watch(const std::string&) override { count(attached_, 1); }
  void unwatch(const std::string&) override { count(attached_, -1); }

  bool has_begun(int calls) { return reaches(begun_, calls); }
  bool has_stopped(int calls) { return reaches(stopped_, calls); }
  bool is_attached(int times) { return reaches(attached_, times); }
  void finish() {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
    changed_.notify_all();
  }

 private:
  void count(int& what, int by) {
    const std::lock_guard lock(mutex_);
    what += by;
    changed_.notify_all();
  }
  bool reaches(const int& what, int wanted) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, hondana_test::event_deadline, [&] { return what == wanted; });
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_over_ = false;
  int begun_ = 0;
  int stopped_ = 0;
  int attached_ = 0;
};

struct shop {
  shop() {
    if (const auto added = server.add(source); !added) throw std::runtime_error(added.error().public_text);
    auto started = hondana::http_service::start(server, {.port = 0, .threads = 2});
    if (!started) throw std::runtime_error(started.error().public_text);
    service.emplace(std::move(*started));
  }
  ~shop() { source->finish(); }
  shop(const shop&) = delete;
  shop& operator=(const shop&) = delete;
  [[nodiscard]] std::uint16_t port() const { return service->port(); }

  std::shared_ptr<attended> source = std::make_shared<attended>();
  // Deadlines stop work, too.
  hondana::manual_clock clock;
  hondana::server server = must(hondana::server::create());
  std::optional<hondana::http_service> service;
};

std::string request(std::string_view method, int id, std::string_view params) {
  return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"method":")" + std::string(method) + R"(","params":)" +
         std::string(params) + "}";
}

std::string hello(std::string_view revision) {
  return request(
      "initialize", 0,
      R"({"protocolVersion":")" + std::string(revision) + R"(","capabilities":{},"clientInfo":{"name":"t","version":"1"}})");
}

constexpr std::string_view one_uri = R"({"uri":"memo:///a"})";

/// A conversation by /sse and /message.
struct pair_of_places {
  explicit pair_of_places(std::uint16_t at) : port(at), stream(at) {
    stream.send("GET /sse HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n");
    const auto opening = stream.receive_until("\n\n");
    const auto place = opening.find("/message?sessionId=");
    if (place != std::string::npos) target = opening.substr(place, opening.find_first_of("\r\n", place) - place);
    EXPECT_EQ(say(hello("2024-11-05")), 202);
    (void)stream.receive_until("\n\n");
  }
  int say(const std::string& message) const {
    client peer(port);
    peer.send("POST " + target + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: " +
              std::to_string(message.size()) + "\r\n\r\n" + message);
    return peer.receive().status;
  }

  std::uint16_t port;
  client stream;
  std::string target;
};

TEST(leaving, the_stream_of_the_oldest_transport_stops_its_requests_and_subscriptions) {
  shop with;
  pair_of_places peer(with.port());
  EXPECT_EQ(peer.say(request("resources/subscribe", 1, one_uri)), 202);
  EXPECT_TRUE(with.source->is_attached(1));
  EXPECT_EQ(peer.say(request("resources/read", 2, one_uri)), 202);
  ASSERT_TRUE(with.source->has_begun(1));
  peer.stream.vanish();
  EXPECT_TRUE(with.source->has_stopped(1));
  EXPECT_TRUE(with.source->is_attached(0));
}

TEST(leaving, a_session_stops_its_requests_and_subscriptions) {
  shop with;
  client peer(with.port());
  peer.send(post(hello("2025-11-25")));
  const auto field = "Mcp-Session-Id: " + peer.receive().fields["mcp-session-id"] + "\r\n";
  peer.send(post(request("resources/subscribe", 1, one_uri), field));
  EXPECT_EQ(peer.receive().status, 200);
  EXPECT_TRUE(with.source->is_attached(1));
  client asking(with.port());
  asking.send(post(request("resources/read", 2, one_uri), field));
  ASSERT_TRUE(with.source->has_begun(1));
  peer.send("DELETE /mcp HTTP/1.1\r\nHost: localhost\r\n" + field + "\r\n");
  EXPECT_EQ(peer.receive(false).status, 204);
  EXPECT_TRUE(with.source->has_stopped(1));
  EXPECT_TRUE(with.source->is_attached(0));
}

TEST(leaving, a_stateless_stream_of_changes_stops_its_subscriptions) {
  shop with;
  client peer(with.port());
  peer.send(post(modern("subscriptions/listen", "7", R"("notifications":{"resourceSubscriptions":["memo:///a"]},)")));
  EXPECT_NE(peer.receive_until("\n\n").find("200 OK"), std::string::npos);
  EXPECT_TRUE(with.source->is_attached(1));
  peer.vanish();
  EXPECT_TRUE(with.source->is_attached(0));
}

}  // namespace
