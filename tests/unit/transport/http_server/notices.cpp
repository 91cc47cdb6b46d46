/// Notices from outside: handed to the source that wants them, and to nobody else.
#include <atomic>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include <hondana/webhook.hpp>

#include "unit/transport/http_server/client.hpp"
#include "unit/transport/http_server/shelf.hpp"

namespace {

using namespace hondana_test;

/// Takes notices that have a secret.
class told final : public hondana::provider, public hondana::webhook_receiver {
 public:
  std::string name() const override { return "told"; }
  std::vector<std::string> claims() const override { return {"told:///"}; }
  hondana::scheme_documentation documentation() const override { return {"told", "Of the test.", {}, {}}; }
  hondana::result<hondana::list_result> list(const hondana::list_request&) override { return hondana::list_result{}; }
  hondana::result<hondana::read_result> read(const hondana::read_request&) override {
    return hondana::fail(hondana::errc::resource_not_found, "Resource not found");
  }
  bool accepts_webhooks() const noexcept override { return wants; }
  bool handle_webhook(const hondana::webhook_request& what) override {
    if (what.header("x-secret") != "open sesame") return false;
    ++taken;
    return true;
  }
  std::atomic<bool> wants{true};
  std::atomic<int> taken{0};
};

std::string notice_to(const std::string& name, const std::string& secret, const std::string& host = "localhost") {
  return "POST /notify/" + name + " HTTP/1.1\r\nHost: " + host + "\r\nX-Secret: " + secret + "\r\nContent-Length: 0\r\n\r\n";
}

struct notices : testing::Test {
  notices() { EXPECT_TRUE(with.server.add(taker)); }
  int status_of(const std::string& request) {
    client peer(with.port());
    peer.send(request);
    return peer.receive().status;
  }
  library with;
  std::shared_ptr<told> taker = std::make_shared<told>();
};

TEST_F(notices, reach_the_source_of_that_name_over_one_connection) {
  client peer(with.port());
  for (int i = 1; i <= 3; ++i) {
    peer.send(notice_to("told", "open sesame"));
    EXPECT_EQ(peer.receive().status, 204);
    EXPECT_EQ(taker->taken, i);
  }
}

TEST_F(notices, that_are_refused_or_to_nobody_look_like_a_path_that_is_not_there) {
  client peer(with.port());
  peer.send(get("/nothing"));
  const auto nothing = peer.receive();
  ASSERT_EQ(nothing.status, 404);
  for (const auto& request :
       {notice_to("told", "guess"), notice_to("told", ""), notice_to("shelf", "open sesame"),
        notice_to("nobody", "open sesame"), notice_to("", "open sesame"), notice_to("told/", "open sesame"),
        notice_to("..%2Ftold", "open sesame"), notice_to("TOLD", "open sesame")}) {
    peer.send(request);
    const auto got = peer.receive();
    EXPECT_EQ(got.status, 404) << request;
    EXPECT_EQ(got.body, nothing.body) << request;
  }
  taker->wants = false;
  peer.send(notice_to("told", "open sesame"));
  EXPECT_EQ(peer.receive().status, 404);
  EXPECT_EQ(taker->taken, 0);
}

TEST_F(notices, come_by_post_and_from_no_stranger) {
  EXPECT_EQ(status_of(get("/notify/told")), 404);
  EXPECT_EQ(status_of(notice_to("told", "open sesame", "evil.example")), 403);
  EXPECT_EQ(
      status_of("POST /notify/told HTTP/1.1\r\nHost: localhost\r\nOrigin: https://evil.example\r\nX-Secret: open sesame\r\n"
                "Content-Length: 0\r\n\r\n"),
      403);
  EXPECT_EQ(taker->taken, 0);
}

TEST_F(notices, whose_content_is_long_are_taken_without_it) {
  client peer(with.port());
  peer.send(
      "POST /notify/told HTTP/1.1\r\nHost: localhost\r\nX-Secret: open sesame\r\nContent-Length: 1000000000\r\n\r\n{\"x\":1}");
  const auto got = peer.receive();
  EXPECT_EQ(got.status, 204);
  EXPECT_EQ(got.fields.at("connection"), "close");
  EXPECT_EQ(taker->taken, 1);
}

}  // namespace
