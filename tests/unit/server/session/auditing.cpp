/// What the record of requests is told: a decision before anything is done, and one completion.
#include "server/session/request_accounting.hpp"

#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "server/session/session.hpp"
#include "unit/server/session/recorded.hpp"

namespace hondana::session {
namespace {

/// Answers at once, and counts how often it was asked.
class counted_provider final : public provider {
 public:
  std::string name() const override { return "memo"; }
  std::vector<std::string> claims() const override { return {"memo:///"}; }
  scheme_documentation documentation() const override { return {"memo", "Test entries.", {}, {}}; }
  provider_traits traits() const noexcept override { return {.never_blocks = true}; }
  result<list_result> list(const list_request&) override { return list_result{}; }
  result<read_result> read(const read_request& request) override {
    ++reads;
    if (request.uri == "memo:///none") return fail(errc::resource_not_found, "Resource not found");
    return text_read_result("content of " + request.uri);
  }
  int reads = 0;
};

class only_context final : public snapshot_source {
 public:
  explicit only_context(std::shared_ptr<const server_snapshot> only) : only_(std::move(only)) {}
  std::shared_ptr<const server_snapshot> current() const override { return only_; }

 private:
  std::shared_ptr<const server_snapshot> only_;
};

class a_recorded_session : public testing::Test {
 protected:
  explicit a_recorded_session(const access_rules& rules = {}) {
    auto with = std::make_shared<server_snapshot>();
    with->catalog =
        catalog::catalog::make({std::make_shared<catalog::source>(provider_, 100)}, {}, std::make_shared<executor::timers>())
            .value();
    with->gate = gate::gate::make({{}, {{{"resources/read"}, {"memo:///private/"}, {}, {"private"}}}, {}}, rules).value();
    with->handlers = handlers_;
    with->feed = std::make_shared<catalog::change_feed>(1 << 20);
    with->server_info = {"shelf", "1", "", "", false};
    with->server_info.has_subscriptions = true;
    with->server_info.has_tools = with->server_info.has_prompts = with->server_info.has_completions = true;
    with->audit = record_;
    session_ = session::open(std::make_shared<only_context>(with));
    facts_.caller.identity = "alice";
    facts_.caller.address = "192.0.2.7";
  }

  void send(std::string_view message) { session_->receive(message, facts_, out_); }
  static std::string modern(const std::string& method, const std::string& params, const std::string& meta = {}) {
    return R"({"jsonrpc":"2.0","id":1,"method":")" + method + R"(","params":{)" + params + (params.empty() ? "" : ",") +
           R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{})" +
           meta + "}}}";
  }

  /// What the server has of its own, and two of the application. Their pool is closed, so that calls fail before they return.
  static std::shared_ptr<const handlers::table> some_handlers() {
    const auto timers = std::make_shared<executor::timers>();
    const auto pool = std::make_shared<executor::thread_pool>("handlers", 1);
    pool->close(std::chrono::steady_clock::now());
    const auto made = handlers::table::empty({pool, timers}, 100);
    const auto says = [](const tool_call&) { return result<tool_outcome>(tool_result()); };
    const handlers::tool_options own{{}, true};
    auto with =
        made->with_tool({.name = "read_resource", .input_schema = value::object{{"type", "object"}}}, says, own).value();
    with = with->with_tool({.name = "list_resources", .input_schema = value::object{{"type", "object"}}}, says, own).value();
    with = with->with_tool({.name = "admin_erase", .input_schema = value::object{{"type", "object"}}}, says).value();
    return with->with_prompt({.name = "admin_word"}, [](const prompt_call&) { return result<prompt_outcome>(prompt_result()); })
        .value();
  }

  std::shared_ptr<const handlers::table> handlers_ = some_handlers();
  std::shared_ptr<kept_record> record_ = std::make_shared<kept_record>();
  std::shared_ptr<counted_provider> provider_ = std::make_shared<counted_provider>();
  std::shared_ptr<outlet_of_texts> out_ = std::make_shared<outlet_of_texts>(*record_);
  std::shared_ptr<session> session_;
  rpc::request_info facts_;
};

TEST_F(a_recorded_session, decides_before_it_answers_and_completes_when_the_answer_has_left) {
  send(modern("resources/read", R"("uri":"memo:///a")",
              R"(,"traceparent":"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")"));
  EXPECT_EQ(record_->order, "dac");
  ASSERT_EQ(record_->decisions.size(), 1u);
  const auto& what = record_->decisions[0];
  EXPECT_EQ(what.identity, "alice");
  EXPECT_EQ(what.address, "192.0.2.7");
  EXPECT_EQ(what.method, "resources/read");
  EXPECT_EQ(what.uris, std::vector<std::string>{"memo:///a"});
  EXPECT_EQ(what.trace_id, "4bf92f3577b34da6a3ce929d0e0e4736");
  EXPECT_TRUE(what.is_allowed);
  ASSERT_EQ(record_->completions.size(), 1u);
  EXPECT_EQ(record_->completions[0].first, 1u);
  EXPECT_EQ(record_->completions[0].second.outcome, audit_outcome::answered);
  EXPECT_EQ(record_->completions[0].second.bytes, out_->answers.at(0).size());
  EXPECT_EQ(record_->completions[0].second.trace_id, what.trace_id);
}

TEST_F(a_recorded_session, records_why_somebody_is_refused_and_with_what_error) {
  facts_.caller.auth_info = std::make_shared<const auth_info>(auth_info{"agent", {"other"}, {}});
  send(modern("resources/read", R"("uri":"memo:///private/a")"));
  send(modern("resources/read", R"("uri":"memo:///none")"));
  ASSERT_EQ(record_->decisions.size(), 2u);
  EXPECT_FALSE(record_->decisions[0].is_allowed);
  EXPECT_EQ(record_->decisions[0].reason, "insufficient_scope");
  EXPECT_EQ(record_->decisions[0].client, "agent");
  EXPECT_TRUE(record_->decisions[1].is_allowed) << "that there is nothing is an answer";
  ASSERT_EQ(record_->completions.size(), 2u);
  EXPECT_EQ(record_->completions[1].second.error_code, -32602);
}

TEST_F(a_recorded_session, records_no_secret_as_the_name_of_a_tool_or_of_a_method) {
  // Put together here, so that it stands in no file.
  const auto token = std::string("ghp_") + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8";
  model::request asked;
  model::call_tool what;
  what.name = token;
  asked.operation = what;
  const auto told = make_decision(server_snapshot(), facts_.caller, "x/" + token, asked, {});
  EXPECT_EQ(told.name, "ghp_" + std::string(36, '*'));
  EXPECT_EQ(told.method, "x/ghp_" + std::string(36, '*'));
  send(modern("x/" + token, ""));
  ASSERT_EQ(record_->decisions.size(), 1u);
  EXPECT_EQ(record_->decisions[0].method.find(token), std::string::npos);
}

// attacks: a name that takes long to look through
TEST_F(a_recorded_session, records_the_beginning_of_a_long_name_and_no_secret_in_it) {
  const auto token = std::string("ghp_") + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8";
  std::string text = std::string(1000, '.') + ' ' + token + ' ';
  for (int i = 0; i < 100'000; ++i) text += "password=";
  model::request asked;
  model::call_tool what;
  what.name = text;
  asked.operation = what;
  const auto told = make_decision(server_snapshot(), facts_.caller, text, asked, {});
  EXPECT_EQ(told.name, std::string(1000, '.') + " ghp_" + std::string(19, '*'));
  EXPECT_EQ(told.method, told.name);
  what.name = std::string(1023, 'a') + "\xC3\xA4";
  asked.operation = what;
  EXPECT_EQ(make_decision(server_snapshot(), facts_.caller, "tools/call", asked, {}).name, std::string(1023, 'a'));
  model::complete completes;
  completes.template_uri = text;
  asked.operation = completes;
  EXPECT_EQ(make_decision(server_snapshot(), facts_.caller, "completion/complete", asked, {}).uris.at(0).size(), 8192u);
}

TEST_F(a_recorded_session, does_nothing_for_a_request_that_cannot_be_recorded) {
  record_->is_full = true;
  send(modern("resources/read", R"("uri":"memo:///a")"));
  EXPECT_EQ(provider_->reads, 0);
  ASSERT_EQ(out_->answers.size(), 1u);
  EXPECT_NE(out_->answers[0].find("The record is full."), std::string::npos);
  EXPECT_TRUE(record_->completions.empty());
}

TEST_F(a_recorded_session, records_what_never_became_a_request) {
  for (const auto* message :
       {"{", "7", "[]", R"({"jsonrpc":"2.0","id":1,"method":7})", R"({"jsonrpc":"2.0","id":1,"method":"resources/read"})"}) {
    record_->order.clear();
    send(message);
    EXPECT_EQ(record_->order, "ra") << message;
    EXPECT_EQ(record_->decisions.back().reason, "malformed");
    EXPECT_FALSE(record_->decisions.back().is_request);
    EXPECT_EQ(record_->decisions.back().identity, "alice");
  }
  send(modern("no/such", ""));
  EXPECT_EQ(record_->decisions.back().method, "no/such");
  session_->reject_oversized(10, facts_, out_);
  EXPECT_EQ(record_->decisions.back().reason, "oversized");
  EXPECT_FALSE(record_->decisions.back().is_request);
  EXPECT_TRUE(record_->completions.empty());
}

TEST_F(a_recorded_session, records_who_subscribes_to_what_and_every_request_of_a_batch) {
  send(R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},)"
       R"("clientInfo":{"name":"t","version":"1"}}})");
  send(R"([{"jsonrpc":"2.0","id":2,"method":"resources/subscribe","params":{"uri":"memo:///a"}},)"
       R"({"jsonrpc":"2.0","id":3,"method":"resources/unsubscribe","params":{"uri":"memo:///a"}},)"
       R"({"jsonrpc":"2.0","method":"notifications/initialized"}])");
  ASSERT_EQ(record_->decisions.size(), 3u);
  EXPECT_EQ(record_->decisions[0].method, "initialize");
  EXPECT_EQ(record_->decisions[1].method, "resources/subscribe");
  EXPECT_EQ(record_->decisions[1].uris, std::vector<std::string>{"memo:///a"});
  EXPECT_EQ(record_->decisions[2].method, "resources/unsubscribe");
  EXPECT_EQ(record_->decisions[2].uris, std::vector<std::string>{"memo:///a"});
  EXPECT_EQ(record_->completions.size(), 3u);
}

TEST_F(a_recorded_session, records_what_the_tools_of_the_server_are_asked_for) {
  send(modern("tools/call", R"("name":"read_resource","arguments":{"uri":"MEMO:///a/../b?access_token=abc"})"));
  send(modern("tools/call", R"("name":"list_resources","arguments":{"uriPrefix":"memo:///a/"})"));
  send(modern("tools/call", R"("name":"read_resource","arguments":{"uri":7})"));
  send(modern("tools/call", R"("name":"admin_erase","arguments":{"uri":"memo:///a"})"));
  ASSERT_EQ(record_->decisions.size(), 4u);
  EXPECT_EQ(record_->decisions[0].uris, std::vector<std::string>{"memo:///b?access_token=***"});
  EXPECT_EQ(record_->decisions[1].uris, std::vector<std::string>{"memo:///a/"});
  EXPECT_TRUE(record_->decisions[2].uris.empty());
  EXPECT_TRUE(record_->decisions[3].uris.empty()) << "what a tool of the application takes is its own";
}

class a_recorded_session_with_rules : public a_recorded_session {
 protected:
  a_recorded_session_with_rules()
      : a_recorded_session({.rules = {{.uris = {"memo:///open/"}, .level = access_level::read},
                                      {.uris = {"mcp://u/"}, .level = access_level::read},
                                      {.uris = {"mcp://u/file:///srv/keys"}, .level = access_level::none},
                                      {.tools = {"admin_*"}, .prompts = {"admin_*"}, .level = access_level::list}}}) {}
};

TEST_F(a_recorded_session_with_rules, records_what_they_hide_as_not_allowed) {
  const auto is_allowed = [this](const char* method, const char* params) {
    send(modern(method, params));
    const auto& last = record_->decisions.back();
    EXPECT_EQ(last.reason, last.is_allowed ? "" : "hidden_by_access_rules") << params;
    return last.is_allowed;
  };
  EXPECT_FALSE(is_allowed("tools/call", R"("name":"admin_erase","arguments":{})"));
  EXPECT_FALSE(is_allowed("prompts/get", R"("name":"admin_word")"));
  EXPECT_FALSE(is_allowed("completion/complete",
                          R"("ref":{"type":"ref/prompt","name":"admin_word"},"argument":{"name":"a","value":""})"));
  EXPECT_FALSE(is_allowed("tools/call", R"("name":"read_resource","arguments":{"uri":"memo:///private/a"})"));
  EXPECT_TRUE(is_allowed("tools/call", R"("name":"read_resource","arguments":{"uri":"memo:///open/a"})"));
  EXPECT_TRUE(is_allowed("tools/call", R"("name":"list_resources","arguments":{"uriPrefix":"memo:///"})"));
  EXPECT_TRUE(is_allowed("tools/call", R"("name":"none","arguments":{})")) << "what there is not for anybody is an answer";
  EXPECT_FALSE(is_allowed("resources/read", R"("uri":"mcp://u/FILE:///srv/keys/a")"));
  EXPECT_TRUE(is_allowed("resources/read", R"("uri":"mcp://u/FILE:///srv/open")"));
  EXPECT_FALSE(is_allowed("tools/call", R"("name":"read_resource","arguments":{"uri":"mcp://u/file:/srv/keys/a"})"));
  EXPECT_FALSE(is_allowed("completion/complete",
                          R"("ref":{"type":"ref/resource","uri":"memo:///private/{x}"},"argument":{"name":"x","value":""})"));
  EXPECT_TRUE(is_allowed("completion/complete",
                         R"("ref":{"type":"ref/resource","uri":"memo:///open/{x}"},"argument":{"name":"x","value":""})"));
  EXPECT_EQ(record_->decisions.size(), 12u);
}

TEST(recorded_uris, have_neither_passwords_nor_what_is_called_like_a_secret) {
  const auto recorded = [](const std::string& uri) {
    model::request what{model::read_resource{uri, uri, {}}, {}, {}, {}, false, {}, {}};
    return make_decision(server_snapshot(), {}, "resources/read", what, {}).uris.at(0);
  };
  EXPECT_EQ(recorded("db://reader:hunter2@host/table?lines=1-2"), "db://reader:*******@host/table?lines=1-2");
  EXPECT_EQ(recorded("https://host/a?access_token=abc&page=2&X-Amz-Signature=def#part"),
            "https://host/a?access_token=***&page=2&X-Amz-Signature=***#part");
  EXPECT_EQ(recorded("memo:///a@b:c"), "memo:///a@b:c");
  EXPECT_EQ(recorded("https://host/?apikey=x"), "https://host/?apikey=*");
}

}  // namespace
}  // namespace hondana::session
