/// Reads that are answered in the call that brings them: admitted, recorded, counted and shown as all others.
#include "server/session/answer_cache.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/rate_limit/rate_limiter.hpp"
#include "deadline.hpp"
#include "server/session/session.hpp"
#include "unit/server/catalog/switched.hpp"
#include "unit/server/session/recorded.hpp"

namespace hondana::session {
namespace {

/// Waits in its pool like any source, and has its readings vouched for.
class vouching_provider final : public provider {
 public:
  std::string name() const override { return "memo"; }
  std::vector<std::string> claims() const override { return {"memo:///"}; }
  scheme_documentation documentation() const override { return {"memo", "Test entries.", {}, {}}; }
  result<list_result> list(const list_request&) override { return list_result{}; }
  result<read_result> read(const read_request& request) override {
    ++reads;
    auto found = text_read_result("content of " + request.uri);
    found.version = "v1";
    found.validator = valid;
    return found;
  }
  std::atomic<int> reads{0};
  std::shared_ptr<test::switched> valid = std::make_shared<test::switched>();
};

class outlet_at_hand final : public rpc::response_writer {
 public:
  void answer(rpc::outgoing_response what) override {
    auto receipts = what.content ? what.content->attached_receipts() : rpc::receipts();
    auto text = what.content ? what.content->extract_text() : std::string();
    // Before anybody can see the answer: what is noted then is looked at, and goes, without a lock.
    receipts.finish(rpc::delivery_outcome::sent);
    const std::lock_guard lock(mutex_);
    statuses.push_back(what.http_status);
    answers.push_back(std::move(text));
    changed_.notify_all();
  }
  /// The last of at least `count` answers; empty when these have not come before the deadline of tests.
  std::string wait_for(std::size_t count) {
    std::unique_lock lock(mutex_);
    const bool came = changed_.wait_for(lock, hondana_test::event_deadline, [&] { return answers.size() >= count; });
    return came ? answers.back() : std::string();
  }
  void stream(std::shared_ptr<rpc::message_source>) override {}
  rpc::send_outcome send(std::string message) override {
    sent.push_back(std::move(message));
    return rpc::send_outcome::accepted;
  }
  std::vector<std::string> answers;
  std::vector<std::string> sent;
  std::vector<int> statuses;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
};

class current_context final : public snapshot_source {
 public:
  std::shared_ptr<const server_snapshot> current() const override { return now; }
  std::shared_ptr<const server_snapshot> now;
};

constexpr std::string_view modern_meta =
    R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}})";

std::string reading_of(std::string_view uri, std::string_view id = "1", std::string_view more = {}) {
  return R"({"jsonrpc":"2.0","id":)" + std::string(id) + R"(,"method":"resources/read","params":{"uri":")" + std::string(uri) +
         R"(",)" + std::string(more) + std::string(modern_meta) + "}}";
}

class session_reads_at_hand : public testing::Test {
 protected:
  session_reads_at_hand() {
    facts_.caller.identity = "alice";
    facts_.caller.address = "192.0.2.7";
    use({});
  }
  /// From now on these rules hold; `limits`: how much may be asked.
  void use(const access_rules& rules, std::shared_ptr<const rate_limit::rate_limiter> limits = nullptr) {
    auto with = std::make_shared<server_snapshot>();
    with->gate = gate::gate::make({{}, {{{"resources/read"}, {"memo:///private/"}, {}, {"private"}}}, {}}, rules).value();
    with->catalog = catalog::catalog::make({source_}, {}, timers_, cache_, with->gate).value();
    with->feed = std::make_shared<catalog::change_feed>(1 << 20);
    with->server_info = {"shelf", "1", "", "", false};
    with->audit = record_;
    with->cached_requests = known_;
    with->meter = std::move(limits);
    with->on_request_end = [this](const caller_info&, const request_completion& how) { ended_.push_back(how); };
    contexts_->now = with;
    session_ = session::open(contexts_);
  }
  /// Has it read once, so that it is kept. As whoever asks.
  void keep(const std::string& uri) {
    catalog::read_answer found;
    std::atomic<bool> is_read = false;
    request_context by;
    by.caller = facts_.caller;
    by.caller.access_filter = contexts_->now->gate->filter_of(facts_.caller);
    contexts_->now->catalog->read(by, uri, uri, [&](auto) {
      is_read = true;
      is_read.notify_one();
    });
    is_read.wait(false);
  }
  /// The answer that came before the call returned; empty for none. For what cannot take the long way.
  std::string send(std::string_view message) {
    const auto before = out_->answers.size();
    session_->receive(message, facts_, out_);
    return out_->answers.size() > before ? out_->answers.back() : std::string();
  }

  /// The answer, whenever it comes.
  std::string ask(std::string_view message) {
    session_->receive(message, facts_, out_);
    return out_->wait_for(++asked_);
  }

  std::size_t asked_ = 0;
  std::shared_ptr<vouching_provider> provider_ = std::make_shared<vouching_provider>();
  std::shared_ptr<catalog::source> source_ = std::make_shared<catalog::source>(provider_, 100);
  std::shared_ptr<executor::timers> timers_ = std::make_shared<executor::timers>();
  std::shared_ptr<catalog::read_cache> cache_ = std::make_shared<catalog::read_cache>(1 << 20);
  std::shared_ptr<request_cache> known_ = std::make_shared<request_cache>();
  std::shared_ptr<kept_record> record_ = std::make_shared<kept_record>();
  std::shared_ptr<outlet_at_hand> out_ = std::make_shared<outlet_at_hand>();
  std::shared_ptr<current_context> contexts_ = std::make_shared<current_context>();
  std::shared_ptr<session> session_;
  std::vector<request_completion> ended_;
  rpc::request_info facts_;
};

TEST_F(session_reads_at_hand, are_answered_before_the_call_returns_with_the_answer_of_the_long_way) {
  keep("memo:///a");
  const auto answer = send(reading_of("memo:///a"));
  EXPECT_EQ(answer, R"({"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","contents":[{"uri":"memo:///a",)"
                    R"("mimeType":"text/plain","_meta":{"dev.hondana/version":"v1"},"text":"content of memo:///a"}],"ttlMs":0,)"
                    R"("cacheScope":"public","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"shelf","version":"1"}}}})");
  EXPECT_EQ(provider_->reads, 1);
  EXPECT_EQ(session_->in_progress(), 0u);
}

TEST_F(session_reads_at_hand, are_recorded_twice_and_counted) {
  keep("memo:///a");
  const auto answer = send(reading_of("memo:///a"));
  ASSERT_EQ(record_->decisions.size(), 1u);
  EXPECT_TRUE(record_->decisions[0].is_allowed);
  EXPECT_EQ(record_->decisions[0].identity, "alice");
  EXPECT_EQ(record_->decisions[0].uris, std::vector<std::string>{"memo:///a"});
  ASSERT_EQ(record_->completions.size(), 1u);
  EXPECT_EQ(record_->completions[0].first, 1u);
  EXPECT_EQ(record_->completions[0].second.outcome, audit_outcome::answered);
  EXPECT_EQ(record_->completions[0].second.bytes, answer.size());
  ASSERT_EQ(ended_.size(), 1u);
  EXPECT_EQ(ended_[0].bytes, answer.size());
}

TEST_F(session_reads_at_hand, do_not_happen_when_they_cannot_be_recorded) {
  keep("memo:///a");
  record_->is_full = true;
  const auto answer = send(reading_of("memo:///a"));
  EXPECT_NE(answer.find("The record is full."), std::string::npos);
  EXPECT_EQ(answer.find("content of"), std::string::npos);
}

TEST_F(session_reads_at_hand, are_refused_to_who_lacks_a_scope) {
  keep("memo:///private/a");
  facts_.caller.auth_info = std::make_shared<const auth_info>(auth_info{"agent", {"other"}, {}});
  const auto answer = send(reading_of("memo:///private/a"));
  EXPECT_EQ(answer.find("content of"), std::string::npos);
  EXPECT_EQ(out_->statuses.back(), 403);
  facts_.caller.auth_info = std::make_shared<const auth_info>(auth_info{"agent", {"private"}, {}});
  EXPECT_NE(send(reading_of("memo:///private/a")).find(R"("cacheScope":"private")"), std::string::npos);
}

TEST_F(session_reads_at_hand, are_refused_to_who_asks_too_often) {
  server_limits limits;
  limits.per_identity.requests = {0.001, 2};
  use({}, rate_limit::rate_limiter::make(limits, std::make_shared<rate_limit::bucket_tables>(10)));
  keep("memo:///a");
  EXPECT_NE(send(reading_of("memo:///a")).find("content of"), std::string::npos);
  EXPECT_NE(send(reading_of("memo:///a")).find("content of"), std::string::npos);
  EXPECT_EQ(send(reading_of("memo:///a")).find("content of"), std::string::npos);
  EXPECT_EQ(out_->statuses.back(), 429);
  EXPECT_FALSE(record_->decisions.back().is_allowed);
}

TEST_F(session_reads_at_hand, show_each_caller_its_own_view_through_one_cache) {
  access_rule everybody;
  everybody.uris = {"memo:///"};
  everybody.level = access_level::read;
  access_rule not_mallory;
  not_mallory.identities = {"mallory"};
  not_mallory.uris = {"memo:///a"};
  use({"groups", {everybody, not_mallory}});
  keep("memo:///a");
  for (int i = 0; i < 3; ++i) EXPECT_NE(ask(reading_of("memo:///a")).find("content of"), std::string::npos);
  facts_.caller.identity = "mallory";
  EXPECT_NE(ask(reading_of("memo:///a")).find("Resource not found"), std::string::npos);
  EXPECT_EQ(record_->decisions.back().reason, "hidden_by_access_rules");
  facts_.caller.identity = "bob";
  EXPECT_NE(ask(reading_of("memo:///a")).find("content of"), std::string::npos);
  // The rules change, and with them what may be read of what is kept.
  not_mallory.identities = {};
  use({"groups", {everybody, not_mallory}});
  EXPECT_NE(ask(reading_of("memo:///a")).find("Resource not found"), std::string::npos);
  EXPECT_EQ(provider_->reads, 1);
}

TEST_F(session_reads_at_hand, have_ids_of_their_own) {
  keep("memo:///a");
  EXPECT_NE(send(reading_of("memo:///a", R"("x")")).find(R"("id":"x")"), std::string::npos);
  EXPECT_NE(send(reading_of("memo:///a", R"("x")")).find(R"("id":"x")"), std::string::npos);
}

TEST_F(session_reads_at_hand, leave_a_peer_its_own_version) {
  keep("memo:///a");
  std::string request = reading_of("memo:///a", "1", R"("version":"v1",)");
  request.replace(request.find("clientCapabilities\":{}"), 22,
                  R"(clientCapabilities":{"extensions":{"dev.hondana/versioned-resources":{}}})");
  EXPECT_NE(send(request).find("304"), std::string::npos) << request;
  request.replace(request.find(R"("v1")"), 4, R"("v0")");
  EXPECT_NE(send(request).find("content of"), std::string::npos);
}

TEST_F(session_reads_at_hand, that_come_again_and_again_are_answered_like_the_first) {
  keep("memo:///a");
  auto expected = send(reading_of("memo:///a"));
  for (int i = 2; i < 6; ++i) {
    const auto id = std::to_string(i);
    expected.replace(expected.find(R"("id":)") + 5, 1, id);
    EXPECT_EQ(send(reading_of("memo:///a", id)), expected);
  }
  EXPECT_EQ(record_->decisions.size(), 5u);
  EXPECT_EQ(record_->completions.size(), 5u);
  EXPECT_EQ(record_->completions.back().second.bytes, expected.size());
}

TEST_F(session_reads_at_hand, that_come_again_tell_what_is_kept_now_and_how_the_server_is_called_now) {
  keep("memo:///a");
  for (int i = 0; i < 3; ++i) (void)send(reading_of("memo:///a"));
  cache_->store({source_->id(), "memo:///a", "memo:///a", nullptr}, [] {
    bytes::prepared_content one;
    one.uri = "memo:///a";
    one.is_text = true;
    one.data = std::make_shared<const std::string>("newer");
    bytes::prepared_read_result out{{std::move(one)}, "v2"};
    out.validator = std::make_shared<const test::switched>();
    return out;
  }());
  EXPECT_NE(send(reading_of("memo:///a")).find(R"("text":"newer")"), std::string::npos);
  EXPECT_NE(send(reading_of("memo:///a")).find(R"("text":"newer")"), std::string::npos);
  auto renamed = std::make_shared<server_snapshot>(*contexts_->now);
  renamed->server_info.name = "drawer";
  contexts_->now = renamed;
  EXPECT_NE(send(reading_of("memo:///a")).find(R"("name":"drawer")"), std::string::npos);
}

TEST_F(session_reads_at_hand, that_come_again_take_the_long_way_when_nobody_vouches) {
  keep("memo:///a");
  for (int i = 0; i < 3; ++i) (void)ask(reading_of("memo:///a"));
  provider_->valid->is_on = false;
  EXPECT_NE(ask(reading_of("memo:///a", "77")).find(R"("id":77,"result")"), std::string::npos);
  EXPECT_EQ(provider_->reads, 2);
}

TEST_F(session_reads_at_hand, that_come_again_under_other_headers_are_held_against_them) {
  keep("memo:///a");
  facts_.http.emplace();
  facts_.http->protocol_version = "2026-07-28";
  facts_.http->method = "resources/read";
  facts_.http->name = "memo:///a";
  for (int i = 0; i < 3; ++i) EXPECT_NE(send(reading_of("memo:///a")).find("content of"), std::string::npos);
  facts_.http->name = "memo:///b";
  EXPECT_NE(send(reading_of("memo:///a")).find("Header mismatch"), std::string::npos);
  facts_.http->name = "memo:///a";
  facts_.http->protocol_version.reset();
  EXPECT_EQ(send(reading_of("memo:///a")).find("content of"), std::string::npos);
}

TEST_F(session_reads_at_hand, report_no_progress) {
  keep("memo:///a");
  std::string request = reading_of("memo:///a");
  const std::string_view token = R"("_meta":{"progressToken":7,)";
  request.replace(request.find(R"("_meta":{)"), std::string_view(R"("_meta":{)").size(), token);
  EXPECT_NE(send(request).find("content of"), std::string::npos);
  EXPECT_TRUE(out_->sent.empty());
}

TEST_F(session_reads_at_hand, of_older_eras_are_answered_as_they_want_it) {
  keep("memo:///a");
  (void)send(R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},)"
             R"("clientInfo":{"name":"c","version":"1"}}})");
  EXPECT_EQ(send(R"({"jsonrpc":"2.0","id":2,"method":"resources/read","params":{"uri":"memo:///a"}})"),
            R"({"jsonrpc":"2.0","id":2,"result":{"contents":[{"uri":"memo:///a","mimeType":"text/plain",)"
            R"("_meta":{"dev.hondana/version":"v1"},"text":"content of memo:///a"}]}})");
}

TEST_F(session_reads_at_hand, in_a_batch_are_joined_with_the_others) {
  keep("memo:///a");
  (void)send(R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},)"
             R"("clientInfo":{"name":"c","version":"1"}}})");
  const auto answer = send(R"([{"jsonrpc":"2.0","id":2,"method":"resources/read","params":{"uri":"memo:///a"}},)"
                           R"({"jsonrpc":"2.0","id":3,"method":"ping"}])");
  EXPECT_EQ(answer, R"([{"jsonrpc":"2.0","id":2,"result":{"contents":[{"uri":"memo:///a","mimeType":"text/plain",)"
                    R"("text":"content of memo:///a"}]}},{"jsonrpc":"2.0","id":3,"result":{}}])");
}

}  // namespace
}  // namespace hondana::session
