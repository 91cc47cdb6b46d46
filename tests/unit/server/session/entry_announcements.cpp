/// Changes told with the entry: coalesced, looked up once, and hidden where the peer's view hides them.
#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <hondana/capabilities.hpp>
#include <hondana/clock.hpp>
#include <hondana/provider.hpp>

#include "deadline.hpp"
#include "protocol/wire/choose_codec.hpp"
#include "server/session/change_stream.hpp"

namespace hondana::session {
namespace {

using kind = model::change::change_kind;

const wire::codec& manners() {
  rpc::request_info facts;
  facts.http = rpc::http_headers{};
  facts.http->protocol_version = "2024-11-05";
  return wire::choose_for_unreadable(facts, {});
}

/// A source of one resource, whose lookups wait until they may go on.
class slow_source final : public provider, public entry_source {
 public:
  std::string name() const override { return "memo"; }
  std::vector<std::string> claims() const override { return {"memo:///"}; }
  scheme_documentation documentation() const override { return {"memo", "Test entries.", {}, {}}; }
  result<list_result> list(const list_request&) override { return list_result{}; }
  result<read_result> read(const read_request&) override { return text_read_result("x"); }
  result<resource> describe(const describe_request&) override {
    std::unique_lock lock(mutex_);
    ++begun_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return !is_held_; });
    if (version_.empty()) return fail(errc::resource_not_found, "Resource not found");
    resource entry;
    entry.uri = "memo:///a";
    entry.name = "a";
    entry.version = version_;
    return entry;
  }
  /// Empty: there is none.
  void put(std::string version) {
    const std::lock_guard lock(mutex_);
    version_ = std::move(version);
  }
  void hold(bool is_held) {
    const std::lock_guard lock(mutex_);
    is_held_ = is_held;
    changed_.notify_all();
  }
  bool wait_until_begun(int count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, hondana_test::event_deadline, [&] { return begun_ >= count; });
  }
  int begun() {
    const std::lock_guard lock(mutex_);
    return begun_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string version_ = "v1";
  bool is_held_ = false;
  int begun_ = 0;
};

class entries : public testing::Test {
 protected:
  entries() {
    const auto made =
        catalog::catalog::make({std::make_shared<catalog::source>(source, 100)}, {}, std::make_shared<executor::timers>());
    lookups->set_catalog(made.value());
  }
  ~entries() override { source->hold(false); }

  std::shared_ptr<change_stream> watch(std::shared_ptr<const access_filter> through = {}) {
    auto made = std::make_shared<change_stream>(feed, &manners(), std::nullopt);
    made->set_caller(change_stream::party::subscriber, {"local", {}, std::move(through)}, gate, lookups);
    EXPECT_TRUE(made->watch_entry("memo:///a", "MEMO:///a", 100));
    EXPECT_TRUE(feed->watch(made, "memo:///a"));
    made->set_listener(woken);
    return made;
  }
  void change() { feed->publish({kind::content, "memo:///a", {}}); }
  struct follower final : rpc::source_listener {
    void notify() override {
      const std::lock_guard lock(mutex);
      ++wakes;
      changed.notify_all();
    }
    std::mutex mutex;
    std::condition_variable changed;
    int wakes = 0;
  };
  bool wait_for_wakes(int count) const {
    std::unique_lock lock(woken->mutex);
    return woken->changed.wait_for(lock, hondana_test::event_deadline, [&] { return woken->wakes >= count; });
  }
  static std::vector<std::string> all(change_stream& from) {
    std::vector<std::string> messages;
    while (auto one = from.next()) messages.push_back(std::move(*one));
    return messages;
  }
  static std::string told(const std::string& more) {
    return R"({"jsonrpc":"2.0","method":"notifications/resources/content_changed","params":{"resource":{"uri":"MEMO:///a",)" +
           more + "}}}";
  }

  manual_clock clock;  // stands still: lookups take five seconds at most
  std::shared_ptr<slow_source> source = std::make_shared<slow_source>();
  std::shared_ptr<catalog::change_feed> feed = std::make_shared<catalog::change_feed>();
  std::shared_ptr<const gate::gate> gate = std::make_shared<const gate::gate>();
  std::shared_ptr<catalog::entry_lookups> lookups = std::make_shared<catalog::entry_lookups>();
  std::shared_ptr<follower> woken = std::make_shared<follower>();
};

/// Shows everything.
class open_view final : public access_filter {
 public:
  std::uint64_t id() const noexcept override { return 1; }
  bool may_see(std::string_view) const override { return true; }
};

class other_names : public entries {
 protected:
  std::shared_ptr<change_stream> watch_content(std::shared_ptr<const access_filter> through) {
    auto made = std::make_shared<change_stream>(feed, &manners(), std::nullopt);
    made->set_caller(change_stream::party::subscriber, {"local", {}, std::move(through)}, gate, lookups);
    EXPECT_TRUE(made->watch("memo:///a", "memo:///a", 100));
    EXPECT_TRUE(feed->watch(made, "memo:///a"));
    return made;
  }
  void change_alias() {
    model::change what{kind::content, "memo:///a", {}};
    what.is_alias = true;
    feed->publish(what);
  }
  /// Two changes of what is not found, of which the first has been looked up when this returns.
  void change_hidden() {
    source->put({});
    change_alias();
    ASSERT_TRUE(source->wait_until_begun(1));
    source->hold(true);
    change_alias();
    ASSERT_TRUE(source->wait_until_begun(2));
  }
};

TEST_F(other_names, are_told_of_to_whoever_has_a_view_once_they_have_been_found_through_it) {
  const auto by_view = watch_content(std::make_shared<open_view>());
  const auto by_nobody = watch_content({});
  ASSERT_NO_FATAL_FAILURE(change_hidden());
  EXPECT_TRUE(all(*by_view).empty());
  EXPECT_EQ(all(*by_nobody).size(), 1u) << "who has no view sees everything";
  by_view->set_listener(woken);
  source->put("v2");
  source->hold(false);
  ASSERT_TRUE(wait_for_wakes(1));
  EXPECT_EQ(all(*by_view).size(), 1u);
}

TEST_F(other_names, change_also_by_themselves_and_that_is_told_at_once) {
  const auto stream = watch_content(std::make_shared<open_view>());
  change();
  EXPECT_EQ(lookups->in_progress(), 0u);
  EXPECT_EQ(all(*stream).size(), 1u);
}

TEST_F(other_names, that_are_not_found_are_not_told_as_entries_either) {
  const auto stream = watch(std::make_shared<open_view>());
  ASSERT_NO_FATAL_FAILURE(change_hidden());
  EXPECT_TRUE(all(*stream).empty());
  change();
  source->hold(false);
  ASSERT_TRUE(wait_for_wakes(1));
  EXPECT_FALSE(all(*stream).empty()) << "that it has gone is told of what it is the name of";
}

TEST_F(other_names, that_are_owed_after_a_switch_are_looked_for_in_the_other_way_too) {
  const auto stream = watch_content({});
  change_alias();
  const auto left = stream->unwatch("memo:///a");
  EXPECT_EQ(left, pending_notification::alias_change);
  stream->set_caller(change_stream::party::subscriber, {"local", {}, std::make_shared<open_view>()}, gate, lookups);
  ASSERT_TRUE(stream->watch_entry("memo:///a", "MEMO:///a", 100));
  source->put({});
  stream->restore_pending("memo:///a", left);
  ASSERT_TRUE(source->wait_until_begun(1));
  source->hold(true);
  change_alias();
  ASSERT_TRUE(source->wait_until_begun(2));
  EXPECT_TRUE(all(*stream).empty());
}

TEST_F(other_names, that_are_being_looked_for_are_owed_after_a_switch) {
  const auto stream = watch_content(std::make_shared<open_view>());
  source->hold(true);
  change_alias();
  ASSERT_TRUE(source->wait_until_begun(1));
  const auto left = stream->unwatch("memo:///a");
  EXPECT_EQ(left, pending_notification::alias_change);
  ASSERT_TRUE(stream->watch_entry("memo:///a", "MEMO:///a", 100));
  stream->restore_pending("memo:///a", left);
  stream->set_listener(woken);
  source->put("v2");
  source->hold(false);
  ASSERT_TRUE(wait_for_wakes(1));
  EXPECT_EQ(all(*stream), std::vector<std::string>{told(R"("name":"a","version":"v2")")});
}

TEST_F(other_names, that_come_while_their_own_change_is_looked_up_are_not_taken_for_that) {
  const auto stream = watch(std::make_shared<open_view>());
  source->put({});
  source->hold(true);
  change();
  ASSERT_TRUE(source->wait_until_begun(1));
  change_alias();
  source->hold(false);
  ASSERT_TRUE(wait_for_wakes(1));
  EXPECT_EQ(all(*stream).size(), 1u) << "it has gone";
  ASSERT_TRUE(source->wait_until_begun(2));
  source->hold(true);
  change_alias();
  ASSERT_TRUE(source->wait_until_begun(3));
  EXPECT_TRUE(all(*stream).empty());
}

TEST_F(other_names, that_are_still_to_be_told_are_looked_for_again_through_another_view) {
  const auto stream = watch_content({});
  change_alias();
  source->put({});
  source->hold(true);
  stream->set_caller(change_stream::party::subscriber, {"local", {}, std::make_shared<open_view>()}, gate, lookups);
  ASSERT_TRUE(source->wait_until_begun(1));
  EXPECT_TRUE(all(*stream).empty());
  source->put("v2");
  stream->set_listener(woken);
  source->hold(false);
  ASSERT_TRUE(wait_for_wakes(1));
  EXPECT_EQ(all(*stream).size(), 1u);
}

TEST_F(entries, are_told_once_they_have_been_looked_up) {
  const auto stream = watch();
  source->hold(true);
  change();
  ASSERT_TRUE(source->wait_until_begun(1));
  EXPECT_TRUE(all(*stream).empty());
  source->hold(false);
  ASSERT_TRUE(wait_for_wakes(1));
  EXPECT_EQ(all(*stream), std::vector<std::string>{told(R"("name":"a","version":"v1")")});
}

TEST_F(entries, are_told_in_their_last_state_however_many_changes_there_are) {
  const auto stream = watch();
  source->hold(true);
  change();
  ASSERT_TRUE(source->wait_until_begun(1));
  for (int i = 0; i < 10'000; ++i) change();
  source->put("v2");
  change();
  source->hold(false);
  ASSERT_TRUE(source->wait_until_begun(2));
  std::vector<std::string> messages;
  for (int wakes = 1; messages.empty() || messages.back().find("v2") == std::string::npos; ++wakes) {
    ASSERT_TRUE(wait_for_wakes(wakes));
    for (auto& one : all(*stream)) messages.push_back(std::move(one));
  }
  EXPECT_LE(messages.size(), 2u);
  EXPECT_EQ(source->begun(), 2);
  // The outcome is handed over before the lookup is taken down.
  EXPECT_TRUE(hondana_test::eventually([this] { return lookups->in_progress() == 0; }));
}

TEST_F(entries, of_many_streams_are_looked_up_together) {
  std::vector<std::shared_ptr<change_stream>> streams;
  for (int i = 0; i < 500; ++i) streams.push_back(watch());
  source->hold(true);
  change();
  ASSERT_TRUE(source->wait_until_begun(1));
  source->hold(false);
  ASSERT_TRUE(wait_for_wakes(500));
  EXPECT_LE(source->begun(), 2);
  for (const auto& one : streams) EXPECT_EQ(all(*one).size(), 1u);
}

TEST_F(entries, that_have_gone_have_no_version) {
  const auto stream = watch();
  source->put("");
  feed->publish({kind::content, "memo:///a", "Was a"});
  ASSERT_TRUE(wait_for_wakes(1));
  EXPECT_EQ(all(*stream), std::vector<std::string>{told(R"("name":"MEMO:///a","title":"Was a")")});
}

TEST_F(entries, that_the_view_hides_are_not_told_of) {
  class blind_view final : public access_filter {
   public:
    std::uint64_t id() const noexcept override { return 1; }
    bool may_see(std::string_view) const override { return false; }
  };
  const auto blind = watch(std::make_shared<blind_view>());
  const auto seeing = watch();
  change();
  ASSERT_TRUE(wait_for_wakes(1));
  EXPECT_EQ(all(*seeing).size(), 1u);
  EXPECT_TRUE(all(*blind).empty());
}

TEST_F(entries, are_not_told_after_the_end_of_a_subscription_or_a_stream) {
  const auto ended = watch();
  const auto closed = watch();
  source->hold(true);
  change();
  ASSERT_TRUE(source->wait_until_begun(1));
  ended->unwatch_entry("memo:///a");
  closed->close();
  const auto gone = std::weak_ptr(watch());
  EXPECT_TRUE(gone.expired());
  source->hold(false);
  const auto last = watch();
  change();
  ASSERT_TRUE(source->wait_until_begun(2));
  EXPECT_TRUE(all(*ended).empty());
  EXPECT_TRUE(all(*closed).empty());
}

TEST_F(entries, and_updates_of_one_uri_are_both_told_to_whoever_asks_for_both) {
  const auto stream = watch();
  ASSERT_TRUE(stream->watch("memo:///a", "memo:///a", 100));
  EXPECT_EQ(stream->watched(), 2u);
  EXPECT_TRUE(stream->is_watching("memo:///a"));
  change();
  std::vector<std::string> messages;
  for (int wakes = 1; messages.size() < 2; ++wakes) {
    ASSERT_TRUE(wait_for_wakes(wakes));
    for (auto& one : all(*stream)) messages.push_back(std::move(one));
  }
  EXPECT_NE(messages[0].find("notifications/resources/updated"), std::string::npos);
  EXPECT_NE(messages[1].find("content_changed"), std::string::npos);
}

TEST_F(entries, that_were_still_to_be_told_are_told_in_the_other_way_after_a_switch) {
  const auto stream = watch();
  change();
  ASSERT_TRUE(wait_for_wakes(1));
  EXPECT_EQ(stream->unwatch_entry("memo:///a"), pending_notification::change);
  ASSERT_TRUE(stream->watch("memo:///a", "memo:///a", 100));
  stream->restore_pending("memo:///a", pending_notification::none);
  EXPECT_TRUE(all(*stream).empty());
  stream->restore_pending("memo:///a", pending_notification::change);
  const auto updates = all(*stream);
  ASSERT_EQ(updates.size(), 1u);
  EXPECT_NE(updates.front().find("notifications/resources/updated"), std::string::npos);
  change();
  EXPECT_EQ(stream->unwatch("memo:///a"), pending_notification::change);
  EXPECT_EQ(stream->unwatch("memo:///a"), pending_notification::none);
  EXPECT_TRUE(all(*stream).empty());
  ASSERT_TRUE(stream->watch_entry("memo:///a", "MEMO:///a", 100));
  stream->restore_pending("memo:///a", pending_notification::change);
  ASSERT_TRUE(wait_for_wakes(4));
  EXPECT_EQ(all(*stream), std::vector<std::string>{told(R"("name":"a","version":"v1")")});
}

TEST(room_for_uris, counts_each_once_and_those_watched_already_not_at_all) {
  const auto feed = std::make_shared<catalog::change_feed>();
  const auto one = std::make_shared<change_stream>(feed, nullptr, std::nullopt);
  ASSERT_TRUE(one->watch("a:1", "a:1", 10));
  EXPECT_TRUE(one->has_capacity_for({"a:1", "a:2", "a:2", "a:3"}, 3));
  EXPECT_FALSE(one->has_capacity_for({"a:2", "a:3", "a:4"}, 3));
  EXPECT_FALSE(one->watch_entry("a:2", "a:2", 1));
  EXPECT_FALSE(one->is_watching("a:2"));
}

}  // namespace
}  // namespace hondana::session
