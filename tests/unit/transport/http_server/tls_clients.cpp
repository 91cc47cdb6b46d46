/// Certificates of clients: asked for, needed, and refused.
#include <string>

#include <gtest/gtest.h>

#include "unit/transport/http_server/secure_library.hpp"

namespace {

using hondana_test::client;
using hondana_test::issued;
using hondana_test::library;
using hondana_test::post;
using hondana_test::secure_library;
using hondana_test::tls_manner;

class http_client_certificate : public ::testing::Test {
 protected:
  /// What a client that shows `own`, or nothing, is told.
  static std::string outcome(secure_library& with, const issued* own, int newest = 0) {
    auto how = own == nullptr ? tls_manner{} : with.showing(*own);
    how.newest = newest;
    auto peer = with.connect(how);
    if (!peer.trouble().empty()) return peer.trouble();
    peer.send(post(library::read("memo:///a")));
    const auto got = peer.receive();
    return got.body.find("hello") != std::string::npos ? "served" : peer.trouble();
  }
  static void expect(const std::string& told, const std::string& part) {
    EXPECT_NE(told.find(part), std::string::npos) << told << "\nlacks " << part;
  }

  issued authority{{.name = "authority", .names = {}, .is_authority = true}};
  issued alice{{.name = "alice", .serial = 2}, &authority};
};

TEST_F(http_client_certificate, that_holds_is_taken) {
  for (const bool needs : {false, true}) {
    secure_library with({}, &authority, needs);
    EXPECT_EQ(outcome(with, &alice), "served");
    EXPECT_EQ(outcome(with, &alice, TLS1_2_VERSION), "served");
  }
}

TEST_F(http_client_certificate, that_is_missing_is_missed_only_when_needed) {
  secure_library asking({}, &authority, false);
  EXPECT_EQ(outcome(asking, nullptr), "served");
  secure_library needing({}, &authority, true);
  expect(outcome(needing, nullptr), "certificate required");
  expect(outcome(needing, nullptr, TLS1_2_VERSION), "handshake failure");
}

TEST_F(http_client_certificate, that_does_not_hold_is_refused_even_when_none_is_needed) {
  const issued other({.name = "other", .names = {}, .is_authority = true});
  const issued stranger({.name = "alice", .serial = 2}, &other);
  const issued expired({.name = "alice", .serial = 3, .from = -7200, .until = -3600}, &authority);
  for (const bool needs : {false, true}) {
    secure_library with({}, &authority, needs);
    expect(outcome(with, &stranger), "unknown ca");
    expect(outcome(with, &expired), "certificate expired");
    expect(outcome(with, &expired, TLS1_2_VERSION), "certificate expired");
    EXPECT_EQ(outcome(with, &alice), "served");
  }
}

TEST_F(http_client_certificate, is_not_skipped_by_resuming) {
  secure_library with({}, &authority, true);
  for (const int newest : {0, TLS1_2_VERSION}) {
    auto how = with.showing(alice);
    how.newest = newest;
    auto first = with.connect(how);
    first.send(post(library::read("memo:///a")));
    ASSERT_EQ(first.receive().status, 200);
    how.resumes = SSL_get1_session(first.tls());
    auto second = with.connect(how);
    SSL_SESSION_free(how.resumes);
    EXPECT_EQ(second.trouble(), "");
    EXPECT_EQ(SSL_session_reused(second.tls()), 0);
  }
}

}  // namespace
