/// Who asks over TLS: certificates and the scheme reach the authenticator, request by request.
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hondana/audit.hpp>

#include "unit/transport/http_server/client.hpp"
#include "unit/transport/http_server/guarded.hpp"
#include "unit/transport/tls/certificates.hpp"

namespace {

using hondana_test::bearer;
using hondana_test::client;
using hondana_test::guarded;
using hondana_test::issued;
using hondana_test::pem_folder;
using hondana_test::post;
using testing::HasSubstr;

const std::string whoami = hondana_test::library::read("memo:///who", "1");

/// Files of a server that asks clients for certificates, and of a client that has one.
struct files {
  [[nodiscard]] hondana::http_options server() const {
    hondana::http_options out;
    out.tls = {folder.write("certificate.pem", own.certificate_text()), folder.write("key.pem", own.key_text()),
               folder.write("clients.pem", authority.certificate_text()), false};
    return out;
  }
  [[nodiscard]] hondana_test::tls_manner of_alice() const {
    hondana_test::tls_manner out;
    out.certificate = folder.write("alice.pem", alice.certificate_text());
    out.key = folder.write("alice-key.pem", alice.key_text());
    return out;
  }

  pem_folder folder;
  issued own;
  issued authority{{.name = "authority", .names = {}, .is_authority = true}};
  issued alice{{.name = "alice/O=Example", .names = "email:alice@example.com", .serial = 2}, &authority};
};

TEST(callers_over_tls, show_their_certificate_to_the_authenticator) {
  const files some;
  guarded with({}, some.server());
  client peer(with.service->port());
  ASSERT_TRUE(peer.shake_hands(some.of_alice())) << peer.trouble();
  peer.send(post(whoami, bearer("alice")));
  EXPECT_THAT(peer.receive().body, HasSubstr("\"alice at 127.0.0.1\""));
  const auto facts = with.clerk->last();
  EXPECT_TRUE(facts.is_secure);
  ASSERT_TRUE(facts.certificate);
  EXPECT_EQ(facts.certificate->subject, "CN=alice,O=Example");
  EXPECT_EQ(facts.certificate->alternative_names, (std::vector<std::string>{"email:alice@example.com"}));
}

TEST(callers_over_tls, without_a_certificate_are_secure_all_the_same) {
  const files some;
  guarded with({}, some.server());
  with.clerk->about = std::make_shared<hondana::protected_resource>();
  client peer(with.service->port());
  ASSERT_TRUE(peer.shake_hands()) << peer.trouble();
  peer.send("DELETE /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(peer.receive().fields["www-authenticate"],
            "Bearer resource_metadata=\"https://localhost/.well-known/oauth-protected-resource/mcp\"");
  EXPECT_TRUE(with.clerk->last().is_secure);
  EXPECT_FALSE(with.clerk->last().certificate);
}

TEST(callers_over_tls, behind_a_trusted_proxy_have_not_shown_its_certificate) {
  const files some;
  auto where = some.server();
  where.trusted_proxies = {"127.0.0.1"};
  guarded with({}, where);
  client proxy(with.service->port());
  ASSERT_TRUE(proxy.shake_hands(some.of_alice())) << proxy.trouble();
  proxy.send(post(whoami, bearer("bob") + "X-Forwarded-For: 198.51.100.7\r\nX-Forwarded-Proto: http\r\n"));
  EXPECT_THAT(proxy.receive().body, HasSubstr("\"bob at 198.51.100.7\""));
  EXPECT_FALSE(with.clerk->last().certificate);
  EXPECT_FALSE(with.clerk->last().is_secure) << "the client spoke plain HTTP to the proxy";
}

// attacks: opening a stream by a certificate whose authority was removed while the request was looked at
TEST(callers_over_tls, whose_authority_goes_while_they_are_asked_about_open_no_lasting_stream) {
  const files some;
  guarded with({}, some.server());
  client stream(with.service->port());
  ASSERT_TRUE(stream.shake_hands(some.of_alice())) << stream.trouble();
  stream.send(post(hondana_test::modern("subscriptions/listen", "9", R"("notifications":{"resourcesListChanged":true},)"),
                   bearer("slow-alice")));
  ASSERT_TRUE(with.clerk->asked.reaches(1));
  some.folder.write("clients.pem", issued({.name = "another", .names = {}, .is_authority = true}).certificate_text());
  ASSERT_TRUE(with.service->reload_certificates());
  // What the reload does reaches each loop before what is posted to it from now on.
  client other(with.service->port());
  ASSERT_TRUE(other.shake_hands()) << other.trouble();
  with.clerk->open();
  EXPECT_THAT(stream.receive_until("0\r\n\r\n"), HasSubstr("\"id\":9")) << "the stream goes on";
  EXPECT_TRUE(stream.sees_the_end());
}

/// Keeps who was refused.
class refusals final : public hondana::auditor {
 public:
  ~refusals() override = default;
  hondana::result<std::uint64_t> record_decision(const hondana::audit_decision& what) override {
    const std::lock_guard lock(mutex_);
    if (!what.is_allowed) all_.push_back(what.identity + '/' + std::to_string(what.http_status.value_or(0)));
    return 0;
  }
  void record_completion(std::uint64_t, const hondana::audit_completion&) override {}
  std::vector<std::string> all() const {
    const std::lock_guard lock(mutex_);
    return all_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> all_;
};

// attacks: having what is refused recorded as done by the caller before
TEST(callers_over_tls, refused_by_their_certificate_are_recorded_as_nobody) {
  const files some;
  const auto record = std::make_shared<refusals>();
  hondana::server_options options;
  options.audit = record;
  guarded with(options, some.server());
  client peer(with.service->port());
  ASSERT_TRUE(peer.shake_hands(some.of_alice())) << peer.trouble();
  peer.send(post(whoami, bearer("alice")));
  EXPECT_THAT(peer.receive().body, HasSubstr("\"alice at 127.0.0.1\""));
  some.folder.write("clients.pem", issued({.name = "another", .names = {}, .is_authority = true}).certificate_text());
  ASSERT_TRUE(with.service->reload_certificates());
  client other(with.service->port());
  ASSERT_TRUE(other.shake_hands()) << other.trouble();
  peer.send(post(whoami, bearer("bob")));
  EXPECT_EQ(peer.receive().status, 401);
  EXPECT_THAT(record->all(), testing::ElementsAre("/401"));
}

}  // namespace
