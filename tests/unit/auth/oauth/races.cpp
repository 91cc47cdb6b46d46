/// Several processes that have one store.
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "auth/oauth/session.hpp"
#include "unit/auth/oauth/scripted_places.hpp"

namespace {

using namespace hondana_test;
using std::chrono::milliseconds;
using std::chrono::seconds;

/// One that has a refresh token, and an access token that has expired.
std::unique_ptr<scripted_world> expired_world() {
  auto world = std::make_unique<scripted_world>();
  world->token_members = R"(,"expires_in":10,"refresh_token":"first")";
  EXPECT_TRUE(world->refused());
  world->pass(seconds(10));
  return world;
}

TEST(oauth_races, a_refresh_keeps_others_out_until_its_tokens_are_kept) {
  const auto world = expired_world();
  world->places.put("https://as.example/token", [&world](const small_request&, const std::stop_token&) {
    const auto other = world->store->lock(server_url, milliseconds(0), {});
    EXPECT_FALSE(other);
    EXPECT_EQ(other ? errc::internal : other.error().code, errc::timed_out);
    EXPECT_TRUE(world->store->lock("https://other.example/mcp", milliseconds(0), {}));
    return json(world->next_token());
  });
  ASSERT_TRUE(world->lacking());
  EXPECT_EQ(world->token(), "token-2");
  EXPECT_TRUE(world->store->lock(server_url, milliseconds(0), {}));
}

TEST(oauth_races, a_refresh_waits_for_whoever_is_at_it) {
  const auto world = expired_world();
  auto held = world->store->lock(server_url, milliseconds(0), {});
  ASSERT_TRUE(held);
  std::stop_source stop;
  stop.request_stop();
  const auto stopped = world->session().obtain({server_url, {}, {}, {}, 0}, stop.get_token());
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, errc::cancelled);
  EXPECT_EQ(world->places.asked("https://as.example/token").size(), 1u);
  held->reset();
  ASSERT_TRUE(world->lacking());
  EXPECT_EQ(world->token(), "token-2");
}

TEST(oauth_races, the_refresh_token_of_the_last_winner_is_used_though_its_access_token_has_expired) {
  const auto world = expired_world();
  auto others = world->store->find(server_url)->front();
  others.tokens.access_token = "of the winner";
  others.tokens.refresh_token = "second";
  others.tokens.issued_at += seconds(1);
  others.tokens.expires_at = others.tokens.issued_at + seconds(1);
  ASSERT_TRUE(world->store->put(others));
  ASSERT_TRUE(world->lacking());
  EXPECT_EQ(field(world->token_form(1), "refresh_token"), "second");
}

TEST(oauth_races, what_has_taken_the_place_of_refused_tokens_is_not_forgotten) {
  const auto world = expired_world();
  world->places.put("https://as.example/token", [&world](const small_request&, const std::stop_token&) {
    auto others = world->store->find(server_url)->front();
    others.tokens.access_token = "of a log-in";
    // By a clock that goes otherwise.
    others.tokens.issued_at -= seconds(100);
    EXPECT_TRUE(world->store->put(others));
    return json(R"({"error":"invalid_grant"})", 400);
  });
  ASSERT_TRUE(world->lacking());
  ASSERT_EQ(world->store->find(server_url)->size(), 1u);
  EXPECT_EQ(world->store->find(server_url)->front().tokens.access_token, "of a log-in");
}

TEST(oauth_races, a_store_without_a_lock_hinders_no_refresh) {
  /// As one in a folder that cannot be written to.
  class lockless_store final : public hondana::token_store {
   public:
    explicit lockless_store(std::shared_ptr<hondana::token_store> of) : of_(std::move(of)) {}
    result<std::vector<hondana::token_record>> find(const std::string& resource) override { return of_->find(resource); }
    result<void> put(const hondana::token_record&) override { return fail(); }
    result<void> remove(const hondana::token_key&) override { return fail(); }
    result<std::shared_ptr<void>> lock(const std::string&, milliseconds, const std::stop_token&) override { return fail(); }
    result<std::vector<hondana::client_registration>> registrations(const std::string& issuer) override {
      return of_->registrations(issuer);
    }
    result<void> put_registration(const std::string&, const hondana::client_registration&) override { return fail(); }
    result<void> remove_registration(const std::string&, const std::string&) override { return fail(); }

   private:
    static tl::unexpected<hondana::failure> fail() { return hondana::fail(errc::source_unavailable, "it is read-only"); }
    std::shared_ptr<hondana::token_store> of_;
  };
  const auto world = expired_world();
  world->settings.store = std::make_shared<lockless_store>(world->store);
  world->restart();
  ASSERT_TRUE(world->lacking());
  EXPECT_EQ(world->token(), "token-2");
  EXPECT_NE(world->said().find("it is read-only"), std::string::npos);
}

}  // namespace
