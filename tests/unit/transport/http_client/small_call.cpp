/// Small calls: what is sent and taken, and where they never lead.
#include "transport/http_client/small_request.hpp"

#include <chrono>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "deadline.hpp"
#include "transport/http_client/response_head.hpp"
#include "unit/transport/endpoint/closed_port.hpp"
#include "unit/transport/http_client/scripted_server.hpp"
#include "unit/transport/http_client/set_variable.hpp"

namespace {

using hondana::errc;
using hondana::transport::http_client::call_guarded;
using hondana::transport::http_client::call_policy;
using hondana::transport::http_client::environment_proxy;
using hondana::transport::http_client::host_of;
using hondana::transport::http_client::parse_max_age;
using hondana::transport::http_client::small_request;
using hondana_test::heard_request;
using hondana_test::scripted_connection;
using hondana_test::scripted_server;
using hondana_test::set_variable;

scripted_server::script saying(int status, std::string type, std::string body, std::string more = {}) {
  return [=](const heard_request&, scripted_connection& to) { return to.answer(status, type, body, more); };
}

call_policy admitting(const std::string& url) { return {{host_of(url)}, {}, {}}; }

TEST(small_call, gets_and_posts_and_gives_any_status) {
  scripted_server server([](const heard_request& asked, scripted_connection& to) {
    return to.answer(asked.method == "POST" ? 400 : 200, "Application/JSON; charset=utf-8", asked.body + "!",
                     "Cache-Control: public, max-age=60\r\nWWW-Authenticate: Bearer error=\"x\"\r\n");
  });
  const auto got = call_guarded({.url = server.url("/keys")}, admitting(server.url()), {});
  ASSERT_TRUE(got) << got.error().public_text;
  EXPECT_EQ(got->status, 200);
  EXPECT_EQ(got->media_type, "application/json");
  EXPECT_EQ(got->body, "!");
  EXPECT_EQ(got->max_age, std::chrono::seconds(60));
  ASSERT_EQ(got->challenges.size(), 1u);
  small_request form{.url = server.url("/token"), .headers = {{"Content-Type", "application/x-www-form-urlencoded"}}};
  form.body = "grant_type=x&a=b";
  const auto said = call_guarded(form, admitting(server.url()), {});
  ASSERT_TRUE(said) << said.error().public_text;
  EXPECT_EQ(said->status, 400);
  EXPECT_EQ(said->body, "grant_type=x&a=b!");
  const auto asked = server.requests(2).at(1);
  EXPECT_EQ(asked.field("content-type"), "application/x-www-form-urlencoded");
}

TEST(small_call, a_redirect_is_the_answer_and_is_not_followed) {
  const scripted_server other(saying(200, "text/plain", "elsewhere"));
  const scripted_server server(saying(302, "", "", "Location: " + other.url("/") + "\r\n"));
  const auto got = call_guarded({.url = server.url()}, admitting(server.url()), {});
  ASSERT_TRUE(got) << got.error().public_text;
  EXPECT_EQ(got->status, 302);
  EXPECT_EQ(other.connections(), 0u);
}

TEST(small_call, this_machine_and_private_networks_are_asked_only_where_somebody_named_them) {
  const auto identity = std::make_shared<const hondana_test::tls_identity>();
  const scripted_server server(saying(200, "text/plain", "secret"), {}, identity);
  const auto port = ':' + std::to_string(server.port()) + '/';
  for (const std::string host :
       {"127.0.0.1", "localhost", "[::1]", "0x7f.1", "[::ffff:127.0.0.1]", "10.0.0.1", "169.254.169.254"}) {
    const auto got =
        call_guarded({.url = "https://" + host + port, .timeout = hondana_test::event_deadline}, {{"example.com"}, {}, {}}, {});
    ASSERT_FALSE(got) << host;
    EXPECT_EQ(got.error().code, errc::access_denied) << host << ' ' << got.error().public_text;
  }
  EXPECT_EQ(server.connections(), 0u);
  const auto allowed = call_guarded({.url = server.url("/")}, {{"127.0.0.1"}, identity->file(), {}}, {});
  ASSERT_TRUE(allowed) << allowed.error().public_text;
  EXPECT_EQ(allowed->body, "secret");
}

TEST(small_call, goes_through_the_proxy_of_the_environment_where_it_may) {
  scripted_server proxy(saying(502, "text/plain", "I am the proxy"));
  const set_variable there("https_proxy", proxy.url(""));
  EXPECT_FALSE(call_guarded({.url = "https://as.example/"}, {.uses_environment_proxy = true}, {}));
  EXPECT_FALSE(call_guarded({.url = "https://named.example/"},
                            {.trusted_hosts = {"named.example"}, .uses_environment_proxy = true}, {}));
  const auto asked = proxy.requests(2);
  ASSERT_EQ(asked.size(), 2u);
  EXPECT_EQ(asked[0].target, "as.example:443");
  EXPECT_EQ(asked[1].target, "named.example:443");
  // Nor does it lead home.
  const auto home = call_guarded({.url = "https://127.0.0.1/"}, {.uses_environment_proxy = true}, {});
  EXPECT_EQ(home.error().code, errc::access_denied);
  EXPECT_FALSE(call_guarded({.url = "https://localhost:1/"}, {}, {}));
  EXPECT_EQ(proxy.connections(), 2u);
}

TEST(small_call, past_a_proxy_addresses_are_looked_at) {
  scripted_server proxy(saying(502, "text/plain", "I am the proxy"));
  const set_variable past("no_proxy", "x.example, .localhost");
  {
    const set_variable there("https_proxy", proxy.url(""));
    EXPECT_EQ(environment_proxy("x.example"), "");
    EXPECT_EQ(environment_proxy("y.x.example"), "");
    EXPECT_EQ(environment_proxy("yx.example"), proxy.url(""));
    EXPECT_EQ(environment_proxy("example"), proxy.url(""));
    const auto home = call_guarded({.url = "https://as.localhost:1/"}, {.uses_environment_proxy = true}, {});
    EXPECT_EQ(home.error().code, errc::access_denied);
    EXPECT_EQ(proxy.connections(), 0u);
  }
  // One that is named is not left because of a variable.
  EXPECT_FALSE(call_guarded({.url = "https://x.example/"}, {.proxy = proxy.url("")}, {}));
  EXPECT_EQ(proxy.requests(1).size(), 1u);
}

TEST(small_call, plain_http_is_for_named_hosts_of_this_machine) {
  const scripted_server server(saying(200, "text/plain", "x"));
  const auto unnamed = call_guarded({.url = server.url()}, {}, {});
  ASSERT_FALSE(unnamed);
  EXPECT_EQ(unnamed.error().code, errc::invalid_argument);
  const auto far =
      call_guarded({.url = "http://10.0.0.1/", .timeout = hondana_test::event_deadline}, {{"10.0.0.1"}, {}, {}}, {});
  ASSERT_FALSE(far);
  EXPECT_EQ(far.error().code, errc::access_denied);
  EXPECT_NE(far.error().public_text.find("https:"), std::string::npos) << far.error().public_text;
  EXPECT_EQ(server.connections(), 0u);
}

TEST(small_call, other_schemes_names_and_broken_header_fields_are_refused) {
  for (const std::string url :
       {"javascript:alert(1)", "file:///etc/passwd", "data:,x", "https://me:secret@127.0.0.1/", "", "//a"}) {
    const auto got = call_guarded({.url = url}, {{"127.0.0.1"}, {}, {}}, {});
    ASSERT_FALSE(got) << url;
    EXPECT_EQ(got.error().code, errc::invalid_argument) << url;
    EXPECT_EQ(got.error().public_text.find("secret"), std::string::npos);
  }
  const auto split = call_guarded({.url = "https://127.0.0.1/", .headers = {{"A", "b\r\nC: d"}}}, {{"127.0.0.1"}, {}, {}}, {});
  ASSERT_FALSE(split);
  EXPECT_EQ(split.error().code, errc::invalid_argument);
}

TEST(small_call, an_answer_too_long_one_that_is_compressed_and_one_that_never_comes_end_it) {
  const scripted_server endless([](const heard_request&, scripted_connection& to) {
    to.send("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n");
    while (to.send(std::string(10'000, 'x'))) {
    }
    return false;
  });
  const auto too_long = call_guarded({.url = endless.url()}, admitting(endless.url()), {});
  ASSERT_FALSE(too_long);
  EXPECT_EQ(too_long.error().code, errc::response_too_large);
  const scripted_server compressing(saying(200, "application/json", "xx", "Content-Encoding: gzip\r\n"));
  EXPECT_EQ(call_guarded({.url = compressing.url()}, admitting(compressing.url()), {}).error().code, errc::protocol_error);
  const scripted_server silent([](const heard_request&, scripted_connection& to) {
    static_cast<void>(to.sees_the_end());
    return false;
  });
  const auto late = call_guarded({.url = silent.url() + "?code=secret", .timeout = std::chrono::milliseconds(50)},
                                 admitting(silent.url()), {});
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, errc::timed_out);
  EXPECT_EQ(late.error().public_text.find("secret"), std::string::npos) << late.error().public_text;
}

TEST(small_call, says_that_a_port_is_closed) {
  const hondana_test::closed_port port;
  const auto url = port.url("/token");
  const auto got = call_guarded({.url = url + "?code=secret"}, admitting(url), {});
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, errc::source_unavailable);
  EXPECT_EQ(got.error().public_text, "cannot call " + url + ": Connection refused; check the URL and that the server runs");
}

TEST(small_call, is_ended_by_its_stop_token) {
  std::stop_source stop;
  scripted_server server([&stop](const heard_request&, scripted_connection& to) {
    stop.request_stop();
    static_cast<void>(to.sees_the_end());
    return false;
  });
  const auto got = call_guarded({.url = server.url()}, admitting(server.url()), stop.get_token());
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, errc::cancelled);
}

TEST(small_call, reads_how_long_an_answer_may_be_kept) {
  EXPECT_EQ(parse_max_age("max-age=5"), std::chrono::seconds(5));
  EXPECT_EQ(parse_max_age("public , Max-Age=7"), std::chrono::seconds(7));
  EXPECT_EQ(parse_max_age("max-age=5, no-store"), std::chrono::seconds(0));
  EXPECT_EQ(parse_max_age("max-age=99999999999999999999"), std::chrono::hours(24 * 365));
  EXPECT_FALSE(parse_max_age("max-age=-5"));
  EXPECT_FALSE(parse_max_age("max-age"));
  EXPECT_FALSE(parse_max_age(""));
}

}  // namespace
