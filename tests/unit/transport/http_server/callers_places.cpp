/// Where callers find out what is wanted, and where they come from: metadata, proxies and the processes of this machine.
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/must.hpp"
#include "unit/transport/http_server/client.hpp"
#include "unit/transport/http_server/guarded.hpp"
#include "unit/transport/http_server/protected_requests.hpp"
#include "unit/transport/http_server/shelf.hpp"

namespace {

using hondana_test::ask;
using hondana_test::bearer;
using hondana_test::challenge_of;
using hondana_test::client;
using hondana_test::get;
using hondana_test::guarded;
using hondana_test::library;
using hondana_test::post;
using hondana_test::who;
using testing::HasSubstr;
using testing::Not;

hondana::http_options behind(std::vector<std::string> proxies) {
  hondana::http_options out;
  out.trusted_proxies = std::move(proxies);
  return out;
}

// requires: */authorization.metadata
TEST(metadata, is_served_to_whoever_asks_and_only_where_it_is) {
  guarded with;
  EXPECT_EQ(ask(with, get("/.well-known/oauth-protected-resource")).status, 404) << "there is none";
  with.clerk->about = std::make_shared<hondana::protected_resource>();
  with.clerk->about->authorization_servers = {"https://issuer.example"};
  const auto got =
      ask(with,
          "GET /.well-known/oauth-protected-resource/mcp HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost:6274\r\n\r\n");
  EXPECT_EQ(got.status, 200);
  EXPECT_EQ(
      got.body,
      R"({"resource":"http://localhost/mcp","authorization_servers":["https://issuer.example"],"bearer_methods_supported":["header"]})");
  EXPECT_EQ(got.fields.at("content-type"), "application/json");
  EXPECT_EQ(got.fields.at("cache-control"), "max-age=300");
  EXPECT_EQ(got.fields.at("access-control-allow-origin"), "http://localhost:6274");
  EXPECT_THAT(ask(with, get("/.well-known/oauth-protected-resource/sse")).body, HasSubstr("\"http://localhost/sse\""));
  EXPECT_THAT(ask(with, get("/.well-known/oauth-protected-resource")).body, HasSubstr("\"http://localhost\""));
  const auto head = ask(with, "HEAD /.well-known/oauth-protected-resource HTTP/1.1\r\nHost: localhost\r\n\r\n", false);
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(
      ask(with, "POST /.well-known/oauth-protected-resource HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n").status,
      405);
  for (const auto* const path : {"/.well-known/oauth-protected-resource/", "/.well-known/oauth-protected-resource/message",
                                 "/.well-known/oauth-protected-resources", "/.well-known/oauth-authorization-server",
                                 "/.well-known/openid-configuration", "/.well-known/"}) {
    const auto none = ask(with, get(path));
    EXPECT_EQ(none.status, 404) << path;
    EXPECT_EQ(none.body, "Not found. The MCP endpoint of this server is /mcp.\n");
  }
}

TEST(metadata, of_a_server_that_asks_nobody_is_not_there) {
  library with;
  client peer(with.port());
  peer.send(get("/.well-known/oauth-protected-resource/mcp"));
  EXPECT_EQ(peer.receive().status, 404);
}

TEST(proxies, that_are_trusted_tell_address_and_scheme) {
  guarded with({}, behind({"127.0.0.1"}));
  with.clerk->about = std::make_shared<hondana::protected_resource>();
  const std::string forwarded =
      "X-Forwarded-For: 203.0.113.66, 198.51.100.7\r\nX-Forwarded-Proto: https\r\nX-Forwarded-Host: evil.example\r\n";
  EXPECT_THAT(ask(with, post(who, bearer("alice") + forwarded)).body, HasSubstr("\"alice at 198.51.100.7\""));
  EXPECT_EQ(with.clerk->last().address, "198.51.100.7");
  EXPECT_TRUE(with.clerk->last().is_secure);
  EXPECT_THAT(challenge_of(ask(with, post(who, forwarded))),
              HasSubstr("resource_metadata=\"https://127.0.0.1/.well-known/oauth-protected-resource/mcp\""));
  EXPECT_THAT(
      ask(with, "GET /.well-known/oauth-protected-resource/mcp HTTP/1.1\r\nHost: localhost\r\n" + forwarded + "\r\n").body,
      HasSubstr("\"https://localhost/mcp\""));
  EXPECT_THAT(ask(with, post(who, bearer("alice") + "Forwarded: for=\"[2001:db8::7]:80\";proto=https\r\n")).body,
              HasSubstr("\"alice at 2001:db8::7\""));
  EXPECT_THAT(ask(with, post(who, bearer("alice") + "X-Forwarded-For: nonsense\r\n")).body,
              HasSubstr("\"alice at 127.0.0.1\""));
}

TEST(proxies, that_nobody_trusts_are_not_believed) {
  guarded with({}, behind({"10.0.0.0/8"}));
  EXPECT_THAT(ask(with, post(who, bearer("alice") + "X-Forwarded-For: 198.51.100.7\r\nX-Forwarded-Proto: https\r\n")).body,
              HasSubstr("\"alice at 127.0.0.1\""));
  EXPECT_FALSE(with.clerk->last().is_secure);
}

TEST(proxies, that_are_malformed_stop_the_start) {
  hondana::server server = must(hondana::server::create());
  hondana::http_options where = behind({"proxy.example"});
  where.port = 0;
  const auto refused = hondana::http_service::start(server, where);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, hondana::errc::invalid_argument);
  EXPECT_THAT(refused.error().public_text, HasSubstr("\"proxy.example\""));
}

/// A path for a socket, in a folder that is removed.
class socket_path {
 public:
  socket_path() {
    folder_ = testing::TempDir() + "callers-XXXXXX";
    if (::mkdtemp(folder_.data()) == nullptr) throw std::runtime_error("no folder");
  }
  ~socket_path() { ::rmdir(folder_.c_str()); }
  socket_path(const socket_path&) = delete;
  socket_path& operator=(const socket_path&) = delete;
  [[nodiscard]] std::string text() const { return folder_ + "/s"; }

 private:
  std::string folder_;
};

TEST(unix_socket_callers, are_processes_to_an_authenticator) {
  const socket_path path;
  hondana::http_options where;
  where.socket_path = path.text();
  guarded with({}, where);
  auto peer = client::at_path(path.text());
  peer.send(post(who));
  EXPECT_THAT(peer.receive().body, HasSubstr("\"user " + std::to_string(::geteuid()) + " at unix\""));
  const auto facts = with.clerk->last();
  ASSERT_TRUE(facts.peer);
  EXPECT_EQ(facts.peer->pid, ::getpid());
  EXPECT_EQ(facts.peer->gid, ::getegid());
}

TEST(unix_socket_callers, behind_a_trusted_proxy_are_not_the_proxys_process) {
  const socket_path path;
  auto where = behind({"unix"});
  where.socket_path = path.text();
  guarded with({}, where);
  auto peer = client::at_path(path.text());
  peer.send(post(who, bearer("alice") + "X-Forwarded-For: 198.51.100.7\r\n"));
  EXPECT_THAT(peer.receive().body, HasSubstr("\"alice at 198.51.100.7\""));
  EXPECT_FALSE(with.clerk->last().peer);
}

TEST(unix_socket_callers, of_the_servers_own_user_are_local_when_nobody_is_asked) {
  const socket_path path;
  hondana::server server = must(hondana::server::create());
  const auto source = std::make_shared<hondana_test::shelf>();
  source->entries["memo:///who"] = [](const hondana::read_request& request) {
    return hondana::text_read_result(request.caller.identity);
  };
  ASSERT_TRUE(server.add(source));
  hondana::http_options where;
  where.socket_path = path.text();
  const auto service = hondana::http_service::start(server, where);
  ASSERT_TRUE(service) << service.error().public_text;
  auto peer = client::at_path(path.text());
  peer.send(post(who));
  EXPECT_THAT(peer.receive().body, HasSubstr("\"local\""));
}

}  // namespace
