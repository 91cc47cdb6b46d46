/// Logging in to Google with a browser that is played, and keeping what came of it.
#include "auth/google/login.hpp"

#include <sys/stat.h>

#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "auth/login/browser_login.hpp"
#include "auth/oauth/code_request.hpp"
#include "transport/endpoint/endpoint.hpp"
#include "unit/auth/google/token_place.hpp"

namespace {

using hondana::errc;
using hondana::google::log_in;
using hondana::google::login_settings;
using hondana_test::error_of;
using hondana_test::own_folder;
using hondana_test::posted;
using hondana_test::token_place;
using hondana_test::token_reply;

constexpr const char* read_scope = "https://www.googleapis.com/auth/drive.readonly";

token_reply lasting(const std::string& scope = read_scope, const std::string& refresh = "1//fresh") {
  return {200,
          R"({"access_token":"ya29.a","expires_in":3599,"token_type":"Bearer","scope":")" + scope + '"' +
              (refresh.empty() ? "" : R"(,"refresh_token":")" + refresh + '"') + '}',
          {}};
}

std::string query_value(const std::string& url, std::string_view name) {
  const auto all = hondana::oauth::read_query(url.substr(url.find('?') + 1));
  const auto* found = all ? hondana::oauth::find(*all, name) : nullptr;
  return found == nullptr ? std::string() : *found;
}

/// A person whose browser comes back with what `answers` makes of the page's URL.
class played_page final : public hondana::login_handler {
 public:
  explicit played_page(std::function<std::string(const std::string&)> answers) : answers_(std::move(answers)) {}
  hondana::result<std::string> listen(const std::optional<std::string>&) override {
    return std::string("http://127.0.0.1:4711/callback");
  }
  hondana::result<std::string> visit(const std::string& url, const std::stop_token&) override {
    seen = url;
    return answers_(url);
  }
  std::string seen;

 private:
  std::function<std::string(const std::string&)> answers_;
};

std::string agreed(const std::string& url) {
  return query_value(url, "redirect_uri") + "?code=4%2Fcode&state=" + query_value(url, "state") + "&scope=x";
}

login_settings settings_for(const token_place& at) {
  login_settings out;
  out.client = {"app.apps.googleusercontent.com", "s3cret-of-app", at.server_url("/auth"), at.url()};
  return out;
}

TEST(google_log_in, asks_for_reading_alone_and_exchanges_the_code_with_its_verifier) {
  token_place at({lasting()});
  played_page page(agreed);
  auto with = settings_for(at);
  with.login_hint = "ann@example.com";
  const auto got = log_in(with, page, {});
  ASSERT_TRUE(got) << got.error().public_text;
  EXPECT_EQ(got->refresh_token, "1//fresh");
  EXPECT_EQ(got->client_id, "app.apps.googleusercontent.com");
  EXPECT_EQ(got->token_url, at.url());
  EXPECT_EQ(query_value(page.seen, "response_type"), "code");
  EXPECT_EQ(query_value(page.seen, "scope"), read_scope);
  EXPECT_EQ(query_value(page.seen, "access_type"), "offline");
  EXPECT_EQ(query_value(page.seen, "prompt"), "consent");
  EXPECT_EQ(query_value(page.seen, "login_hint"), "ann@example.com");
  EXPECT_EQ(query_value(page.seen, "code_challenge_method"), "S256");
  EXPECT_EQ(page.seen.find("s3cret"), std::string::npos);
  const auto asked = at.server().requests(1).at(0);
  EXPECT_EQ(posted(asked, "grant_type"), "authorization_code");
  EXPECT_EQ(posted(asked, "code"), "4/code");
  EXPECT_EQ(posted(asked, "redirect_uri"), "http://127.0.0.1:4711/callback");
  EXPECT_EQ(posted(asked, "client_secret"), "s3cret-of-app");
  EXPECT_EQ(hondana::oauth::code_challenge(posted(asked, "code_verifier")), query_value(page.seen, "code_challenge"));
}

TEST(google_log_in, comes_back_by_a_real_port_of_this_machine) {
  token_place at({lasting()});
  std::string shown;
  hondana::login::browser_login_options how;
  how.timeout = hondana_test::event_deadline;
  std::unique_ptr<hondana::login_handler> page;
  std::vector<std::thread> browsers;
  how.print = [&](std::string_view line) {
    if (!line.starts_with("http")) return;
    shown = line;
    browsers.emplace_back([url = std::string(line)] {
      const auto back = hondana::endpoint::endpoint::create({.url = agreed(url), .timeout = hondana_test::event_deadline});
      ASSERT_TRUE(back);
      const auto got = (*back)->send({}, {});
      ASSERT_TRUE(got) << got.error().public_text;
      EXPECT_EQ(got->status, 200);
    });
  };
  page = hondana::login::make_browser_login(std::move(how));
  const auto got = log_in(settings_for(at), *page, {});
  for (auto& one : browsers) one.join();
  ASSERT_TRUE(got) << got.error().public_text;
  EXPECT_EQ(got->refresh_token, "1//fresh");
  EXPECT_TRUE(posted(at.server().requests(1).at(0), "redirect_uri").starts_with("http://127.0.0.1:"));
}

TEST(google_log_in, that_fails_says_what_to_do_and_repeats_no_secret) {
  struct one {
    std::function<std::string(const std::string&)> answers;
    token_reply reply;
    errc code;
    std::string says;
  };
  const std::vector<one> cases{
      {[](const std::string& url) {
         return query_value(url, "redirect_uri") + "?error=access_denied&state=" + query_value(url, "state");
       },
       lasting(), errc::unauthorized, "access_denied"},
      {[](const std::string& url) { return query_value(url, "redirect_uri") + "?code=x&state=other"; }, lasting(),
       errc::access_denied, "not trusted"},
      {[](const std::string& url) { return query_value(url, "redirect_uri") + "?state=" + query_value(url, "state"); },
       lasting(), errc::protocol_error, "neither a code nor an error"},
      {agreed, lasting(read_scope, ""), errc::unauthorized, "myaccount.google.com/permissions"},
      {agreed, lasting("https://www.googleapis.com/auth/drive.metadata.readonly"), errc::unauthorized, "tick every box"},
      {agreed, error_of("invalid_grant", "Bad Request"), errc::unauthorized, "log in again"},
      {agreed, error_of("invalid_client", "Unauthorized", 401), errc::unauthorized, "download its JSON"},
      {agreed, error_of("redirect_uri_mismatch"), errc::unauthorized, "Desktop app"},
      {agreed, {503, "", {}}, errc::source_unavailable, "try again"},
      {agreed, {200, "<html>", {}}, errc::protocol_error, "try again"},
  };
  for (const auto& [answers, reply, code, says] : cases) {
    token_place at({reply});
    played_page page(answers);
    const auto got = log_in(settings_for(at), page, {});
    ASSERT_FALSE(got) << says;
    EXPECT_EQ(got.error().code, code) << got.error().public_text;
    EXPECT_NE(got.error().public_text.find(says), std::string::npos) << got.error().public_text;
    const auto all = got.error().public_text + got.error().private_text;
    for (const auto* secret : {"4/code", "s3cret", "1//fresh", "ya29"}) EXPECT_EQ(all.find(secret), std::string::npos) << all;
  }
}

TEST(google_log_in, needs_a_client_and_endpoints_that_can_be_used) {
  played_page page(agreed);
  login_settings with;
  auto got = log_in(with, page, {});
  ASSERT_FALSE(got);
  EXPECT_NE(got.error().public_text.find("set client_file to it"), std::string::npos);
  with.client.id = "app";
  for (const auto* bad : {"javascript:alert(1)", "http://sso.example/auth", "https://u:p@sso.example/", "https://a/$(id)"}) {
    with.client.auth_url = bad;
    got = log_in(with, page, {});
    ASSERT_FALSE(got) << bad;
    EXPECT_EQ(got.error().code, errc::invalid_argument);
    EXPECT_EQ(page.seen, "");
  }
}

TEST(google_log_in, is_kept_in_a_file_that_nobody_else_reads_and_taken_up_from_it) {
  const own_folder folder;
  const auto path = folder.path("below/google-team.json");
  hondana::google::authorized_user one{"app", "s", "1//a", std::string(hondana::google::default_token_url), {}};
  ASSERT_TRUE(store_login(one, path));
  struct stat facts{};
  ASSERT_EQ(::stat(path.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0600u);
  const auto found = hondana::google::find_credentials({.login_file = path});
  ASSERT_TRUE(found) << found.error().public_text;
  EXPECT_EQ(std::get<hondana::google::authorized_user>(found->identity).refresh_token, "1//a");
  one.refresh_token = "1//b";
  ASSERT_TRUE(store_login(one, path));
  std::ifstream in(path);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  EXPECT_NE(text.find("1//b"), std::string::npos);
  EXPECT_EQ(text.find("1//a"), std::string::npos);
}

TEST(google_log_in, is_taken_back_at_google) {
  token_place at({{200, "{}", {}}, error_of("invalid_token"), {400, "", {}}, {500, "", {}}});
  const hondana::google::authorized_user one{"app", "s", "1//a", at.url(), {}};
  auto by_proxy = settings_for(at);
  by_proxy.proxy = "http://192.0.2.1:3128";
  EXPECT_EQ(revoke(one, by_proxy, {}).error().code, errc::invalid_argument);
  EXPECT_TRUE(revoke(one, settings_for(at), {}));
  const auto asked = at.server().requests(1).at(0);
  EXPECT_EQ(asked.target, "/revoke");
  EXPECT_EQ(posted(asked, "token"), "1//a");
  EXPECT_TRUE(revoke(one, settings_for(at), {}));
  EXPECT_FALSE(revoke(one, settings_for(at), {})) << "something else has answered";
  const auto got = revoke(one, settings_for(at), {});
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().public_text.find("1//a"), std::string::npos);
}

}  // namespace
