/// One peer's conversation: every message answered exactly once, whatever happens behind it.
#include "server/session/session.hpp"

#include <condition_variable>
#include <deque>
#include <mutex>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "deadline.hpp"

namespace hondana::session {
namespace {

/// Collects what is delivered; waits with a deadline.
class recorder final : public rpc::response_writer {
 public:
  void answer(rpc::outgoing_response what) override {
    const std::lock_guard lock(mutex_);
    statuses.push_back(what.http_status);
    scopes.push_back(what.required_scopes ? *what.required_scopes : std::vector<std::string>{});
    answers.push_back(what.content ? what.content->extract_text() : std::string());
    changed_.notify_all();
  }
  void stream(std::shared_ptr<rpc::message_source>) override {}
  rpc::send_outcome send(std::string message) override {
    const std::lock_guard lock(mutex_);
    notifications.push_back(std::move(message));
    changed_.notify_all();
    return rpc::send_outcome::accepted;
  }
  /// True when `count` answers have come before the deadline of tests.
  bool wait_for(std::size_t count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, hondana_test::event_deadline, [&] { return answers.size() >= count; });
  }

  std::deque<std::string> answers;
  std::deque<int> statuses;
  std::deque<std::vector<std::string>> scopes;
  std::deque<std::string> notifications;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
};

/// Reads wait until they are released or their request is cancelled.
class gated_provider final : public provider {
 public:
  std::string name() const override { return "gated"; }
  std::vector<std::string> claims() const override { return {"memo:///"}; }
  scheme_documentation documentation() const override { return {"memo", "Test entries.", {}, {}}; }
  result<list_result> list(const list_request&) override { return list_result{}; }
  result<read_result> read(const read_request& request) override {
    if (request.uri == "memo:///throws") throw std::runtime_error("private details");
    if (request.report_progress) request.report_progress({1, 2.0, "half"});
    std::stop_callback wake(request.stop, [this] { changed_.notify_all(); });
    std::unique_lock lock(mutex_);
    last_report_ = request.report_progress;
    ++waiting_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return is_open_ || request.stop.stop_requested(); });
    if (request.report_progress) request.report_progress({0.5, 2.0, "backwards"});
    return text_read_result("content of " + request.uri);
  }
  /// As a provider that has not noticed yet that nobody waits.
  void report_to_last(double done) {
    std::function<void(const progress&)> report;
    {
      const std::lock_guard lock(mutex_);
      report = last_report_;
    }
    report({done, 2.0, "late"});
  }
  void open() {
    const std::lock_guard lock(mutex_);
    is_open_ = true;
    changed_.notify_all();
  }
  bool wait_until_reading(std::size_t count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, hondana_test::event_deadline, [&] { return waiting_ >= count; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void(const progress&)> last_report_;
  bool is_open_ = false;
  std::size_t waiting_ = 0;
};

class fixed_context final : public snapshot_source {
 public:
  explicit fixed_context(std::shared_ptr<const server_snapshot> only) : only_(std::move(only)) {}
  std::shared_ptr<const server_snapshot> current() const override { return only_; }

 private:
  std::shared_ptr<const server_snapshot> only_;
};

class a_session : public testing::Test {
 protected:
  a_session() {
    auto source = std::make_shared<catalog::source>(provider_, 100);
    auto made = catalog::catalog::make({source}, {}, std::make_shared<executor::timers>());
    auto with = std::make_shared<server_snapshot>();
    with->catalog = made.value();
    // Of callers with a proof, which only some tests have.
    with->gate = gate::gate::make({{}, {{{"resources/read"}, {}, {}, {"read", "more"}}}, {}}).value();
    with->feed = std::make_shared<catalog::change_feed>(7 * catalog::change_feed::cost_of("memo:///a"));
    with->server_info = {"shelf", "1", "", "", false};
    with->server_info.has_subscriptions = true;
    with->max_requests_in_progress = 3;
    with->call_timeout = hondana_test::event_deadline;
    with->log = [this](std::string_view line) { log_ += std::string(line) + '\n'; };
    with->on_request_end = [all = endings_](const caller_info&, const request_completion& how) { all->add(how); };
    session_ = session::open(std::make_shared<fixed_context>(with));
  }
  ~a_session() override { provider_->open(); }

  void send(std::string_view message) { session_->receive(message, facts_, out_); }
  void shake_hands(std::string_view revision) {
    send(R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":")" + std::string(revision) +
         R"(","capabilities":{},"clientInfo":{"name":"t","version":"1"}}})");
    ASSERT_TRUE(out_->wait_for(1));
    out_->answers.clear();
  }
  static std::string batch(std::initializer_list<std::string> messages) {
    std::string all(1, '[');
    for (const auto& one : messages) all.append(all.size() == 1 ? 0 : 1, ',').append(one);
    return all.append(1, ']');
  }
  static std::string read(const std::string& id, const std::string& more = {}) {
    return R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":"resources/read","params":{"uri":"memo:///a")" + more + "}}";
  }

  std::shared_ptr<gated_provider> provider_ = std::make_shared<gated_provider>();
  std::shared_ptr<recorder> out_ = std::make_shared<recorder>();
  std::shared_ptr<session> session_;
  rpc::request_info facts_;
  std::string log_;
  /// What is under way when a test ends still tells.
  struct all_endings {
    void add(const request_completion& one) {
      const std::lock_guard lock(mutex);
      all.push_back(one);
    }
    std::vector<request_completion> take() {
      const std::lock_guard lock(mutex);
      return std::exchange(all, {});
    }
    std::mutex mutex;
    std::vector<request_completion> all;
  };
  const std::shared_ptr<all_endings> endings_ = std::make_shared<all_endings>();
};

TEST_F(a_session, answers_a_cancelled_request_with_nothing_and_once) {
  shake_hands("2025-11-25");
  send(read("1"));
  ASSERT_TRUE(provider_->wait_until_reading(1));
  send(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"changed my mind"}})");
  ASSERT_TRUE(out_->wait_for(2));
  EXPECT_EQ(out_->answers, (std::deque<std::string>{"", ""}));
  EXPECT_EQ(session_->in_progress(), 0u);
  EXPECT_EQ(log_, "cancelled by the client: changed my mind\n");
}

TEST_F(a_session, tells_integer_and_string_ids_apart_when_cancelling) {
  shake_hands("2025-11-25");
  send(read("1"));
  ASSERT_TRUE(provider_->wait_until_reading(1));
  send(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"1"}})");
  EXPECT_EQ(session_->in_progress(), 1u);
}

TEST_F(a_session, refuses_an_id_that_is_in_use) {
  shake_hands("2025-11-25");
  send(read("7"));
  ASSERT_TRUE(provider_->wait_until_reading(1));
  send(read("7"));
  ASSERT_TRUE(out_->wait_for(1));
  EXPECT_EQ(out_->answers[0], R"({"jsonrpc":"2.0","id":7,"error":{"code":-32600,)"
                              R"("message":"Invalid request: id: in use by a request that is still in progress"}})");
  provider_->open();
  ASSERT_TRUE(out_->wait_for(2));
  EXPECT_NE(out_->answers[1].find("content of memo:///a"), std::string::npos);
}

TEST_F(a_session, refuses_more_requests_than_may_be_under_way) {
  shake_hands("2025-11-25");
  for (const auto* id : {"1", "2", "3"}) send(read(id));
  send(read("4"));
  ASSERT_TRUE(out_->wait_for(1));
  EXPECT_NE(out_->answers[0].find(R"("id":4,"error":{"code":503)"), std::string::npos) << out_->answers[0];
}

TEST_F(a_session, an_exception_in_a_provider_is_an_internal_error_without_details) {
  shake_hands("2025-11-25");
  send(R"({"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"memo:///throws"}})");
  ASSERT_TRUE(out_->wait_for(1));
  EXPECT_NE(out_->answers[0].find("-32603"), std::string::npos);
  EXPECT_EQ(out_->answers[0].find("private details"), std::string::npos);
}

TEST_F(a_session, reports_progress_to_the_token_and_never_backwards) {
  shake_hands("2025-11-25");
  provider_->open();
  send(read("1", R"(,"_meta":{"progressToken":"p"})"));
  ASSERT_TRUE(out_->wait_for(1));
  ASSERT_EQ(out_->notifications.size(), 1u);
  EXPECT_EQ(out_->notifications[0], R"({"jsonrpc":"2.0","method":"notifications/progress",)"
                                    R"("params":{"progressToken":"p","progress":1,"total":2,"message":"half"}})");
}

TEST_F(a_session, without_a_token_there_is_no_progress) {
  shake_hands("2025-11-25");
  provider_->open();
  send(read("1"));
  ASSERT_TRUE(out_->wait_for(1));
  EXPECT_TRUE(out_->notifications.empty());
}

TEST_F(a_session, a_batch_waits_for_all_its_answers_and_leaves_out_what_has_none) {
  shake_hands("2025-03-26");
  send(batch({read("1"), R"({"jsonrpc":"2.0","method":"notifications/initialized"})",
              R"({"jsonrpc":"2.0","id":2,"method":"ping"})", "7"}));
  ASSERT_TRUE(provider_->wait_until_reading(1));
  EXPECT_TRUE(out_->answers.empty());
  provider_->open();
  ASSERT_TRUE(out_->wait_for(1));
  EXPECT_EQ(out_->answers[0], R"([{"jsonrpc":"2.0","id":1,"result":{"contents":[{"uri":"memo:///a","mimeType":"text/plain",)"
                              R"("text":"content of memo:///a"}]}},{"jsonrpc":"2.0","id":2,"result":{}},)"
                              R"({"jsonrpc":"2.0","id":null,"error":{"code":-32600,)"
                              R"("message":"Invalid request: expected a JSON object with jsonrpc and method."}}])");
}

TEST_F(a_session, a_cancelled_member_of_a_batch_does_not_hold_the_others_back) {
  shake_hands("2025-03-26");
  send(batch({read("1"), R"({"jsonrpc":"2.0","id":2,"method":"ping"})"}));
  ASSERT_TRUE(provider_->wait_until_reading(1));
  send(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})");
  ASSERT_TRUE(out_->wait_for(2));
  EXPECT_EQ(out_->answers[0], R"([{"jsonrpc":"2.0","id":2,"result":{}}])");
}

TEST_F(a_session, a_batch_of_notifications_has_no_answer) {
  shake_hands("2025-03-26");
  send(R"([{"jsonrpc":"2.0","method":"notifications/initialized"}])");
  ASSERT_TRUE(out_->wait_for(1));
  EXPECT_EQ(out_->answers[0], "");
  EXPECT_EQ(out_->statuses.back(), 202);
}

TEST_F(a_session, initialize_inside_a_batch_is_refused_and_settles_nothing) {
  facts_.http = rpc::http_headers{};
  send(R"([{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},)"
       R"("clientInfo":{"name":"t","version":"1"}}}])");
  ASSERT_TRUE(out_->wait_for(1));
  EXPECT_NE(out_->answers[0].find("initialize must not be part of a batch"), std::string::npos);
}

TEST_F(a_session, a_cancelled_request_reports_no_more_progress) {
  shake_hands("2025-11-25");
  send(read("1", R"(,"_meta":{"progressToken":"p"})"));
  ASSERT_TRUE(provider_->wait_until_reading(1));
  send(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})");
  ASSERT_TRUE(out_->wait_for(2));
  const auto before = out_->notifications.size();
  provider_->report_to_last(2.0);
  EXPECT_EQ(out_->notifications.size(), before);
}

TEST_F(a_session, answers_neither_answers_nor_malformed_notifications) {
  shake_hands("2025-03-26");
  for (const auto* text :
       {R"({"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}})", R"({"jsonrpc":"2.0","id":1,"result":{}})",
        R"({"jsonrpc":"2.0","method":"notifications/foo","params":[1]})",
        R"([{"jsonrpc":"2.0","method":"notifications/foo","params":[1]}])"}) {
    out_->answers.clear();
    send(text);
    ASSERT_TRUE(out_->wait_for(1)) << text;
    EXPECT_EQ(out_->answers[0], "") << text;
  }
}

TEST_F(a_session, an_unknown_version_header_is_refused_whatever_the_message_is) {
  facts_.http = rpc::http_headers{"1999-01-01", {}, {}};
  for (const auto* text : {R"({"jsonrpc":"2.0","id":1,"method":"ping"})", R"({"jsonrpc":"2.0","method":"notifications/x"})",
                           R"({"jsonrpc":"2.0","id":1,"result":{}})", R"([{"jsonrpc":"2.0","id":1,"method":"ping"}])"}) {
    out_->answers.clear();
    out_->statuses.clear();
    send(text);
    ASSERT_TRUE(out_->wait_for(1)) << text;
    EXPECT_EQ(out_->statuses[0], 400) << text;
    EXPECT_NE(out_->answers[0].find("-32022"), std::string::npos) << text;
  }
}

TEST_F(a_session, an_initialize_that_is_refused_settles_nothing) {
  const auto greet = [this](std::string_view id) {
    send(R"({"jsonrpc":"2.0","id":)" + std::string(id) +
         R"(,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},)"
         R"("clientInfo":{"name":"t","version":"1"}}})");
  };
  send(R"({"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"memo:///a","_meta":{)"
       R"("io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}})");
  ASSERT_TRUE(provider_->wait_until_reading(1));
  greet("1");
  greet("2");
  ASSERT_TRUE(out_->wait_for(2));
  EXPECT_NE(out_->answers[0].find("in use"), std::string::npos);
  EXPECT_NE(out_->answers[1].find(R"("protocolVersion":"2025-06-18")"), std::string::npos) << out_->answers[1];
}

TEST_F(a_session, subscribes_to_all_of_a_list_or_to_nothing) {
  shake_hands("2025-06-18");
  const auto ask = [this](const std::string& id, const std::string& method, const std::string& uris) {
    send(R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":"resources/)" + method + R"(","params":{"uris":[)" + uris + "]}}");
  };
  // There is room for one URI of all peers; see the feed's budget above.
  ask("1", "subscribe", R"("memo:///a","memo:///b")");
  EXPECT_NE(out_->answers.at(0).find("\"code\":503"), std::string::npos) << out_->answers.at(0);
  ask("2", "subscribe", R"("memo:///b","memo:///b")");
  EXPECT_EQ(out_->answers.at(1), R"({"jsonrpc":"2.0","id":2,"result":{}})");
  ask("3", "subscribe", R"("memo:///b","memo:///a")");
  EXPECT_NE(out_->answers.at(2).find("\"code\":503"), std::string::npos) << out_->answers.at(2);
  ask("4", "unsubscribe", R"("memo:///a","memo:///b","memo:///c")");
  EXPECT_EQ(out_->answers.at(3), R"({"jsonrpc":"2.0","id":4,"result":{}})");
  ask("5", "subscribe", R"("memo:///a")");
  EXPECT_EQ(out_->answers.at(4), R"({"jsonrpc":"2.0","id":5,"result":{}})");
}

TEST_F(a_session, takes_no_list_of_a_million_uris) {
  shake_hands("2025-06-18");
  std::string uris;
  for (int i = 0; i < 1'000'000; ++i) uris += (i == 0 ? "\"memo:" : ",\"memo:") + std::to_string(i) + '"';
  send(R"({"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uris":[)" + uris + "]}}");
  ASSERT_EQ(out_->answers.size(), 1u);
  EXPECT_NE(out_->answers[0].find("params.uris: at most 10000 URIs a request"), std::string::npos) << out_->answers[0];
}

TEST_F(a_session, is_told_when_all_peers_together_watch_too_much) {
  shake_hands("2025-11-25");
  const auto watch = [this](const std::string& id, const std::string& method, const std::string& uri) {
    send(R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":"resources/)" + method + R"(","params":{"uri":")" + uri + "\"}}");
  };
  watch("1", "subscribe", "memo:///a");
  watch("2", "subscribe", "memo:///b");
  watch("3", "unsubscribe", "memo:///a");
  watch("4", "subscribe", "memo:///b");
  ASSERT_TRUE(out_->wait_for(4));
  EXPECT_EQ(out_->answers[0], R"({"jsonrpc":"2.0","id":1,"result":{}})");
  EXPECT_NE(out_->answers[1].find("watch the maximum number of resources"), std::string::npos) << out_->answers[1];
  EXPECT_EQ(out_->answers[3], R"({"jsonrpc":"2.0","id":4,"result":{}})");
}

TEST_F(a_session, closing_cancels_everything) {
  shake_hands("2025-11-25");
  for (const auto* id : {"1", "2"}) send(read(id));
  session_->close();
  EXPECT_EQ(session_->in_progress(), 0u);
  ASSERT_TRUE(out_->wait_for(2));
  EXPECT_EQ(out_->answers, (std::deque<std::string>{"", ""}));
}

TEST_F(a_session, an_oversized_message_is_named_with_its_limit) {
  session_->reject_oversized(1000, facts_, out_);
  EXPECT_EQ(out_->statuses[0], 413);
  EXPECT_EQ(out_->answers[0],
            R"({"jsonrpc":"2.0","error":{"code":-32600,)"
            R"("message":"Invalid request: a message may have at most 1000 bytes. Send it in smaller parts."}})");
}

TEST_F(a_session, tells_the_transport_which_scopes_a_caller_lacks_and_the_peer_in_words) {
  shake_hands("2025-11-25");
  facts_.caller.auth_info = std::make_shared<const auth_info>(auth_info{"t", {"read"}, {}});
  send(read("1"));
  ASSERT_TRUE(out_->wait_for(1));
  EXPECT_EQ(
      out_->answers.back(),
      R"({"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Not allowed: this needs the scopes read more, and the caller )"
      R"(lacks some of them. Request a token with all of them."}})");
  EXPECT_EQ(out_->statuses.back(), 403);
  EXPECT_EQ(out_->scopes.back(), (std::vector<std::string>{"read", "more"}));
  facts_.caller.auth_info = std::make_shared<const auth_info>(auth_info{"t", {"more", "read"}, {}});
  provider_->open();
  send(read("2"));
  ASSERT_TRUE(out_->wait_for(2));
  EXPECT_THAT(out_->answers.back(), testing::HasSubstr("content of memo:///a"));
  EXPECT_TRUE(out_->scopes.back().empty());
}

TEST_F(a_session, tells_once_how_each_request_ended) {
  shake_hands("2025-03-26");
  auto told = endings_->take();
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].outcome, audit_outcome::disconnected) << "this outlet takes the text and never says that it has sent it";
  EXPECT_GT(told[0].bytes, 0u);

  send(read("1"));
  ASSERT_TRUE(provider_->wait_until_reading(1));
  send(read("1"));
  told = endings_->take();
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].error, -32600) << "the id is in use";
  send(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})");
  told = endings_->take();
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].outcome, audit_outcome::cancelled);
  EXPECT_EQ(told[0].bytes, 0u);

  send(read("2"));
  ASSERT_TRUE(provider_->wait_until_reading(2));
  session_->close();
  told = endings_->take();
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].outcome, audit_outcome::disconnected);
}

TEST_F(a_session, tells_how_each_request_of_a_batch_ended) {
  shake_hands("2025-03-26");
  (void)endings_->take();
  send(batch({R"({"jsonrpc":"2.0","id":1,"method":"ping"})", R"({"jsonrpc":"2.0","id":2,"method":"no/such"})",
              R"({"jsonrpc":"2.0","id":3,"method":"resources/read","params":{"uri":"https://elsewhere/"}})"}));
  ASSERT_TRUE(out_->wait_for(1));
  const auto told = endings_->take();
  ASSERT_EQ(told.size(), 2u) << "what cannot be decoded is no request";
  EXPECT_EQ(told[0].error, 0);
  EXPECT_EQ(told[0].bytes, std::string_view(R"({"jsonrpc":"2.0","id":1,"result":{}})").size());
  EXPECT_EQ(told[1].error, -32002) << out_->answers[0];
}

}  // namespace
}  // namespace hondana::session
