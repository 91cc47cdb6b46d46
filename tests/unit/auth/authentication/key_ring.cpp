/// Where keys come from, how long they are kept, and what is no key set.
#include "auth/authentication/authorization_server.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>

#include "base/executor/thread_pool.hpp"
#include "deadline.hpp"
#include "unit/auth/authentication/issuer.hpp"

namespace {

using hondana::errc;
using hondana::authentication::is_issuer;
using hondana::authentication::jwks_cache;
using hondana::authentication::parse_jwks_uri;
using hondana::transport::http_client::small_request;
using hondana::transport::http_client::small_response;
using hondana_test::issuer;
using hondana_test::issuer_url;
using hondana_test::keys_url;
using hondana_test::metadata_url;
using hondana_test::soon;
using hondana_test::still_time;
using wish = jwks_cache::fetch_reason;

class keys_of_an_issuer : public testing::Test {
 protected:
  jwks_cache::settings settings() {
    return {issuer_url, "", issuer_.caller(), time_.clocks(),
            [this](std::string_view line) { log_ += std::string(line) + '\n'; }};
  }
  /// Whether keys were due; then they have been fetched again, or that has failed.
  bool renews(jwks_cache& ring) {
    const auto before = issuer_.asked(keys_url);
    ring.start_refresh();
    EXPECT_TRUE(hondana_test::eventually([&] { return !ring.is_fetching(); }));
    return issuer_.asked(keys_url) != before;
  }
  std::string why_not() {
    jwks_cache ring(settings());
    const auto got = ring.obtain(wish::no_keys, soon());
    return got ? "had" : got.error().public_text;
  }
  void expect_why(const std::string& word) {
    const auto why = why_not();
    EXPECT_NE(why.find(word), std::string::npos) << why;
  }

  still_time time_;
  issuer issuer_;
  std::string log_;
};

TEST(issuer_metadata, names_keys_only_for_its_own_issuer) {
  EXPECT_EQ(parse_jwks_uri(R"({"issuer":"https://a","jwks_uri":"https://a/k"})", "https://a").value_or(""), "https://a/k");
  EXPECT_EQ(parse_jwks_uri(R"({"issuer":"https://a/","jwks_uri":"https://a/k"})", "https://a").error().code,
            errc::access_denied);
  EXPECT_EQ(parse_jwks_uri(R"({"jwks_uri":"https://a/k"})", "https://a").error().code, errc::protocol_error);
  EXPECT_EQ(parse_jwks_uri(R"({"issuer":"https://a"})", "https://a").error().code, errc::protocol_error);
  EXPECT_EQ(parse_jwks_uri(R"({"issuer":"https://a","jwks_uri":7})", "https://a").error().code, errc::protocol_error);
  EXPECT_EQ(parse_jwks_uri("<html>", "https://a").error().code, errc::protocol_error);
  EXPECT_FALSE(is_issuer("ftp://a.example"));
  EXPECT_FALSE(is_issuer("https://a.example?x"));
  EXPECT_FALSE(is_issuer(""));
  EXPECT_TRUE(is_issuer("https://a.example/t"));
}

TEST_F(keys_of_an_issuer, are_found_by_openid_discovery_where_there_is_no_other) {
  issuer_.serve(metadata_url, 200, "<html>Welcome</html>");
  issuer_.serve("https://login.example.com/.well-known/openid-configuration", 200,
                R"({"issuer":"https://login.example.com","jwks_uri":"https://login.example.com/keys"})");
  EXPECT_EQ(why_not(), "had");
}

TEST_F(keys_of_an_issuer, are_not_taken_from_metadata_of_another_issuer) {
  issuer_.serve(metadata_url, 200, R"({"issuer":"https://evil.example.com","jwks_uri":"https://login.example.com/keys"})");
  issuer_.serve("https://login.example.com/.well-known/openid-configuration", 200,
                R"({"issuer":"https://login.example.com","jwks_uri":"https://login.example.com/keys"})");
  expect_why("its issuer is not");
  EXPECT_EQ(issuer_.asked(keys_url), 0u);
}

TEST_F(keys_of_an_issuer, of_a_megabyte_of_garbage_or_of_none_of_our_algorithms_are_none) {
  issuer_.serve(keys_url, 200, std::string(1u << 20, ' ') + R"({"keys":[]})");
  expect_why("too long");
  issuer_.serve(keys_url, 200, "\xff\xfe garbage");
  expect_why("not valid JSON");
  issuer_.serve(keys_url, 200, R"({"keys":[]})");
  expect_why("no key for RS256");
  issuer_.serve(keys_url, 200, R"({"keys":[{"kty":"oct","k":"c2VjcmV0"}]})");
  expect_why("no key for RS256");
  issuer_.serve(keys_url, 302, "");
  expect_why("302, a redirect");
}

TEST_F(keys_of_an_issuer, are_renewed_when_they_say_so_within_bounds) {
  const auto with_age = [this](std::optional<std::chrono::seconds> age) {
    const auto text = hondana::value(hondana::value::object{{"keys", hondana::value::array{issuer_.jwk("first")}}}).to_text();
    issuer_.serve(keys_url,
                  [text, age](const small_request&) { return small_response{200, "application/json", text, {}, age}; });
  };
  const auto fresh_for = [&](std::optional<std::chrono::seconds> age) {
    with_age(age);
    jwks_cache ring(settings());
    EXPECT_TRUE(ring.obtain(wish::no_keys, soon()));
    int minutes = 0;
    while (!renews(ring) && minutes < 100) {
      time_.pass(std::chrono::minutes(1));
      ++minutes;
    }
    EXPECT_FALSE(renews(ring)) << "once is enough";
    return minutes;
  };
  EXPECT_EQ(fresh_for({}), 15);
  EXPECT_EQ(fresh_for(std::chrono::seconds(0)), 5);
  EXPECT_EQ(fresh_for(std::chrono::minutes(20)), 20);
  EXPECT_EQ(fresh_for(std::chrono::hours(9)), 60);
}

TEST_F(keys_of_an_issuer, stay_in_use_for_a_day_while_fetching_fails_which_the_log_says_once) {
  jwks_cache ring(settings());
  ASSERT_TRUE(ring.obtain(wish::no_keys, soon()));
  issuer_.serve(keys_url, 500, "");
  for (int hour = 0; hour < 23; ++hour) {
    time_.pass(std::chrono::hours(1));
    ASSERT_TRUE(renews(ring)) << hour;
    ASSERT_TRUE(ring.cached()) << hour;
  }
  EXPECT_EQ(issuer_.asked(keys_url), 24u);
  EXPECT_EQ(std::count(log_.begin(), log_.end(), '\n'), 1) << log_;
  EXPECT_NE(log_.find("status 500"), std::string::npos) << log_;
  time_.pass(std::chrono::hours(1));
  EXPECT_FALSE(ring.cached());
  EXPECT_FALSE(ring.obtain(wish::no_keys, soon()));
  issuer_.add_key("second");
  time_.pass(std::chrono::seconds(5));
  EXPECT_TRUE(ring.obtain(wish::no_keys, soon()));
  EXPECT_NE(log_.find("again"), std::string::npos) << log_;
}

TEST_F(keys_of_an_issuer, that_moved_are_found_again) {
  jwks_cache ring(settings());
  ASSERT_TRUE(ring.obtain(wish::no_keys, soon()));
  issuer_.serve("https://login.example.com/keys2", 200,
                hondana::value(hondana::value::object{{"keys", hondana::value::array{issuer_.jwk("first")}}}).to_text());
  issuer_.serve(metadata_url, 200, R"({"issuer":"https://login.example.com","jwks_uri":"https://login.example.com/keys2"})");
  issuer_.serve(keys_url, 404, "");
  time_.pass(std::chrono::minutes(20));
  EXPECT_TRUE(renews(ring));
  EXPECT_EQ(issuer_.asked("https://login.example.com/keys2"), 0u);
  time_.pass(std::chrono::minutes(1));
  renews(ring);
  EXPECT_EQ(issuer_.asked("https://login.example.com/keys2"), 1u);
}

/// Hangs until it is let go.
class hanging_keys {
 public:
  hanging_keys(issuer& of, const std::string& text) {
    of.serve(keys_url, [this, going = go_on_.get_future().share(), text](const small_request&) {
      begun_.set_value();
      going.wait();
      return small_response{200, "application/json", text, {}, {}};
    });
  }
  void wait_for_fetch() { begun_.get_future().wait(); }
  void let_go() { go_on_.set_value(); }

 private:
  std::promise<void> begun_;
  std::promise<void> go_on_;
};

TEST_F(keys_of_an_issuer, that_are_held_are_gone_on_with_while_others_are_fetched) {
  jwks_cache ring(settings());
  ASSERT_TRUE(ring.obtain(wish::no_keys, soon()));
  hanging_keys keys(issuer_,
                    hondana::value(hondana::value::object{{"keys", hondana::value::array{issuer_.jwk("first")}}}).to_text());
  std::thread first([&] { EXPECT_TRUE(ring.obtain(wish::unknown_key, soon())); });
  keys.wait_for_fetch();
  // All of this comes back while the server hangs.
  EXPECT_TRUE(ring.is_fetching());
  EXPECT_FALSE(ring.may_fetch_unknown());
  for (const auto why : {wish::unknown_key, wish::no_keys}) EXPECT_TRUE(ring.obtain(why, soon()));
  keys.let_go();
  first.join();
  EXPECT_FALSE(ring.is_fetching());
  EXPECT_EQ(issuer_.asked(keys_url), 2u);
}

TEST_F(keys_of_an_issuer, that_are_slow_in_coming_are_renewed_behind_everybodys_back) {
  jwks_cache ring(settings());
  ASSERT_TRUE(ring.obtain(wish::no_keys, soon()));
  issuer_.add_key("second");
  const auto both =
      hondana::value(hondana::value::object{{"keys", hondana::value::array{issuer_.jwk("first"), issuer_.jwk("second")}}});
  hanging_keys keys(issuer_, both.to_text());
  time_.pass(std::chrono::minutes(19));
  const auto before = ring.generation();
  ring.start_refresh();
  keys.wait_for_fetch();
  // However long it takes, nobody waits and nobody begins another.
  ring.start_refresh();
  EXPECT_EQ(ring.cached()->generation, before);
  EXPECT_TRUE(ring.obtain(wish::no_keys, soon()));
  keys.let_go();
  EXPECT_TRUE(hondana_test::eventually([&] { return ring.generation() != before; }));
  EXPECT_EQ(issuer_.asked(keys_url), 2u);
}

// As many threads as transport/http/service.cpp has for asking.
TEST_F(keys_of_an_issuer, that_are_not_here_yet_are_waited_for_by_half_of_the_threads_that_ask) {
  jwks_cache ring(settings());
  hanging_keys keys(issuer_,
                    hondana::value(hondana::value::object{{"keys", hondana::value::array{issuer_.jwk("first")}}}).to_text());
  std::atomic<int> had{0};
  std::atomic<int> told_at_once{0};
  hondana::executor::thread_pool pool("test", 4, 64);
  const auto obtain = [&] { ++(ring.obtain(wish::no_keys, soon()) ? had : told_at_once); };
  ASSERT_TRUE(pool.submit(obtain, soon()));
  keys.wait_for_fetch();
  for (int one = 0; one < 20; ++one) ASSERT_TRUE(pool.submit(obtain, soon()));
  // All but one that waits come back while the server hangs.
  EXPECT_TRUE(hondana_test::eventually([&] { return told_at_once == 19; }));
  keys.let_go();
  EXPECT_TRUE(pool.close(soon()));
  EXPECT_EQ(had, 2);
  EXPECT_EQ(issuer_.asked(keys_url), 1u);
}

}  // namespace
