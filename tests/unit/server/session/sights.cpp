/// When a stream's subscriptions are gone through anew, since its caller sees otherwise than before.
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include <hondana/provider.hpp>

#include "server/session/change_stream.hpp"

namespace hondana::session {
namespace {

/// Shows everything, and counts how often it was asked.
class counting_view final : public access_filter {
 public:
  explicit counting_view(std::uint64_t id) : id_(id) {}
  std::uint64_t id() const noexcept override { return id_; }
  bool may_see(std::string_view) const override {
    ++asked;
    return true;
  }
  mutable std::atomic<int> asked{0};

 private:
  const std::uint64_t id_;
};

class sights : public testing::Test {
 protected:
  sights() {
    see(first, "{}");
    EXPECT_TRUE(stream->watch("memo:///a", "memo:///a", 100));
    EXPECT_TRUE(feed->watch(stream, "memo:///a"));
    first->asked = 0;
  }
  ~sights() override { feed->remove_listener(*stream); }
  /// As an authenticator says it that makes a proof for every request.
  void see(std::shared_ptr<const access_filter> through, const std::string& claims) {
    const auto proved = std::make_shared<const auth_info>(auth_info{"the test", {"mcp"}, value::parse(claims).value()});
    stream->set_caller(change_stream::party::subscriber, {"alice", {}, std::move(through), proved}, gate, lookups);
  }

  std::shared_ptr<counting_view> first = std::make_shared<counting_view>(1);
  std::shared_ptr<catalog::change_feed> feed = std::make_shared<catalog::change_feed>();
  std::shared_ptr<const gate::gate> gate = std::make_shared<const gate::gate>();
  std::shared_ptr<catalog::entry_lookups> lookups = std::make_shared<catalog::entry_lookups>();
  std::shared_ptr<change_stream> stream = std::make_shared<change_stream>(feed, nullptr, std::nullopt);
};

TEST_F(sights, that_are_the_same_ask_nothing_of_subscriptions) {
  const auto before = stream->filter_generation();
  for (int i = 0; i < 3; ++i) see(first, "{}");
  see(first, R"({"groups":["staff"]})");
  const auto alike = std::make_shared<counting_view>(1);
  see(alike, "{}");
  EXPECT_EQ(first->asked, 0);
  EXPECT_EQ(alike->asked, 0);
  EXPECT_EQ(stream->filter_generation(), before);
}

TEST_F(sights, that_are_others_ask_of_every_subscription) {
  const auto before = stream->filter_generation();
  const auto other = std::make_shared<counting_view>(2);
  see(other, "{}");
  EXPECT_GT(other->asked, 0);
  EXPECT_EQ(stream->filter_generation(), before + 1);
  see(nullptr, "{}");
  EXPECT_EQ(stream->filter_generation(), before + 2);
}

TEST(callers_seeing_alike, have_equal_proofs_and_views_however_often_these_are_made) {
  const auto proved = [](std::string claims, std::vector<std::string> scopes = {"mcp"}) {
    return std::make_shared<const auth_info>(auth_info{"the test", std::move(scopes), value::parse(claims).value()});
  };
  const caller_info alice{"alice", "::1", nullptr, proved("{}")};
  EXPECT_TRUE(has_same_access(alice, {"alice", "::2", nullptr, proved("{}")}));
  EXPECT_FALSE(has_same_access(alice, {"bob", "::1", nullptr, proved("{}")}));
  EXPECT_FALSE(has_same_access(alice, {"alice", "::1", nullptr, proved("{}", {"mcp", "more"})}));
  EXPECT_FALSE(has_same_access(alice, {"alice", "::1", nullptr, proved(R"({"groups":"staff"})")}));
  EXPECT_FALSE(has_same_access(alice, {"alice", "::1", nullptr, nullptr}));
  EXPECT_FALSE(has_same_access(alice, {"alice", "::1", std::make_shared<counting_view>(1), proved("{}")}));
}

}  // namespace
}  // namespace hondana::session
