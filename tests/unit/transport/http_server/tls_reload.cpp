/// Certificates read again while connections stand.
#include <string>

#include <gtest/gtest.h>

#include "unit/transport/http_server/secure_library.hpp"

namespace {

using hondana_test::client;
using hondana_test::issued;
using hondana_test::library;
using hondana_test::post;
using hondana_test::secure_library;

bool says_hello(client& peer) {
  peer.send(post(library::read("memo:///a")));
  return peer.receive().body.find("hello") != std::string::npos;
}

TEST(http_certificates, read_again_are_seen_by_new_connections_while_old_ones_go_on) {
  secure_library with;
  auto old = with.connect();
  auto stream = with.connect();
  EXPECT_EQ(old.serial(), 11);
  EXPECT_TRUE(says_hello(old));
  stream.send(post(hondana_test::modern("subscriptions/listen", "1", R"("notifications":{"resourcesListChanged":true},)")));
  EXPECT_NE(stream.receive_until("\r\n\r\n").find("text/event-stream"), std::string::npos);
  EXPECT_NE(stream.receive_until("\n\n").find("acknowledged"), std::string::npos);

  with.show(issued({.serial = 12}));
  ASSERT_TRUE(with->service->reload_certificates());
  auto young = with.connect();
  EXPECT_EQ(young.serial(), 12);
  EXPECT_TRUE(says_hello(young));
  EXPECT_TRUE(says_hello(old));
  with->server.notify_resources_changed();
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
  EXPECT_TRUE(says_hello(peer));
}

TEST(http_certificates, are_not_read_where_there_are_none) {
  library plain({}, {}, {}, std::nullopt);
  EXPECT_TRUE(plain.service->reload_certificates());
}

constexpr auto listen = R"("notifications":{"resourcesListChanged":true},)";

/// A stream of changes, opened.
client listening(secure_library& with, const hondana_test::tls_manner& how) {
  auto made = with.connect(how);
  made.send(post(hondana_test::modern("subscriptions/listen", "9", listen)));
  EXPECT_NE(made.receive_until("\n\n").find("200 OK"), std::string::npos) << made.trouble();
  return made;
}

const hondana_test::wanted_certificate for_authority{.name = "authority", .names = {}, .is_authority = true};

/// A stream and a connection of a client whose certificates last so many seconds end once others vouch for clients.
void expect_end_with_authority(long until) {
  const issued authority({.name = "authority", .names = {}, .until = until, .is_authority = true});
  const issued alice({.name = "alice", .serial = 2, .until = until}, &authority);
  secure_library with({}, &authority, true);
  auto idle = with.connect(with.showing(alice));
  EXPECT_TRUE(says_hello(idle)) << idle.trouble();
  auto stream = listening(with, with.showing(alice));
  with.folder().write("clients.pem", issued(for_authority).certificate_text());
  ASSERT_TRUE(with->service->reload_certificates());
  EXPECT_NE(stream.receive_until("0\r\n\r\n").find("\"id\":9"), std::string::npos);
  EXPECT_TRUE(stream.sees_the_end());
  idle.send(post(library::read("memo:///a")));
  const auto refused = idle.receive();
  EXPECT_EQ(refused.status, 401);
  EXPECT_NE(refused.body.find("is no longer trusted"), std::string::npos) << refused.body;
  EXPECT_TRUE(idle.sees_the_end());
}

// attacks: going on over a connection after whoever vouched for the client is trusted no more
TEST(http_certificates, of_clients_are_worth_nothing_once_their_authority_is_replaced) { expect_end_with_authority(3600); }

TEST(http_certificates, of_clients_for_ten_years_are_worth_nothing_once_their_authority_is_replaced) {
  expect_end_with_authority(10L * 365 * 24 * 3600);
}

TEST(http_certificates, of_clients_are_worth_what_they_were_while_their_authority_stays) {
  const issued authority(for_authority);
  const issued alice({.name = "alice", .serial = 2}, &authority);
  secure_library with({}, &authority, true);
  auto idle = with.connect(with.showing(alice));
  EXPECT_TRUE(says_hello(idle)) << idle.trouble();
  auto stream = listening(with, with.showing(alice));
  with.folder().write("clients.pem", issued({.name = "another", .names = {}, .is_authority = true}).certificate_text() +
                                         authority.certificate_text());
  ASSERT_TRUE(with->service->reload_certificates());
  EXPECT_TRUE(says_hello(idle));
  with->server.notify_resources_changed();
  EXPECT_NE(stream.receive_until("\n\n").find("list_changed"), std::string::npos);
}

/// What a client's certificate that lasts so many seconds has opened ends with it. False when it has expired before.
bool expect_end_with_certificate(long lasts) {
  const issued authority(for_authority);
  const issued alice({.name = "alice", .serial = 2, .until = lasts}, &authority);
  secure_library with({}, &authority, true);
  auto idle = with.connect(with.showing(alice));
  if (!says_hello(idle)) return false;
  auto stream = with.connect(with.showing(alice));
  stream.send(post(hondana_test::modern("subscriptions/listen", "9", listen)));
  if (stream.receive_until("\n\n").find("200 OK") == std::string::npos) return false;
  EXPECT_NE(stream.receive_until("0\r\n\r\n").find("\"id\":9"), std::string::npos) << "the stream went on";
  idle.send(post(library::read("memo:///a")));
  const auto refused = idle.receive();
  EXPECT_EQ(refused.status, 401);
  EXPECT_NE(refused.body.find("has expired"), std::string::npos) << refused.body;
  EXPECT_TRUE(idle.sees_the_end());
  return true;
}

// attacks: going on over a connection after the client's certificate has expired
TEST(http_certificates, of_clients_end_with_what_they_have_opened) {
  // The time of certificates is that of the machine, which may be slow.
  long lasts = 1;
  while (lasts <= 32 && !expect_end_with_certificate(lasts)) lasts *= 2;
  EXPECT_LE(lasts, 32) << "nothing was opened";
}

}  // namespace
