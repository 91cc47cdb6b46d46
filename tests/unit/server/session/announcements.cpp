/// Changes coalesced until a stream has room for them.
#include "server/session/change_stream.hpp"

#include <gtest/gtest.h>

#include "protocol/wire/choose_codec.hpp"

namespace hondana::session {
namespace {

using kind = model::change::change_kind;

const wire::codec& manners_of(std::string revision) {
  rpc::request_info facts;
  facts.http = rpc::http_headers{};
  facts.http->protocol_version = std::move(revision);
  return wire::choose_for_unreadable(facts, {});
}

struct stream {
  explicit stream(const wire::codec* manners = &manners_of("2025-11-25"), std::optional<rpc::request_id> tag = {})
      : notes(std::make_shared<change_stream>(feed, manners, std::move(tag))) {
    notes->set_lists(true, false, false);
  }
  void watch(const std::string& uri) {
    ASSERT_TRUE(notes->watch(uri, uri, 100));
    ASSERT_TRUE(feed->watch(notes, uri));
  }
  struct counter final : rpc::source_listener {
    void notify() override { ++count; }
    int count = 0;
  };
  void follow() { notes->set_listener(woken); }
  [[nodiscard]] int wakes() const { return woken->count; }
  std::vector<std::string> all() {
    std::vector<std::string> messages;
    while (auto one = notes->next()) messages.push_back(std::move(*one));
    return messages;
  }

  std::shared_ptr<catalog::change_feed> feed = std::make_shared<catalog::change_feed>();
  std::shared_ptr<change_stream> notes;
  std::shared_ptr<counter> woken = std::make_shared<counter>();
};

TEST(announcements, keep_one_note_a_list_and_a_uri_however_many_changes_there_are) {
  stream one;
  one.watch("memo:///a");
  one.watch("memo:///b");
  for (int i = 0; i < 10'000; ++i) {
    one.notes->on_change({kind::content, i % 2 == 0 ? "memo:///b" : "memo:///a", {}});
    one.notes->on_change({kind::resources});
  }
  EXPECT_EQ(one.all(), (std::vector<std::string>{
                           R"({"jsonrpc":"2.0","method":"notifications/resources/list_changed","params":{}})",
                           R"({"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"memo:///b"}})",
                           R"({"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"memo:///a"}})"}));
  one.notes->on_change({kind::content, "memo:///a", {}});
  EXPECT_EQ(one.all().size(), 1u);  // the change after the last message is told, too
}

TEST(announcements, wake_their_follower_once_until_it_has_found_nothing) {
  stream one;
  one.watch("memo:///a");
  one.follow();
  EXPECT_EQ(one.wakes(), 0);
  one.notes->on_change({kind::content, "memo:///a", {}});
  one.notes->on_change({kind::resources});
  EXPECT_EQ(one.wakes(), 1);
  EXPECT_EQ(one.all().size(), 2u);
  one.notes->on_change({kind::resources});
  EXPECT_EQ(one.wakes(), 2);
}

TEST(announcements, wake_a_late_follower_at_once) {
  stream one;
  one.watch("memo:///a");
  one.notes->on_change({kind::content, "memo:///a", {}});
  one.follow();
  EXPECT_EQ(one.wakes(), 1);
}

TEST(announcements, say_nothing_before_they_know_how) {
  stream one(nullptr);
  one.watch("memo:///a");
  one.follow();
  one.notes->on_change({kind::content, "memo:///a", {}});
  EXPECT_EQ(one.wakes(), 0);
  EXPECT_TRUE(one.all().empty());
  one.notes->start(manners_of("2024-11-05"));
  EXPECT_EQ(one.wakes(), 1);
  EXPECT_EQ(one.all().size(), 1u);
}

TEST(announcements, put_the_first_message_first_and_tag_the_others) {
  stream one(&manners_of("2026-07-28"), rpc::request_id{std::string("s")});
  one.watch("memo:///a");
  one.notes->on_change({kind::content, "memo:///a", {}});
  one.notes->send_first("first");
  EXPECT_EQ(one.all(), (std::vector<std::string>{
                           "first", R"({"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"_meta":)"
                                    R"({"io.modelcontextprotocol/subscriptionId":"s"},"uri":"memo:///a"}})"}));
}

TEST(announcements, forget_what_was_noted_of_a_uri_that_is_no_longer_watched) {
  stream one;
  one.watch("memo:///a");
  one.notes->on_change({kind::content, "memo:///a", {}});
  one.notes->unwatch("memo:///a");
  EXPECT_TRUE(one.all().empty());
  EXPECT_EQ(one.notes->watched(), 0u);
}

TEST(announcements, take_no_more_uris_than_allowed) {
  stream one;
  EXPECT_TRUE(one.notes->watch("memo:///a", "memo:///a", 1));
  EXPECT_TRUE(one.notes->watch("memo:///a", "memo:///a", 1));
  EXPECT_FALSE(one.notes->watch("memo:///b", "memo:///b", 1));
}

TEST(announcements, end_for_good) {
  stream one;
  one.watch("memo:///a");
  one.follow();
  one.notes->close();
  EXPECT_EQ(one.wakes(), 1);  // so that the follower lets go
  EXPECT_TRUE(one.notes->is_finished());
  one.notes->on_change({kind::resources});
  EXPECT_TRUE(one.all().empty());
  EXPECT_EQ(one.feed->listeners(), 0u);
}

}  // namespace
}  // namespace hondana::session
