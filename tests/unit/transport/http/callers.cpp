/// Who asks, as clients see it over sockets: tokens, refusals, waiting, proxies and the processes of this machine.
#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "unit/transport/http/client.hpp"
#include "unit/transport/http/guarded.hpp"
#include "unit/transport/http/protected_requests.hpp"
#include "unit/transport/http/shelf.hpp"

namespace {

using hondana_test::ask;
using hondana_test::bearer;
using hondana_test::challenge_of;
using hondana_test::client;
using hondana_test::get;
using hondana_test::guarded;
using hondana_test::library;
using hondana_test::post;
using hondana_test::protected_post;
using hondana_test::who;
using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::Not;

hondana::http_options behind(std::vector<std::string> proxies) {
  hondana::http_options out;
  out.trusted_proxies = std::move(proxies);
  return out;
}

TEST(callers, without_a_token_are_told_what_is_missing) {
  guarded with;
  const auto got = ask(with, post(who));
  EXPECT_EQ(got.status, 401);
  EXPECT_EQ(challenge_of(got), "Bearer realm=\"mcp\"");
  EXPECT_EQ(got.fields.at("content-type"), "application/json");
  EXPECT_EQ(got.body,
            R"({"jsonrpc":"2.0","error":{"code":-32600,"message":"Unauthorized: this server wants to know who asks. Send )"
            R"(Authorization: Bearer with a token."}})");
}

TEST(callers, are_known_by_their_token_wherever_a_request_comes_from) {
  guarded with;
  EXPECT_THAT(ask(with, protected_post("alice")).body, HasSubstr("\"alice at 127.0.0.1\""));
  EXPECT_THAT(ask(with, post(who, "authorization: bEARER bob\r\n")).body, HasSubstr("\"bob at 127.0.0.1\""));
  EXPECT_EQ(with.clerk->last().bearer, "bob");
  EXPECT_EQ(with.clerk->last().host, "127.0.0.1");
  EXPECT_FALSE(with.clerk->last().is_secure);
  EXPECT_FALSE(with.clerk->last().process);
}

TEST(callers, are_those_of_each_request_on_one_connection) {
  guarded with;
  auto peer = with.peer();
  with.clerk->open();
  peer.send(protected_post("alice") + protected_post("slow-bob") + protected_post("carol") + get("/healthz") +
            protected_post("bad") + protected_post("dave"));
  EXPECT_THAT(peer.receive().body, HasSubstr("\"alice at "));
  EXPECT_THAT(peer.receive().body, HasSubstr("\"bob at "));
  EXPECT_THAT(peer.receive().body, HasSubstr("\"carol at "));
  EXPECT_EQ(peer.receive().body.substr(0, 14), R"({"status":"ok")");
  // What is left of a refused request would be taken for the next one.
  const auto refused = peer.receive();
  EXPECT_EQ(refused.status, 401);
  EXPECT_EQ(refused.fields.at("connection"), "close");
  EXPECT_TRUE(peer.sees_the_end());
}

TEST(callers, that_are_refused_may_ask_again_on_the_connection_when_there_is_no_body) {
  guarded with;
  auto peer = with.peer();
  peer.send("DELETE /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(peer.receive().status, 401);
  peer.send(protected_post("alice"));
  EXPECT_EQ(peer.receive().status, 200);
}

// requires: */authorization.challenge */authorization.token_refused
TEST(callers, with_a_refused_token_are_told_why) {
  guarded with;
  with.clerk->about = std::make_shared<hondana::protected_resource>();
  const auto got = ask(with, post(who, bearer("bad-token") + "Origin: http://localhost:6274\r\n"));
  EXPECT_EQ(got.status, 401);
  EXPECT_EQ(challenge_of(got),
            "Bearer resource_metadata=\"http://127.0.0.1/.well-known/oauth-protected-resource/mcp\", error=\"invalid_token\", "
            "error_description=\"The token has expired. Log in again.\", scope=\"files\"");
  EXPECT_THAT(got.body, HasSubstr("The token has expired."));
  EXPECT_THAT(got.fields.at("access-control-expose-headers"), HasSubstr("WWW-Authenticate"));
  EXPECT_THAT(with.log() + got.body + challenge_of(got), Not(HasSubstr("bad-token")));
}

// requires: */authorization.challenge_scopes
TEST(callers, without_a_token_are_told_the_scopes_that_every_request_needs) {
  hondana::server_options options;
  options.scopes.always = {"mcp", "profile"};
  guarded with(options);
  EXPECT_EQ(challenge_of(ask(with, post(who))), "Bearer scope=\"mcp profile\"");
}

TEST(callers, are_told_the_scopes_of_the_present_rules) {
  hondana::server_options options;
  options.scopes.always = {"old"};
  guarded with(options);
  with.clerk->about = std::make_shared<hondana::protected_resource>();
  const std::string metadata = "/.well-known/oauth-protected-resource/mcp";
  EXPECT_THAT(ask(with, get(metadata)).body, HasSubstr(R"("scopes_supported":["old"])"));
  options.scopes.always = {"mcp"};
  options.scopes.rules = {{{"resources/read"}, {}, {}, {"read"}}};
  ASSERT_TRUE(with.server.replace(options, {with.source}));
  EXPECT_THAT(ask(with, get(metadata)).body, HasSubstr(R"("scopes_supported":["mcp","read"])"));
  // What the authenticator names by itself stays.
  EXPECT_THAT(challenge_of(ask(with, post(who, bearer("bad-token")))), HasSubstr("scope=\"files mcp\""));
  auto own = std::make_shared<hondana::protected_resource>();
  own->scopes = {"mine"};
  with.clerk->about = own;
  EXPECT_THAT(ask(with, get(metadata)).body, HasSubstr(R"("scopes_supported":["mine"])"));
}

TEST(callers, are_not_let_in_by_an_authenticator_that_refuses_with_a_strange_status) {
  guarded with;
  with.clerk->always_says = hondana::challenge{200, "invalid_token", "no", {}, {}};
  EXPECT_EQ(ask(with, protected_post("alice")).status, 401);
  with.clerk->always_says = hondana::challenge{403, {}, "This shelf is closed to you.", {}, {}};
  const auto closed = ask(with, protected_post("alice"));
  EXPECT_EQ(closed.status, 403);
  EXPECT_THAT(closed.body, HasSubstr("This shelf is closed to you."));
  with.clerk->always_says = hondana::challenge{503, {}, {}, {}, std::chrono::seconds(7)};
  const auto busy = ask(with, protected_post("alice"));
  EXPECT_EQ(busy.status, 503);
  EXPECT_EQ(busy.fields.at("retry-after"), "7");
  EXPECT_EQ(challenge_of(busy), "");
}

TEST(callers, of_another_scheme_have_sent_nothing) {
  guarded with;
  EXPECT_EQ(ask(with, post(who, "Authorization: Basic YWxpY2U6c2VjcmV0\r\n")).status, 401);
  EXPECT_FALSE(with.clerk->last().bearer);
}

TEST(callers, with_two_tokens_are_refused) {
  guarded with;
  const auto got = ask(with, post(who, bearer("alice") + bearer("alice")));
  EXPECT_EQ(got.status, 400);
  EXPECT_EQ(challenge_of(got),
            "Bearer error=\"invalid_request\", error_description=\"the header Authorization is there more than once\"");
}

TEST(callers, with_a_control_character_in_the_token_are_refused) {
  guarded with;
  for (const std::string_view bad : {"a\tb", "a\x01", "a\x7f", "a b"}) {
    EXPECT_EQ(ask(with, protected_post(bad)).status, 400) << bad;
  }
}

// requires: */authorization.no_token_in_url
TEST(callers, with_a_token_in_the_url_are_refused_and_it_is_not_repeated) {
  guarded with;
  for (const std::string_view query :
       {"?access_token=hush", "?a=b&access_token=hush", "?%61ccess_token=hush", "?access_token"}) {
    auto request = protected_post("alice");
    request.replace(request.find("/mcp"), 4, "/mcp" + std::string(query));
    const auto got = ask(with, request);
    EXPECT_EQ(got.status, 400) << query;
    EXPECT_THAT(got.body, HasSubstr("must not stand in the URL"));
    EXPECT_THAT(got.body + with.log(), Not(HasSubstr("hush")));
  }
  auto request = protected_post("alice");
  request.replace(request.find("/mcp"), 4, "/mcp?token=1&my_access_token=2");
  EXPECT_EQ(ask(with, request).status, 200);
}

TEST(callers, with_a_megabyte_of_header_are_refused) {
  guarded with;
  auto peer = with.peer();
  peer.send(post(who, bearer(std::string(1u << 20, 'x'))));
  EXPECT_EQ(peer.receive().status, 431);
}

// requires: */transports.authentication
TEST(callers, are_asked_for_before_anything_else_of_a_request_matters) {
  guarded with;
  auto peer = with.peer();
  peer.send(
      "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n"
      "Expect: 100-continue\r\n\r\n");
  EXPECT_EQ(peer.receive().status, 401) << "the body was waited for";
  for (const std::string_view request :
       {"GET /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n", "GET /sse HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "POST /message?sessionId=1 HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n",
        "PUT /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n",
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nContent-Length: 0\r\n\r\n"}) {
    EXPECT_EQ(ask(with, std::string(request)).status, 401) << request;
  }
  EXPECT_EQ(ask(with, "GET /mcp HTTP/1.1\r\nHost: evil.example\r\n\r\n").status, 403);
}

TEST(callers, are_not_asked_for_where_nothing_is_at_stake) {
  guarded with;
  with.clerk->about = std::make_shared<hondana::protected_resource>();
  for (const auto* const path : {"/healthz", "/readyz", "/.well-known/oauth-protected-resource"}) {
    EXPECT_EQ(ask(with, get(path)).status, 200) << path;
  }
  EXPECT_EQ(ask(with, get("/elsewhere")).status, 404);
  const auto preflight = ask(with, "OPTIONS /mcp HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost:6274\r\n\r\n", false);
  EXPECT_EQ(preflight.status, 204);
  EXPECT_THAT(preflight.fields.at("access-control-allow-headers"), HasSubstr("Authorization"));
}

TEST(callers, that_must_be_asked_about_wait_while_others_are_served) {
  guarded with;
  auto waiting = with.peer();
  const auto request = post(who, bearer("slow-alice"));
  const auto body = request.find("\r\n\r\n") + 4;
  waiting.send(request.substr(0, body));
  ASSERT_TRUE(with.clerk->asked.reaches(1));
  EXPECT_THAT(ask(with, protected_post("bob")).body, HasSubstr("\"bob at "));
  waiting.send(request.substr(body) + protected_post("carol"));
  with.clerk->open();
  EXPECT_THAT(waiting.receive().body, HasSubstr("\"alice at 127.0.0.1\""));
  EXPECT_THAT(waiting.receive().body, HasSubstr("\"carol at "));
}

TEST(callers, that_must_be_asked_about_are_given_leave_to_send_their_body_afterwards) {
  guarded with;
  auto peer = with.peer();
  const auto request = post(who, bearer("slow-alice") + "Expect: 100-continue\r\n");
  const auto body = request.find("\r\n\r\n") + 4;
  peer.send(request.substr(0, body));
  ASSERT_TRUE(with.clerk->asked.reaches(1));
  with.clerk->open();
  EXPECT_EQ(peer.receive_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  peer.send(request.substr(body));
  EXPECT_THAT(peer.receive().body, HasSubstr("\"alice at "));
}

TEST(callers, about_whom_nobody_answers_are_told_so_when_their_time_is_over) {
  hondana::server_options options;
  options.call_deadline = milliseconds(200);
  guarded with(options);
  auto peer = with.peer();
  peer.send("DELETE /mcp HTTP/1.1\r\nHost: localhost\r\n" + bearer("slow-alice") + "\r\n");
  const auto got = peer.receive();
  EXPECT_EQ(got.status, 503);
  EXPECT_EQ(got.fields.at("retry-after"), "1");
  // Late news of one request is none of the next one's.
  peer.send("DELETE /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(peer.receive().status, 401);
  with.clerk->open();
  peer.send(protected_post("bob"));
  EXPECT_THAT(peer.receive().body, HasSubstr("\"bob at "));
}

TEST(callers, about_whom_an_authenticator_throws_are_told_to_come_back) {
  guarded with;
  const auto got = ask(with, protected_post("failing"));
  EXPECT_EQ(got.status, 503);
  EXPECT_EQ(got.fields.at("retry-after"), "1");
  EXPECT_THAT(got.body, Not(HasSubstr("the test's authenticator")));
  EXPECT_THAT(with.log(), HasSubstr("the test's authenticator fails"));
}

/// True when so many of them have something to read within ten seconds.
bool are_answered(const std::vector<client>& peers, int count) {
  std::vector<pollfd> all;
  for (const auto& one : peers) all.push_back({one.socket(), POLLIN, 0});
  const auto until = std::chrono::steady_clock::now() + hondana_test::patience;
  int ready = 0;
  while (ready < count && std::chrono::steady_clock::now() < until) ready = ::poll(all.data(), all.size(), 1000);
  return ready >= count;
}

TEST(callers, that_flood_with_unknown_tokens_are_bounded_and_others_served) {
  guarded with;
  std::vector<client> flood;
  constexpr std::size_t more_than_wait = 4 + 256 + 20;
  for (std::size_t i = 0; i < more_than_wait; ++i) {
    flood.push_back(with.peer());
    flood.back().send("DELETE /mcp HTTP/1.1\r\nHost: localhost\r\n" + bearer("slow-" + std::to_string(i)) + "\r\n");
  }
  ASSERT_TRUE(with.clerk->asked.reaches(4));
  EXPECT_THAT(ask(with, protected_post("bob")).body, HasSubstr("\"bob at "));
  ASSERT_TRUE(are_answered(flood, 20)) << "more wait than may";
  with.clerk->open();
  std::size_t busy = 0;
  std::size_t known = 0;
  for (auto& one : flood) {
    const auto got = one.receive();
    if (got.status == 503 && got.fields.at("retry-after") == "1") ++busy;
    if (got.status == 400) ++known;  // there is no session to end
  }
  EXPECT_GE(busy, 20u);
  EXPECT_GE(known, 256u);
  EXPECT_EQ(busy + known, more_than_wait);
}

TEST(callers, that_leave_while_they_are_asked_about_are_let_go) {
  hondana::http_options small;
  small.max_connections = 1;
  guarded with({}, small);
  auto first = with.peer();
  first.send(post(who, bearer("slow-alice")));
  ASSERT_TRUE(with.clerk->asked.reaches(1));
  first.vanish();
  // The one place there is becomes free although nobody has answered yet.
  const auto until = std::chrono::steady_clock::now() + hondana_test::patience;
  int status = 503;
  while (status != 200 && std::chrono::steady_clock::now() < until) status = ask(with, protected_post("bob")).status;
  EXPECT_EQ(status, 200);
}

TEST(callers, that_are_asked_about_when_the_server_stops_do_not_keep_it) {
  guarded with;
  auto peer = with.peer();
  peer.send(post(who, bearer("slow-alice")));
  ASSERT_TRUE(with.clerk->asked.reaches(1));
  with.service->drain(milliseconds(0));
  EXPECT_TRUE(peer.sees_the_end());
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
  hondana::server server;
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
  where.socket = path.text();
  guarded with({}, where);
  auto peer = client::at_path(path.text());
  peer.send(post(who));
  EXPECT_THAT(peer.receive().body, HasSubstr("\"user " + std::to_string(::geteuid()) + " at unix\""));
  const auto facts = with.clerk->last();
  ASSERT_TRUE(facts.process);
  EXPECT_EQ(facts.process->process, ::getpid());
  EXPECT_EQ(facts.process->group, ::getegid());
}

TEST(unix_socket_callers, behind_a_trusted_proxy_are_not_the_proxys_process) {
  const socket_path path;
  auto where = behind({"unix"});
  where.socket = path.text();
  guarded with({}, where);
  auto peer = client::at_path(path.text());
  peer.send(post(who, bearer("alice") + "X-Forwarded-For: 198.51.100.7\r\n"));
  EXPECT_THAT(peer.receive().body, HasSubstr("\"alice at 198.51.100.7\""));
  EXPECT_FALSE(with.clerk->last().process);
}

TEST(unix_socket_callers, of_the_servers_own_user_are_local_when_nobody_is_asked) {
  const socket_path path;
  hondana::server server;
  const auto source = std::make_shared<hondana_test::shelf>();
  source->entries["memo:///who"] = [](const hondana::read_request& request) {
    return hondana::text_reading(request.who.identity);
  };
  ASSERT_TRUE(server.add(source));
  hondana::http_options where;
  where.socket = path.text();
  const auto service = hondana::http_service::start(server, where);
  ASSERT_TRUE(service) << service.error().public_text;
  auto peer = client::at_path(path.text());
  peer.send(post(who));
  EXPECT_THAT(peer.receive().body, HasSubstr("\"local\""));
}

}  // namespace
