/// Certificates read again while connections stand.
#include <string>

#include <gtest/gtest.h>

#include "unit/transport/http/secure_library.hpp"

namespace {

using hondana_test::client;
using hondana_test::issued;
using hondana_test::library;
using hondana_test::post;
using hondana_test::secure_library;

bool is_served(client& peer) {
  peer.send(post(library::read("memo:///a")));
  return peer.receive().body.find("hello") != std::string::npos;
}

TEST(http_certificates, read_again_are_seen_by_new_connections_while_old_ones_go_on) {
  secure_library with;
  auto old = with.connect();
  auto stream = with.connect();
  EXPECT_EQ(old.serial(), 11);
  EXPECT_TRUE(is_served(old));
  stream.send(post(hondana_test::modern("subscriptions/listen", "1", R"("notifications":{"resourcesListChanged":true},)")));
  EXPECT_NE(stream.receive_until("\r\n\r\n").find("text/event-stream"), std::string::npos);
  EXPECT_NE(stream.receive_until("\n\n").find("acknowledged"), std::string::npos);

  with.show(issued({.serial = 12}));
  ASSERT_TRUE(with->service->reload_certificates());
  auto young = with.connect();
  EXPECT_EQ(young.serial(), 12);
  EXPECT_TRUE(is_served(young));
  EXPECT_TRUE(is_served(old));
  with->server.resources_changed();
  EXPECT_NE(stream.receive_until("\n\n").find("list_changed"), std::string::npos);
}

TEST(http_certificates, that_cannot_be_used_leave_the_old_ones_in_place) {
  secure_library with;
  with.folder().write("key.pem", issued().key_text());
  const auto outcome = with->service->reload_certificates();
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, hondana::errc::invalid_argument);
  EXPECT_NE(outcome.error().public_text.find("key.pem: it does not belong to"), std::string::npos)
      << outcome.error().public_text;
  auto peer = with.connect();
  EXPECT_EQ(peer.serial(), 11);
  EXPECT_TRUE(is_served(peer));
}

TEST(http_certificates, are_not_read_where_there_are_none) {
  library plain({}, {}, {}, hondana::tls_options{});
  EXPECT_TRUE(plain.service->reload_certificates());
}

}  // namespace
