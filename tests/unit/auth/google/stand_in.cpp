/// Tokens and log-ins against the stand-in of Google's authorization server.
#include <chrono>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "auth/google/access_tokens.hpp"
#include "auth/google/login.hpp"
#include "drive/stand_in/server.hpp"
#include "transport/endpoint/endpoint.hpp"
#include "unit/auth/google/token_place.hpp"

namespace {

using hondana::errc;
using hondana::google::make_access_token_source;
using hondana::google::token_settings;
using hondana_test::own_folder;
using hondana_test::soon;

class google_stand_in : public testing::Test {
 protected:
  std::shared_ptr<hondana::google::access_token_source> made(const std::string& json, token_settings from = {}) {
    from.locations.file = folder.put("credentials.json", json);
    from.locations.token_url = google.url("/token");
    from.timeout = hondana_test::event_deadline;
    from.log = [this](std::string_view line) {
      const std::lock_guard lock(mutex);
      lines += std::string(line) + '\n';
    };
    auto out = make_access_token_source(std::move(from));
    EXPECT_TRUE(out) << out.error().public_text;
    return *out;
  }
  std::string said() {
    const std::lock_guard lock(mutex);
    return lines;
  }
  own_folder folder;
  drive_test::stand_in google;
  std::mutex mutex;
  std::string lines;
};

TEST_F(google_stand_in, takes_the_assertion_of_a_clock_that_is_wrong_the_second_time) {
  for (const auto off : {std::chrono::hours(-5), std::chrono::hours(2)}) {
    token_settings from;
    from.now = [off] { return std::chrono::system_clock::now() + off; };
    const auto tokens = made(google.service_account(), from);
    const auto got = tokens->token({}, soon());
    ASSERT_TRUE(got) << got.error().public_text << got.error().private_text;
    EXPECT_NE(said().find(off.count() < 0 ? "seconds behind Google's" : "seconds ahead of Google's"), std::string::npos)
        << said();
  }
}

TEST_F(google_stand_in, lets_an_account_stand_in_for_those_of_its_domain_alone) {
  token_settings from;
  from.subject = "hanako@example.com";
  EXPECT_TRUE(made(google.service_account(), from)->token({}, soon()));
  from.subject = "stranger@example.org";
  const auto got = made(google.service_account(), from)->token({}, soon());
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, errc::unauthorized);
  EXPECT_NE(got.error().public_text.find("stranger@example.org"), std::string::npos) << got.error().public_text;
}

TEST_F(google_stand_in, does_not_take_a_key_of_somebody_else) {
  const auto got = made(hondana_test::account_json({}))->token({}, soon());
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, errc::unauthorized) << got.error().private_text;
}

/// The browser of somebody who agrees: it is sent back at once.
class agreeing_browser final : public hondana::login_handler {
 public:
  hondana::result<std::string> listen(const std::optional<std::string>&) override {
    return std::string("http://127.0.0.1:4711/callback");
  }
  hondana::result<std::string> visit(const std::string& url, const std::stop_token& stop) override {
    const auto at = hondana::endpoint::endpoint::create({.url = url, .timeout = hondana_test::event_deadline});
    if (!at) return tl::unexpected(at.error());
    hondana::endpoint::request what;
    what.follows_redirects = false;
    auto got = (*at)->send(what, stop);
    if (!got) return tl::unexpected(got.error());
    return got->location;
  }
};

TEST_F(google_stand_in, gives_a_log_in_that_works_until_it_is_taken_back) {
  hondana::google::login_settings with;
  const drive_test::setup known;
  with.client = {known.client_id, known.client_secret, google.url("/o/oauth2/v2/auth"), google.url("/token")};
  agreeing_browser browser;
  const auto user = hondana::google::log_in(with, browser, {});
  ASSERT_TRUE(user) << user.error().public_text << user.error().private_text;
  const auto tokens = made(encode(*user));
  const auto first = tokens->token({}, soon());
  ASSERT_TRUE(first) << first.error().public_text;
  ASSERT_TRUE(hondana::google::revoke(*user, with, {}));
  tokens->invalidate(*first);
  const auto got = tokens->token({}, soon());
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, errc::unauthorized);
  EXPECT_NE(got.error().public_text.find("revoked"), std::string::npos) << got.error().public_text;

  with.client.secret = "another";
  const auto refused = hondana::google::log_in(with, browser, {});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().public_text.find("secret is wrong"), std::string::npos) << refused.error().public_text;
}

}  // namespace
