/// Rules that change while peers are connected: streams lose what was revoked, and gain what is allowed.
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <hondana/memory_provider.hpp>
#include <hondana/server.hpp>

#include "support/must.hpp"
#include "unit/transport/memory/asker.hpp"

namespace hondana::transport {
namespace {

class revoking : public testing::Test {
 protected:
  revoking() {
    for (const std::string name : {"a", "b", "mark"}) {
      resource entry;
      entry.uri = "memo:///" + name;
      entry.name = name;
      EXPECT_TRUE(shelf->add(entry, "content of " + name));
    }
    EXPECT_TRUE(of.replace(allowing("memo:///a"), {shelf}));
  }
  static server_options allowing(const std::string& uri) { return with_rules({rule({}, {uri}), rule({}, {"memo:///mark"})}); }
  /// What is told of when all three have changed, up to the mark.
  std::string told(asker& peer) {
    for (const std::string name : {"a", "b"}) EXPECT_TRUE(of.notify_resource_updated("memo:///" + name));
    EXPECT_TRUE(of.notify_resource_updated("memo:///mark"));
    std::string all;
    for (const auto& one : peer.receive_until("memo:///mark")) all += one;
    return all;
  }
  /// The same up to each of `uris` as well: entries are looked up by several threads, so that the mark may come before them.
  std::string told_with(asker& peer, const std::vector<std::string>& uris) {
    auto all = told(peer);
    for (const auto& uri : uris) {
      if (all.find(uri) != std::string::npos) continue;
      for (const auto& one : peer.receive_until(uri)) all += one;
    }
    return all;
  }
  void expect_changes_hands(asker& peer) {
    const auto before = told_with(peer, {"memo:///a"});
    EXPECT_EQ(before.find("memo:///b"), std::string::npos) << before;
    ASSERT_TRUE(of.replace(allowing("memo:///b"), {shelf}));
    const auto after = told_with(peer, {"memo:///b"});
    EXPECT_EQ(after.find("memo:///a"), std::string::npos) << after;
  }

  std::shared_ptr<memory_provider> shelf = std::make_shared<memory_provider>("shelf", "memo:///");
  server of = must(server::create());
};

TEST_F(revoking, subscriptions_of_a_session_lose_and_gain_with_the_configuration) {
  asker peer(of, named("eve"));
  peer.shake_hands();
  for (const std::string name : {"a", "b", "mark"}) (void)peer.ask(asker::about("resources/subscribe", "memo:///" + name));
  expect_changes_hands(peer);
}

TEST_F(revoking, subscriptions_told_as_entries_too) {
  asker peer(of, named("eve"));
  peer.shake_hands();
  const auto answer = peer.ask(asker::request("resources/subscribe", R"("uris":["memo:///a","memo:///b","memo:///mark"])"));
  EXPECT_NE(answer.find(R"("result")"), std::string::npos) << answer;
  expect_changes_hands(peer);
}

TEST_F(revoking, streams_of_the_era_without_sessions_too) {
  asker peer(of, named("eve"));
  const auto uris = R"("notifications":{"resourceSubscriptions":["memo:///a","memo:///b","memo:///mark"]})";
  const auto acknowledged = peer.ask(asker::modern("subscriptions/listen", uris));
  EXPECT_NE(acknowledged.find("acknowledged"), std::string::npos) << acknowledged;
  expect_changes_hands(peer);
}

TEST_F(revoking, of_all_rules_shows_everything_and_the_first_rule_hides_again) {
  asker peer(of, named("eve"));
  peer.shake_hands();
  for (const std::string name : {"a", "b", "mark"}) (void)peer.ask(asker::about("resources/subscribe", "memo:///" + name));
  ASSERT_TRUE(of.replace({}, {shelf}));
  auto all = told_with(peer, {"memo:///a", "memo:///b"});
  EXPECT_NE(all.find("memo:///a"), std::string::npos);
  EXPECT_NE(all.find("memo:///b"), std::string::npos);
  ASSERT_TRUE(of.replace(allowing("memo:///a"), {shelf}));
  all = told(peer);
  EXPECT_EQ(all.find("memo:///b"), std::string::npos) << all;
}

TEST_F(revoking, a_session_whose_caller_shows_less_than_before_is_told_less) {
  auto staff = rule({}, {"memo:///a"});
  staff.scopes = {"staff"};
  ASSERT_TRUE(of.replace(with_rules({staff, rule({}, {"memo:///mark"})}), {shelf}));
  auto who = named("eve");
  who.auth_info = std::make_shared<const auth_info>(auth_info{"", {"staff"}, {}});
  asker peer(of, who);
  peer.shake_hands();
  for (const std::string name : {"a", "mark"}) (void)peer.ask(asker::about("resources/subscribe", "memo:///" + name));
  EXPECT_NE(told_with(peer, {"memo:///a"}).find("memo:///a"), std::string::npos);
  peer.become(named("eve"));
  (void)peer.ask(asker::request("ping", ""));
  EXPECT_EQ(told(peer).find("memo:///a"), std::string::npos);
}

TEST_F(revoking, nothing_is_told_of_a_subscription_to_what_is_hidden_before_it_is_shown) {
  asker peer(of, named("eve"));
  peer.shake_hands();
  EXPECT_NE(peer.ask(asker::about("resources/subscribe", "memo:///b")).find(R"("result")"), std::string::npos);
  (void)peer.ask(asker::about("resources/subscribe", "memo:///mark"));
  EXPECT_EQ(told(peer).find("memo:///b"), std::string::npos);
}

TEST_F(revoking, rules_that_check_refuses_leave_the_old_ones_and_make_no_server) {
  auto bad = with_rules({rule({"a*b"}, {})});
  EXPECT_FALSE(of.replace(bad, {shelf}));
  asker peer(of, named("eve"));
  peer.shake_hands();
  EXPECT_NE(peer.ask(asker::about("resources/read", "memo:///b")).find("Resource not found"), std::string::npos);
  EXPECT_FALSE(server::create(bad));
}

}  // namespace
}  // namespace hondana::transport
