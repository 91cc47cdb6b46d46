/// The table of sessions: who finds one, who is dropped, and what is left of those that ended.
#include "transport/http_server/sessions.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <hondana/server.hpp>

#include "server/core/core.hpp"
#include "server/session/session.hpp"
#include "support/must.hpp"

namespace {

namespace http = hondana::transport::http_server;
namespace rpc = hondana::rpc;
using http::stored_session;
using manner = stored_session::transport_kind;
using std::chrono::seconds;

const hondana::gate::gate without_rules{};

class a_table : public testing::Test {
 protected:
  static http::limits few() {
    http::limits with;
    with.max_sessions = 4;
    with.max_sessions_per_address = 3;
    with.session_idle_timeout = seconds(60);
    return with;
  }
  std::shared_ptr<stored_session> make(const std::string& id, const std::string& address = "127.0.0.1",
                                       manner how = manner::streamable, std::shared_ptr<const hondana::auth_info> shown = {}) {
    stored_session::traits is;
    is.id = id;
    is.owner = {"anonymous", address, nullptr, std::move(shown)};
    is.kind = how;
    is.supports_polling = true;
    return std::make_shared<stored_session>(
        std::move(is), hondana::session::session::open(server_.core()), [](const std::function<void()>& work) { work(); },
        table_.configured_limits(), table_.budgets());
  }
  bool keep(const std::string& id, const std::string& address = "127.0.0.1") {
    return table_.store(make(id, address), now_).has_value();
  }
  bool has(const std::string& id, const std::string& identity = "anonymous", manner how = manner::streamable) {
    return table_.find(id, {identity, "", nullptr}, how, now_) != nullptr;
  }

  hondana::server server_ = must(hondana::server::create());
  http::session_store table_{few()};
  http::session_store::clock::time_point now_{seconds(1'000)};
};

// requires: */transports.session_id_secure */transports.session_id_visible
TEST(session_ids, are_long_and_different_and_visible) {
  std::set<std::string> seen;
  for (int i = 0; i < 1'000; ++i) {
    const auto id = http::make_session_id();
    ASSERT_TRUE(id);
    EXPECT_EQ(id->size(), 32u);
    EXPECT_TRUE(std::all_of(id->begin(), id->end(), [](char c) { return c > 0x20 && c < 0x7f; }));
    EXPECT_TRUE(seen.insert(*id).second);
  }
}

TEST_F(a_table, an_id_alone_opens_nothing) {
  ASSERT_TRUE(keep("a"));
  EXPECT_TRUE(has("a"));
  EXPECT_FALSE(has("b"));
  EXPECT_FALSE(has(""));
  EXPECT_FALSE(has("a", "somebody else"));
  EXPECT_FALSE(has("a", "anonymous", manner::sse));
}

hondana::caller_info with_proof(const std::string& client, std::vector<std::string> scopes) {
  hondana::caller_info known{"anonymous", "127.0.0.1", nullptr};
  known.auth_info = std::make_shared<const hondana::auth_info>(hondana::auth_info{client, std::move(scopes), {}});
  return known;
}

// attacks: another program of the same person
TEST_F(a_table, a_session_belongs_to_the_client_that_opened_it_too) {
  ASSERT_TRUE(table_.store(make("a", "127.0.0.1", manner::streamable, with_proof("editor", {"mcp"}).auth_info), now_));
  const auto is_found = [this](const hondana::caller_info& asks) {
    return table_.find("a", asks, manner::streamable, now_) != nullptr;
  };
  EXPECT_TRUE(is_found(with_proof("editor", {})));
  EXPECT_FALSE(is_found(with_proof("game", {"mcp"})));
  EXPECT_FALSE(is_found({"anonymous", "127.0.0.1", nullptr}));
}

// attacks: having answers sent again with a token that they would have been refused to
TEST_F(a_table, streams_go_on_only_for_who_has_the_scopes_of_the_one_they_were_for) {
  const auto one = make("a", "127.0.0.1", manner::streamable, with_proof("editor", {"mcp"}).auth_info);
  ASSERT_TRUE(table_.store(one, now_));
  const auto stream =
      one->make_post_stream(http::message_stream::response_format::either, {}, {},
                            std::make_shared<const hondana::caller_info>(with_proof("editor", {"mcp", "keys"})));
  const auto mine = stream->attach({});
  stream->send("what needs keys");
  ASSERT_TRUE(stream->next(mine));
  const http::event_id answer{stream->number(), 0};
  const http::event_id standing{one->notification_stream()->number(), 0};
  EXPECT_EQ(one->find_stream(answer, with_proof("editor", {"mcp"}), without_rules), nullptr);
  EXPECT_EQ(one->find_stream(answer, with_proof("editor", {"keys", "mcp", "more"}), without_rules), stream);
  EXPECT_EQ(one->find_stream(standing, with_proof("editor", {}), without_rules), nullptr);
  EXPECT_EQ(one->find_stream(standing, with_proof("editor", {"mcp"}), without_rules), one->notification_stream());
}

TEST_F(a_table, streams_for_callers_without_a_proof_are_not_for_those_who_have_only_some_scopes) {
  const auto one = make("a");
  ASSERT_TRUE(table_.store(one, now_));
  const http::event_id standing{one->notification_stream()->number(), 0};
  EXPECT_EQ(one->find_stream(standing, {"anonymous", "127.0.0.1", nullptr}, without_rules), one->notification_stream());
  EXPECT_EQ(one->find_stream(standing, with_proof("", {"mcp"}), without_rules), nullptr);
}

TEST_F(a_table, at_its_cap_the_one_that_was_idle_longest_goes) {
  for (const auto* id : {"a", "b"}) ASSERT_TRUE(keep(id, "10.0.0.1"));
  for (const auto* id : {"c", "d"}) ASSERT_TRUE(keep(id, "10.0.0.2"));
  EXPECT_TRUE(has("a"));
  ASSERT_TRUE(keep("e", "10.0.0.3"));
  EXPECT_EQ(table_.size(), 4u);
  EXPECT_TRUE(has("a"));
  EXPECT_FALSE(has("b"));
}

TEST_F(a_table, an_address_at_its_cap_loses_its_own) {
  ASSERT_TRUE(keep("mine", "10.0.0.1"));
  for (const auto* id : {"a", "b", "c", "d", "e"}) ASSERT_TRUE(keep(id, "10.0.0.2"));
  EXPECT_TRUE(has("mine"));
  EXPECT_TRUE(has("e"));
  EXPECT_FALSE(has("a"));
  EXPECT_EQ(table_.size(), 4u);
}

TEST_F(a_table, who_is_in_use_is_not_dropped_and_then_the_new_one_is_refused) {
  std::vector<std::shared_ptr<stored_session>> used;
  for (const auto* id : {"a", "b", "c"}) {
    used.push_back(make(id));
    ASSERT_TRUE(table_.store(used.back(), now_));
    (void)used.back()->notification_stream()->attach({});
  }
  const auto refused = table_.store(make("d"), now_);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, hondana::errc::overloaded);
  EXPECT_FALSE(has("d"));
  EXPECT_TRUE(has("a"));
}

TEST_F(a_table, who_is_idle_for_too_long_ends_and_who_is_in_use_does_not) {
  const auto idle = make("idle");
  const auto open = make("open");
  ASSERT_TRUE(table_.store(idle, now_));
  ASSERT_TRUE(table_.store(open, now_));
  const auto mine = open->notification_stream()->attach({});
  table_.expire(now_ + seconds(59));
  EXPECT_EQ(table_.size(), 2u);
  table_.expire(now_ + seconds(61));
  EXPECT_FALSE(has("idle"));
  EXPECT_TRUE(idle->notification_stream()->is_finished());
  open->notification_stream()->detach(mine);
  table_.expire(now_ + seconds(100));
  EXPECT_EQ(table_.size(), 1u) << "it was in use until then";
  table_.expire(now_ + seconds(200));
  EXPECT_EQ(table_.size(), 0u);
}

TEST_F(a_table, a_session_that_ends_closes_its_streams_and_gives_back_what_it_kept) {
  const auto one = make("a");
  ASSERT_TRUE(table_.store(one, now_));
  const auto stream = one->make_post_stream(http::message_stream::response_format::either);
  const auto mine = stream->attach({});
  stream->send(std::string(1'000, 'x'));
  ASSERT_TRUE(stream->next(mine));  // the opening
  ASSERT_TRUE(stream->next(mine));
  EXPECT_EQ(one->find_stream({stream->number(), 0}, {}, without_rules), stream);
  table_.end(*one);
  EXPECT_EQ(table_.size(), 0u);
  EXPECT_EQ(stream->next(mine)->type, http::portion::kind::end);
  EXPECT_EQ(one->find_stream({stream->number(), 0}, {}, without_rules), nullptr);
  EXPECT_TRUE(table_.budgets()->replay->reserve(table_.configured_limits().max_total_replay_bytes));
  EXPECT_TRUE(table_.budgets()->waiting->reserve(table_.configured_limits().max_total_waiting_bytes));
}

TEST_F(a_table, answers_nobody_comes_back_for_are_forgotten_the_oldest_first) {
  const auto one = make("a");
  const auto most = table_.configured_limits().max_stored_streams;
  std::vector<std::uint64_t> numbers;
  for (std::size_t i = 0; i < 3 * most; ++i) {
    const auto stream = one->make_post_stream(http::message_stream::response_format::either);
    const auto mine = stream->attach({});
    stream->send("begun");
    ASSERT_TRUE(stream->next(mine));
    stream->detach(mine);
    stream->answer({200, rpc::body(std::string("done"))});
    numbers.push_back(stream->number());
  }
  EXPECT_EQ(one->find_stream({numbers.front(), 0}, {}, without_rules), nullptr);
  EXPECT_NE(one->find_stream({numbers.back(), 0}, {}, without_rules), nullptr);
  const auto is_known = [&](std::uint64_t number) { return one->find_stream({number, 0}, {}, without_rules) != nullptr; };
  EXPECT_LE(static_cast<std::size_t>(std::count_if(numbers.begin(), numbers.end(), is_known)), most + 1);
}

TEST_F(a_table, one_session_cannot_use_up_what_may_wait_for_the_readers_of_all) {
  const auto greedy = make("a");
  const auto modest = make("b");
  const auto lose = [](const std::shared_ptr<stored_session>& of, std::size_t bytes) {
    const auto stream = of->make_post_stream(http::message_stream::response_format::either);
    const auto mine = stream->attach({});
    stream->send("begun");
    EXPECT_TRUE(stream->next(mine));
    stream->detach(mine);
    stream->answer({200, rpc::body(std::string(bytes, 'x'))});
    return stream;
  };
  std::vector<std::shared_ptr<http::message_stream>> held;
  for (int i = 0; i < 100; ++i) held.push_back(lose(greedy, 1'000'000));
  const auto room = table_.budgets()->waiting;
  EXPECT_TRUE(room->reserve(table_.configured_limits().max_total_waiting_bytes - table_.configured_limits().max_waiting_bytes));
  EXPECT_NE(lose(modest, 1)->waiting_bytes(), 0u);
}

TEST_F(a_table, a_message_on_its_way_when_its_session_ends_is_told_so) {
  std::vector<std::function<void()>> later;
  stored_session::traits is;
  is.id = "a";
  const auto one = std::make_shared<stored_session>(
      std::move(is), hondana::session::session::open(server_.core()),
      [&later](std::function<void()> work) { later.push_back(std::move(work)); }, table_.configured_limits(), table_.budgets());
  const auto stream = one->make_post_stream(http::message_stream::response_format::either);
  const auto mine = stream->attach({});
  one->end();
  one->receive(R"({"jsonrpc":"2.0","id":1,"method":"ping"})", {}, stream);
  for (const auto& work : later) work();
  const auto told = stream->next(mine);
  ASSERT_TRUE(told);
  EXPECT_EQ(told->type, http::portion::kind::end) << "which its client gets as 404";
}

TEST_F(a_table, sessions_opened_and_abandoned_are_not_kept) {
  for (int i = 0; i < 10'000; ++i) ASSERT_TRUE(keep(std::to_string(i), "10.0.0." + std::to_string(i % 7)));
  EXPECT_LE(table_.size(), 4u);
}

TEST_F(a_table, a_session_knows_only_so_many_finished_streams) {
  const auto one = make("a");
  std::uint64_t first = 0;
  for (int i = 0; i < 1'000; ++i) {
    const auto stream = one->make_post_stream(http::message_stream::response_format::either);
    if (i == 0) first = stream->number();
    const auto mine = stream->attach({});
    stream->send("1");
    stream->answer({200, rpc::body("2")});
    while (stream->next(mine)->type != http::portion::kind::answer) {
    }
    stream->detach(mine);
  }
  EXPECT_EQ(one->find_stream({first, 0}, {}, without_rules), nullptr);
  EXPECT_FALSE(one->is_busy());
}

}  // namespace
