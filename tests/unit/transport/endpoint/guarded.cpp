/// Where requests never go, and what is never said.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/stat.h>

#include <cstring>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "deadline.hpp"
#include "transport/endpoint/address_rules.hpp"
#include "transport/endpoint/endpoint.hpp"
#include "unit/transport/http_client/scripted_server.hpp"

namespace {

using hondana::errc;
using hondana::endpoint::settings;
using hondana_test::heard_request;
using hondana_test::pem_folder;
using hondana_test::scripted_connection;
using hondana_test::scripted_server;
using service = hondana::endpoint::endpoint;

sockaddr_storage address(const std::string& text) {
  sockaddr_storage out{};
  sockaddr_in v4{};
  sockaddr_in6 v6{};
  if (::inet_pton(AF_INET, text.c_str(), &v4.sin_addr) == 1) {
    v4.sin_family = AF_INET;
    std::memcpy(&out, &v4, sizeof v4);
  } else if (::inet_pton(AF_INET6, text.c_str(), &v6.sin6_addr) == 1) {
    v6.sin6_family = AF_INET6;
    std::memcpy(&out, &v6, sizeof v6);
  } else {
    throw std::invalid_argument(text);
  }
  return out;
}

bool serves(const std::string& text) {
  const auto known = address(text);
  return hondana::endpoint::is_allowed_address(reinterpret_cast<const sockaddr&>(known));
}

/// With as much time as it needs.
std::shared_ptr<service> made_service(settings from) {
  from.timeout = hondana_test::event_deadline;
  auto out = service::create(std::move(from));
  if (!out) {
    ADD_FAILURE() << out.error().public_text;
    return {};
  }
  return *out;
}

std::string drawn() {
  std::random_device source;
  std::string out = "t";
  for (int i = 0; i < 24; ++i) out += static_cast<char>('a' + source() % 26);
  return out;
}

scripted_server::script page(std::string body) {
  return [=](const heard_request&, scripted_connection& to) { return to.answer(200, "text/plain", body); };
}

TEST(guarded_endpoint, knows_addresses_that_serve_nothing_in_every_form) {
  for (const std::string text : {"127.0.0.1", "10.1.2.3", "192.168.0.9", "172.16.0.1", "100.64.0.1", "8.8.8.8", "::1",
                                 "fd12:3456::1", "2001:4860::8888", "::ffff:10.0.0.1", "169.253.255.255", "169.255.0.0"})
    EXPECT_TRUE(serves(text)) << text;
  for (const std::string text : {"169.254.169.254",
                                 "169.254.0.0",
                                 "169.254.255.255",
                                 "0.0.0.0",
                                 "0.1.2.3",
                                 "224.0.0.1",
                                 "239.1.1.1",
                                 "255.255.255.255",
                                 "240.0.0.1",
                                 "100.100.100.200",
                                 "168.63.129.16",
                                 "192.0.0.192",
                                 "::",
                                 "fe80::1",
                                 "febf::1",
                                 "ff02::1",
                                 "fec0::1",
                                 "::ffff:169.254.169.254",
                                 "::169.254.169.254",
                                 "64:ff9b::a9fe:a9fe",
                                 "64:ff9b:1::169.254.169.254",
                                 "2002:a9fe:a9fe::1",
                                 "::ffff:0.0.0.0",
                                 "fd00:ec2::254",
                                 "fd20:ce::254",
                                 "fd00:c1::a9fe:a9fe"})
    EXPECT_FALSE(serves(text)) << text;
}

TEST(guarded_endpoint, only_a_literal_address_of_the_url_itself_is_an_exception) {
  const auto near = address("169.254.20.10");
  const auto& as_address = reinterpret_cast<const sockaddr&>(near);
  EXPECT_TRUE(hondana::endpoint::matches_literal(as_address, "169.254.20.10"));
  EXPECT_FALSE(hondana::endpoint::matches_literal(as_address, "metadata.example"));
  EXPECT_FALSE(hondana::endpoint::matches_literal(as_address, "169.254.20.11"));
  const auto carried = address("::ffff:169.254.20.10");
  EXPECT_FALSE(hondana::endpoint::matches_literal(reinterpret_cast<const sockaddr&>(carried), "[::ffff:169.254.20.10]"));
}

TEST(guarded_endpoint, where_clouds_tell_secrets_is_never_asked_even_if_it_is_named) {
  for (const std::string host : {"169.254.169.254", "169.254.170.2", "169.254.170.23", "100.100.100.200", "168.63.129.16",
                                 "192.0.0.192", "[fd00:ec2::254]", "[fd00:ec2::23]", "[fd20:ce::254]", "[fd00:c1::a9fe:a9fe]",
                                 "[fe80::a9fe:a9fe]", "[::ffff:169.254.169.254]"}) {
    const auto got = service::create({.url = "http://" + host + "/metrics"});
    ASSERT_FALSE(got) << host;
    EXPECT_EQ(got.error().code, errc::invalid_argument) << host;
    EXPECT_NE(got.error().public_text.find("never calls it"), std::string::npos) << got.error().public_text;
  }
  const auto metadata = address("169.254.169.254");
  EXPECT_FALSE(hondana::endpoint::matches_literal(reinterpret_cast<const sockaddr&>(metadata), "169.254.169.254"));
  EXPECT_TRUE(service::create({.url = "http://169.254.20.10:9253/metrics"}));
}

TEST(guarded_endpoint, urls_have_one_spelling_of_an_address) {
  for (const std::string host :
       {"0xa9fea9fe", "0251.0376.0251.0376", "2852039166", "169.254.43518", "0xa9.254.169.254", "127.1", "169.254.169.254.",
        "%31%36%39.254.169.254", "a b", "", "user@h", "user:pw@h", "[::1", "h:99999", "a..b", "h\\@g"})
    EXPECT_FALSE(service::create({.url = "http://" + host + "/metrics"})) << host;
  for (const std::string url : {"ftp://h/", "file:///etc/passwd", "h:9100", "", "http://h/#x", "http:///x", "gopher://h/"}) {
    const auto got = service::create({.url = url});
    ASSERT_FALSE(got) << url;
    EXPECT_EQ(got.error().code, errc::invalid_argument) << url;
  }
}

TEST(guarded_endpoint, a_mapped_address_and_the_unspecified_one_are_refused_when_the_socket_is_opened) {
  for (const std::string host : {"[::ffff:169.254.169.254]", "[64:ff9b::a9fe:a9fe]"}) {
    const auto it = service::create({.url = "http://" + host + "/", .timeout = hondana_test::event_deadline});
    if (!it) continue;  // refused earlier
    const auto got = (*it)->send({}, {});
    ASSERT_FALSE(got) << host;
    EXPECT_EQ(got.error().code, errc::access_denied) << host << got.error().public_text;
  }
}

TEST(guarded_endpoint, redirects_stay_within_the_origin) {
  scripted_server elsewhere(page("secret"));
  scripted_server server([&](const heard_request& what, scripted_connection& to) {
    const auto go = [&](const std::string& where) { return to.answer(302, "", "", "Location: " + where + "\r\n"); };
    if (what.target == "/here") return go("/there?a=b");
    if (what.target.starts_with("/there")) return to.answer(200, "text/plain", "found");
    if (what.target == "/round") return go("/round");
    if (what.target == "/elsewhere") return go(elsewhere.url("/x"));
    if (what.target == "/metadata") return go("http://169.254.169.254/latest/meta-data");
    if (what.target == "/file") return go("file:///etc/passwd");
    if (what.target == "/name") return go("http://user:pw@127.0.0.1:" + std::to_string(server.port()) + "/there");
    if (what.target == "/tls") return go("https://127.0.0.1:" + std::to_string(server.port()) + "/there");
    if (what.target == "/host") return go("http://localhost:" + std::to_string(server.port()) + "/there");
    return go("");
  });
  const auto it = made_service({.url = server.url("")});
  const auto found = it->send({.path = "/here"}, {});
  ASSERT_TRUE(found) << found.error().public_text;
  EXPECT_EQ(found->body, "found");
  EXPECT_EQ(server.requests(2).at(1).target, "/there?a=b");
  for (const std::string path : {"/elsewhere", "/metadata", "/tls", "/host", "/name"}) {
    const auto got = it->send({.path = path}, {});
    ASSERT_FALSE(got) << path;
    EXPECT_EQ(got.error().code, errc::access_denied) << path;
  }
  EXPECT_FALSE(it->send({.path = "/file"}, {}));
  EXPECT_EQ(it->send({.path = "/none"}, {}).error().code, errc::protocol_error);
  EXPECT_EQ(elsewhere.connections(), 0u);
  const auto before = server.requests(0).size();
  EXPECT_EQ(it->send({.path = "/round"}, {}).error().code, errc::protocol_error);
  EXPECT_EQ(server.requests(0).size(), before + 4);
  // What was posted is not sent again.
  const auto posted = it->send({.path = "/here", .body = "x"}, {});
  ASSERT_TRUE(posted);
  EXPECT_EQ(posted->status, 302);
  EXPECT_EQ(server.requests(0).size(), before + 5);
}

TEST(guarded_endpoint, tokens_are_read_anew_for_each_request_and_stand_in_no_text) {
  const pem_folder folder;
  const auto first = drawn();
  const auto second = drawn();
  const auto path = folder.write("token", first + "\n");
  scripted_server server(page("x"));
  const auto it = made_service({.url = server.url(""), .bearer_file = path});
  EXPECT_EQ(it->files(), std::vector<std::string>{path});
  ASSERT_TRUE(it->send({}, {}));
  folder.write("token", second);
  ASSERT_TRUE(it->send({}, {}));
  EXPECT_EQ(server.requests(2).at(0).field("authorization"), "Bearer " + first);
  EXPECT_EQ(server.requests(2).at(1).field("authorization"), "Bearer " + second);

  for (const auto& broken :
       {first + "\nX-Evil: 1", first + "\n\n", std::string(), std::string("\n"), first + '\0', std::string(40'000, 'a')}) {
    folder.write("token", broken);
    const auto got = it->send({}, {});
    ASSERT_FALSE(got);
    EXPECT_EQ((got.error().public_text + got.error().private_text).find(first), std::string::npos);
    EXPECT_EQ(got.error().public_text.find(path), std::string::npos) << got.error().public_text;
  }
  folder.write("token", first);
  ::chmod(path.c_str(), 0644);
  EXPECT_FALSE(it->send({}, {}));
  ::unlink(path.c_str());
  const auto gone = it->send({}, {});
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().code, errc::source_unavailable);
  EXPECT_NE(gone.error().private_text.find(path), std::string::npos);
  EXPECT_EQ(server.requests(0).size(), 2u);
}

TEST(guarded_endpoint, passwords_go_as_basic_and_only_where_nobody_reads_them) {
  const pem_folder folder;
  const auto path = folder.write("password", "open sesame\r\n");
  scripted_server server(page("x"));
  const auto it = made_service({.url = server.url(""), .user = "aladdin", .password_file = path});
  ASSERT_TRUE(it->send({}, {}));
  EXPECT_EQ(server.requests(1).at(0).field("authorization"), "Basic YWxhZGRpbjpvcGVuIHNlc2FtZQ==");

  settings far{.url = "http://prometheus.example:9090", .user = "aladdin", .password_file = path};
  const auto refused = service::create(far);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().public_text.find("allow_cleartext_credentials = true"), std::string::npos);
  far.allows_plaintext_secrets = true;
  EXPECT_TRUE(service::create(far));
  far.allows_plaintext_secrets = false;
  far.url = "https://prometheus.example";
  EXPECT_TRUE(service::create(far));
  far.proxy = "http://proxy.example:3128";
  EXPECT_EQ((*service::create(far))->address(), "*:*") << "the proxy is what is connected to";
  far.proxy = "none";
  EXPECT_EQ((*service::create(far))->address(), "prometheus.example:443");
  EXPECT_TRUE(service::create({.url = "http://localhost:9090", .bearer_file = path}));
  EXPECT_TRUE(service::create({.url = "http://[::1]:9090", .bearer_file = path}));
  EXPECT_FALSE(service::create({.url = "http://10.0.0.1:9090", .bearer_file = path}));
  EXPECT_FALSE(service::create({.url = "http://localhost", .bearer_file = path, .user = "a", .password_file = path}));
  EXPECT_FALSE(service::create({.url = "http://localhost", .user = "a"}));
  EXPECT_FALSE(service::create({.url = "http://localhost", .user = "a:b", .password_file = path}));
  EXPECT_FALSE(service::create({.url = "http://localhost", .bearer_file = path, .proxy = "http://proxy.example:3128"}));
  for (const std::string name : {"Authorization", "cookie", "Host", "Content-Length", "a b", "X\r\nY"})
    EXPECT_FALSE(service::create({.url = "http://localhost", .headers = {{name, "x"}}})) << name;
  EXPECT_FALSE(service::create({.url = "http://localhost", .headers = {{"X", "a\r\nY: b"}}}));
  EXPECT_FALSE(service::create({.url = "http://localhost", .timeout = std::chrono::milliseconds(0)}));
}

TEST(guarded_endpoint, own_authorities_and_client_certificates_are_used) {
  const auto identity = std::make_shared<const hondana_test::tls_identity>();
  scripted_server server(page("x"), {}, identity);
  const auto trusting = made_service({.url = server.url(""), .ca_file = identity->file()});
  const auto got = trusting->send({}, {});
  ASSERT_TRUE(got) << got.error().public_text;
  ASSERT_TRUE(trusting->send({}, {}));
  EXPECT_EQ(server.connections(), 1u);
  const auto doubting = made_service({.url = server.url("")});
  const auto refused = doubting->send({}, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::source_unavailable);
  EXPECT_NE(refused.error().public_text.find("not trusted"), std::string::npos) << refused.error().public_text;
  scripted_server plain(page("x"));
  const auto no_tls =
      made_service({.url = "https://127.0.0.1:" + std::to_string(plain.port()), .ca_file = identity->file()})->send({}, {});
  ASSERT_FALSE(no_tls);
  EXPECT_NE(no_tls.error().public_text.find("does not speak TLS"), std::string::npos) << no_tls.error().public_text;

  const pem_folder folder;
  const hondana_test::issued own;
  const auto certificate = folder.write("certificate.pem", own.certificate_text());
  const auto key = folder.write("key.pem", own.key_text());
  EXPECT_TRUE(service::create({.url = server.url(""), .certificate_file = certificate, .key_file = key}));
  EXPECT_FALSE(service::create({.url = server.url(""), .certificate_file = certificate}));
  EXPECT_FALSE(service::create({.url = server.url(""), .certificate_file = folder.path("none"), .key_file = key}));
  EXPECT_FALSE(service::create({.url = server.url(""), .ca_file = key}));
}

}  // namespace
