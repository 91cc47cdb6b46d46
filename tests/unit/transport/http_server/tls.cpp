/// TLS as clients see it: what is spoken, who is refused and how, and how connections end. That everything else works over it,
/// too, is tested by running the tests of this room once more (run_over_tls.hpp).
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "support/must.hpp"
#include "unit/transport/http_server/secure_library.hpp"

namespace {

using hondana_test::client;
using hondana_test::get;
using hondana_test::issued;
using hondana_test::library;
using hondana_test::post;
using hondana_test::secure_library;
using hondana_test::tls_manner;
using std::chrono::milliseconds;

const std::string hello = post(library::read("memo:///a"));

std::string reads(client& peer) {
  peer.send(hello);
  return peer.receive().body;
}

/// What a client that begins the handshake is told, at once or with its first read.
std::string refusal(client peer) {
  if (!peer.trouble().empty()) return peer.trouble();
  peer.send(hello);
  const auto got = peer.receive();
  return got.status == 0 ? peer.trouble() : "it was served";
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(http_over_tls, answers_by_the_newest_version_and_by_1_2) {
  secure_library with;
  for (const int newest : {0, TLS1_2_VERSION}) {
    tls_manner how;
    how.authorities = with.certificate();
    how.newest = newest;
    auto peer = with.connect(how);
    ASSERT_EQ(peer.trouble(), "");
    EXPECT_STREQ(SSL_get_version(peer.tls()), newest == 0 ? "TLSv1.3" : "TLSv1.2");
    const unsigned char* chosen = nullptr;
    unsigned size = 0;
    SSL_get0_alpn_selected(peer.tls(), &chosen, &size);
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(chosen), size), "http/1.1");
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(has(reads(peer), "hello"));
  }
}

TEST(http_over_tls, a_client_without_application_protocols_is_served) {
  secure_library with;
  tls_manner how;
  how.protocols.clear();
  auto peer = with.connect(how);
  EXPECT_TRUE(has(reads(peer), "hello"));
}

TEST(http_over_tls, a_client_that_offers_other_protocols_alone_is_refused) {
  secure_library with;
  tls_manner how;
  how.protocols = "\x02h2";
  EXPECT_TRUE(has(refusal(with.connect(how)), "no application protocol"));
  how.protocols = "\x02h2\x08http/1.1";
  EXPECT_EQ(refusal(with.connect(how)), "it was served");
}

TEST(http_over_tls, old_versions_and_suites_are_refused) {
  secure_library with;
  tls_manner how;
  how.oldest = TLS1_VERSION;
  how.newest = TLS1_1_VERSION;
  EXPECT_TRUE(has(refusal(with.connect(how)), "alert protocol version"));
  how.newest = TLS1_2_VERSION;
  for (const char* suites : {"ECDHE-ECDSA-AES128-SHA256", "AES128-GCM-SHA256", "DHE-RSA-AES128-GCM-SHA256"}) {
    how.suites = suites;
    EXPECT_TRUE(has(refusal(with.connect(how)), "alert handshake failure")) << suites;
  }
}

TEST(http_over_tls, a_session_is_resumed) {
  secure_library with;
  auto first = with.connect();
  reads(first);
  tls_manner how;
  how.resumes = SSL_get1_session(first.tls());
  auto second = with.connect(how);
  SSL_SESSION_free(how.resumes);
  EXPECT_EQ(SSL_session_reused(second.tls()), 1);
  EXPECT_TRUE(has(reads(second), "hello"));
}

TEST(http_over_tls, who_speaks_plain_http_is_told_so) {
  secure_library with;
  for (const auto& request : {hello, get("/healthz")}) {
    client peer(with->port());
    peer.send(request);
    const auto got = peer.receive();
    EXPECT_EQ(got.status, 400);
    EXPECT_TRUE(has(got.body, "https://")) << got.body;
    EXPECT_EQ(got.fields.at("connection"), "close");
    EXPECT_TRUE(peer.sees_the_end());
  }
}

TEST(http_over_tls, who_speaks_it_to_a_plain_port_is_told_so_in_http) {
  library plain({}, {}, {}, std::nullopt);
  client peer(plain.port());
  EXPECT_FALSE(peer.shake_hands());
  EXPECT_TRUE(has(peer.trouble(), "wrong version number")) << peer.trouble();
}

TEST(http_over_tls, the_address_for_reports_stays_plain) {
  secure_library with;
  client peer(with->service->admin_port());
  peer.send(get("/healthz"));
  EXPECT_EQ(peer.receive().status, 200);
}

TEST(http_over_tls, a_unix_socket_stays_plain) {
  const hondana_test::pem_folder folder;
  const issued own;
  hondana::server server = must(hondana::server::create());
  hondana::http_options where;
  where.socket_path = folder.path("socket");
  where.tls = {folder.write("certificate.pem", own.certificate_text()), folder.write("key.pem", own.key_text()), {}, false};
  const auto service = hondana::http_service::start(server, where);
  ASSERT_TRUE(service) << service.error().public_text;
  auto peer = client::at_path(*where.socket_path);
  peer.send(get("/healthz"));
  EXPECT_EQ(peer.receive().status, 200);
}

TEST(http_over_tls, files_that_cannot_be_used_are_told_at_start) {
  hondana::server server = must(hondana::server::create());
  hondana::http_options where;
  where.port = 0;
  where.tls = {"/nonexistent/certificate.pem", "/nonexistent/key.pem", {}, false};
  const auto service = hondana::http_service::start(server, where);
  ASSERT_FALSE(service);
  EXPECT_EQ(service.error().code, hondana::errc::invalid_argument);
  EXPECT_EQ(service.error().public_text, "Cannot use the certificate /nonexistent/certificate.pem: No such file or directory.");
}

TEST(http_over_tls, an_expired_certificate_is_warned_of_in_the_log) {
  secure_library with;
  with.show(issued({.from = -7200, .until = -3600}));
  ASSERT_TRUE(with->service->reload_certificates());
  EXPECT_TRUE(has(with->log(), "certificate.pem expired at 20")) << with->log();
}

bool was_told_farewell(client& peer) { return (SSL_get_shutdown(peer.tls()) & SSL_RECEIVED_SHUTDOWN) != 0; }

TEST(http_over_tls, connections_end_with_a_farewell) {
  hondana::transport::http_server::limits limits;
  limits.keep_alive_timeout = milliseconds(50);
  secure_library with(limits);
  auto idle = with.connect();
  reads(idle);
  EXPECT_TRUE(idle.sees_the_end());
  EXPECT_TRUE(was_told_farewell(idle));
  auto closing = with.connect();
  closing.send(post(library::read("memo:///a"), "Connection: close\r\n"));
  EXPECT_TRUE(has(closing.receive().body, "hello"));
  EXPECT_TRUE(closing.sees_the_end());
  EXPECT_TRUE(was_told_farewell(closing));
  auto drained = with.connect();
  reads(drained);
  with->service->drain(hondana_test::event_deadline);
  EXPECT_TRUE(drained.sees_the_end());
  EXPECT_TRUE(was_told_farewell(drained));
}

TEST(http_over_tls, an_answer_that_is_cut_off_ends_without_one) {
  secure_library with;
  const auto given = std::make_shared<std::atomic<std::uint64_t>>(0);
  with->source->entries["memo:///big"] = [given](const auto&) {
    hondana::read_result out;
    out.contents.push_back({{},
                            "big",
                            "",
                            "text/plain",
                            hondana::content_kind::text,
                            std::make_shared<hondana_test::letters>(5u << 20, given, 2u << 20)});
    return out;
  };
  auto peer = with.connect();
  peer.send(hondana_test::old_post(library::read("memo:///big")));
  const auto got = peer.receive();
  EXPECT_EQ(got.status, 200);
  EXPECT_FALSE(was_told_farewell(peer));
}

}  // namespace
