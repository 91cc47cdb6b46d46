/// Whom the client trusts and what it shows, against our own server by TLS.
#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <hondana/memory_provider.hpp>
#include <hondana/server.hpp>

#include "support/must.hpp"
#include "transport/http_client/checked_target.hpp"
#include "transport/http_client/http_channel.hpp"
#include "transport/http_client/small_request.hpp"
#include "unit/transport/http_client/scripted_server.hpp"
#include "unit/transport/tls/certificates.hpp"

namespace {

using hondana::errc;
using hondana::http_target;
using hondana_test::issued;
using hondana_test::kept_words;

hondana::channel::outgoing_message discover(std::uint64_t id) {
  hondana::channel::outgoing_message out;
  out.text =
      R"({"jsonrpc":"2.0","id":)" + std::to_string(id) +
      R"(,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}})";
  out.call = id;
  out.headers = {{"MCP-Protocol-Version", "2026-07-28"}, {"Mcp-Method", "server/discover"}};
  return out;
}

class client_certificates : public ::testing::Test {
 protected:
  /// `clients`: who signs what clients show; null: none are asked.
  void serve(const issued* clients) {
    hondana::http_options where;
    where.port = 0;
    where.tls = {folder.write("server.pem", own.certificate_text()), folder.write("server-key.pem", own.key_text()), {}, false};
    if (clients != nullptr) {
      where.tls->client_ca_file = folder.write("clients.pem", clients->certificate_text());
      where.tls->requires_client_certificate = true;
    }
    auto started = hondana::http_service::start(server, where);
    ASSERT_TRUE(started) << started.error().public_text;
    service = std::make_unique<hondana::http_service>(std::move(*started));
  }
  http_target target() {
    http_target out;
    out.url = "https://127.0.0.1:" + std::to_string(service->port()) + "/mcp";
    out.proxy = "none";
    out.ca_file = folder.path("server.pem");
    return out;
  }
  void show(http_target& in, const issued& one) {
    in.certificate_file = folder.write("client.pem", one.certificate_text());
    in.key_file = folder.write("client-key.pem", one.key_text());
  }
  /// What comes of a question: "answered", or why not.
  static std::string outcome(const http_target& to) {
    kept_words heard;
    auto channel = hondana::transport::http_client::make_http(to, heard, {}, {});
    if (!channel) return channel.error().public_text;
    (*channel)->send(discover(1));
    const auto how = heard.ending_of(1);
    if (!how) return "nothing";
    return heard.messages(0).size() == 1 ? "answered" : how->reason.public_text;
  }
  static void expect(const std::string& told, const std::string& part) {
    EXPECT_NE(told.find(part), std::string::npos) << told << "\nlacks " << part;
  }
  static std::string why_not(const http_target& to) {
    const auto checked = hondana::transport::http_client::check_target(to);
    if (checked) return "it is fine";
    EXPECT_EQ(checked.error().code, errc::invalid_argument);
    return checked.error().public_text;
  }

  hondana_test::pem_folder folder;
  issued own;
  issued authority{{.name = "authority", .names = {}, .is_authority = true}};
  issued alice{{.name = "alice", .serial = 2}, &authority};
  hondana::server server = must(hondana::server::create());
  std::unique_ptr<hondana::http_service> service;
};

TEST_F(client_certificates, a_server_of_a_named_authority_is_asked) {
  serve(nullptr);
  EXPECT_EQ(outcome(target()), "answered");
}

TEST_F(client_certificates, a_common_name_is_no_name_of_a_host) {
  own = issued({.name = "localhost", .names = ""});
  serve(nullptr);
  auto to = target();
  to.url = "https://localhost:" + std::to_string(service->port()) + "/mcp";
  expect(outcome(to), "names no host in its subjectAltName");
}

TEST_F(client_certificates, a_server_of_others_is_not_trusted_and_the_file_is_named) {
  serve(nullptr);
  auto to = target();
  to.ca_file = folder.write("others.pem", issued().certificate_text());
  const auto why = outcome(to);
  expect(why, "is not trusted by " + *to.ca_file);
  expect(why, "certificate");
  to.ca_file.reset();
  expect(outcome(to), "--cacert FILE");
}

TEST_F(client_certificates, a_server_of_another_name_is_told_from_one_that_nobody_trusts) {
  own = issued({.names = "DNS:shelf.example"});
  serve(nullptr);
  const auto why = outcome(target());
  expect(why, "is for another name");
  expect(why, "use a name of the certificate in the URL");
}

TEST_F(client_certificates, what_is_shown_is_taken_by_a_server_that_needs_it) {
  serve(&authority);
  auto to = target();
  show(to, alice);
  EXPECT_EQ(outcome(to), "answered");
  to.certificate_file = folder.write("both.pem", alice.key_text() + alice.certificate_text());
  to.key_file.reset();
  EXPECT_EQ(outcome(to), "answered");
}

TEST_F(client_certificates, are_shown_by_small_calls_to_the_one_origin_they_are_for) {
  serve(&authority);
  auto to = target();
  show(to, alice);
  hondana::transport::http_client::call_policy under{.trusted_hosts = {"127.0.0.1"}, .ca_file = *to.ca_file};
  under.certificate_file = *to.certificate_file;
  under.key_file = *to.key_file;
  under.certificate_origin = "https://127.0.0.1:1";
  EXPECT_FALSE(call_guarded({.url = to.url}, under, {}));
  under.certificate_origin = *hondana::transport::http_client::origin_of(to.url);
  const auto got = call_guarded({.url = to.url}, under, {});
  ASSERT_TRUE(got) << got.error().public_text;
  EXPECT_NE(got->status, 0);
}

TEST_F(client_certificates, a_server_that_misses_one_is_understood) {
  serve(&authority);
  const auto why = outcome(target());
  expect(why, "requires a client certificate");
  expect(why, "--cert FILE");
}

TEST_F(client_certificates, one_that_the_server_does_not_take_is_named) {
  serve(&authority);
  auto to = target();
  show(to, issued({.name = "alice"}));
  expect(outcome(to), "rejected the client certificate " + *to.certificate_file);
  show(to, issued({.name = "alice", .from = -7200, .until = -3600}, &authority));
  const auto why = outcome(to);
  expect(why, "rejected the client certificate " + *to.certificate_file);
  expect(why, "expired");
}

TEST_F(client_certificates, files_are_checked_before_anything_is_sent) {
  serve(nullptr);
  auto to = target();
  to.ca_file = folder.path("missing.pem");
  expect(why_not(to), "Cannot use the authorities " + *to.ca_file + ": No such file or directory");
  to.ca_file = folder.write("text.pem", "nothing");
  expect(why_not(to), "it contains no certificate");
  to = target();
  to.certificate_file = folder.path("missing.pem");
  expect(why_not(to), "Cannot use the certificate " + *to.certificate_file);
  to = target();
  show(to, alice);
  to.key_file = folder.write("other.pem", issued().key_text());
  expect(why_not(to), "other.pem: it does not belong to the certificate in " + *to.certificate_file);
  to.key_file = folder.write("locked.pem", alice.key_text("secret"));
  expect(why_not(to), "passphrase");
  to.key_file = to.certificate_file;
  expect(why_not(to), "it contains no key");
  to.certificate_file.reset();
  expect(why_not(to), "has no certificate");
}

}  // namespace
