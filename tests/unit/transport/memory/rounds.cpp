/// Handlers that need the client: whole conversations with a server in memory.
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include <hondana/clock.hpp>
#include <hondana/server.hpp>

#include "support/must.hpp"
#include "unit/transport/memory/conversation.hpp"

namespace hondana {
namespace {

using namespace std::chrono_literals;

/// Asks for whatever `what` says, once, and tells what came back.
tool_handler asking(input_request what) {
  return [what = std::move(what)](const tool_call& call) -> result<tool_outcome> {
    if (const auto* why = call.responses.error("it")) return error_result("refused: " + *why);
    if (const auto* answer = call.responses.find("it")) return text_result(answer->to_text());
    return input_required{{{"it", what}}, {}};
  };
}

/// Two rounds, and a state between them.
result<tool_outcome> remembering(const tool_call& call) {
  if (call.state) return text_result("remembered " + call.state->to_text());
  return input_required{{{"it", roots_request{}}}, value::object{{"secret", 42}}};
}

tool named(std::string name) {
  tool out;
  out.name = std::move(name);
  return out;
}

class rounds : public testing::Test {
 protected:
  rounds() {
    form_builder fields;
    fields.text("name");
    sampling_request sampling;
    sampling.messages.push_back({chat_role::user, text_block{"Hi", {}}});
    add("form", asking(form_request{"Name?", fields.schema()}));
    add("link", asking(url_request{"Sign in", "https://example.com/in", "id-1"}));
    add("sampling", asking(sampling));
    add("roots", asking(roots_request{}));
    add("state", remembering);
    add("loud", [](const tool_call& call) -> result<tool_outcome> {
      for (int index = 0; index < 1000; ++index) call.log(log_level::error, index);
      return text_result("done");
    });
    add("circles", [](const tool_call&) -> result<tool_outcome> { return input_required{{}, value(1)}; });
  }

  void add(const std::string& name, tool_handler handler) { ASSERT_TRUE(server_.add_tool(named(name), std::move(handler))); }

  void open(std::string_view revision, std::string_view capabilities) { with_.open(capabilities, revision); }
  void send(std::string_view message) { with_.send(message); }
  void call(int id, const std::string& tool) { with_.ask(id, "tools/call", R"({"name":")" + tool + "\"}"); }
  value next() { return with_.next(); }
  static std::string text_of(const value& answer) { return answer.at("/result/content/0/text").value_or(value()).to_text(); }
  static std::string id_of(const value& request) { return request.string_at("id").value_or(std::string()); }

  manual_clock clock_;  // That tools were added is not told.
  server server_ = must(server::create());
  hondana_test::conversation with_{server_};
};

TEST_F(rounds, a_session_is_asked_beside_its_own_request_and_the_handler_called_again) {
  open("2025-11-25", R"({"elicitation":{},"sampling":{},"roots":{}})");
  call(1, "form");
  const auto question = next();
  EXPECT_EQ(question.string_at("method").value(), "elicitation/create");
  EXPECT_EQ(question.at("params")->to_text(),
            R"({"mode":"form","message":"Name?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}})");
  send(R"({"jsonrpc":"2.0","id":2,"method":"ping"})");
  EXPECT_EQ(next().integer_at("id").value(), 2);
  send(R"({"jsonrpc":"2.0","id":"nobody's","result":{}})");
  send(R"({"jsonrpc":"2.0","id":")" + id_of(question) + R"(","result":{"action":"accept","content":{"name":"octocat"}}})");
  const auto answer = next();
  EXPECT_EQ(answer.integer_at("id").value(), 1);
  EXPECT_EQ(text_of(answer), R"("{\"action\":\"accept\",\"content\":{\"name\":\"octocat\"}}")");
}

TEST_F(rounds, each_sort_of_question_is_spelled_as_its_revision_has_it) {
  open("2025-11-25", R"({"elicitation":{"url":{}},"sampling":{},"roots":{}})");
  call(1, "link");
  EXPECT_EQ(next().at("params")->to_text(),
            R"({"mode":"url","message":"Sign in","url":"https://example.com/in","elicitationId":"id-1"})");
  call(2, "sampling");
  EXPECT_EQ(next().at("params")->to_text(),
            R"({"messages":[{"role":"user","content":{"type":"text","text":"Hi"}}],"maxTokens":1000})");
  call(3, "roots");
  EXPECT_EQ(next().string_at("method").value(), "roots/list");
}

TEST_F(rounds, the_oldest_sessions_can_be_asked_for_roots_and_sampling_but_not_for_forms) {
  open("2024-11-05", R"({"elicitation":{},"roots":{}})");
  call(1, "roots");
  const auto question = next();
  send(R"({"jsonrpc":"2.0","id":")" + id_of(question) + R"(","result":{"roots":[{"uri":"file:///a"}]}})");
  EXPECT_EQ(text_of(next()), R"("{\"roots\":[{\"uri\":\"file:///a\"}]}")");
  call(2, "form");
  EXPECT_NE(text_of(next()).find("does not declare"), std::string::npos);
}

// requires: 2025-11-25/elicitation.supported_modes
TEST_F(rounds, nobody_is_asked_in_a_mode_that_was_not_declared) {
  open("2025-11-25", R"({"elicitation":{"form":{}}})");
  call(1, "link");
  EXPECT_NE(text_of(next()).find("does not declare: {\\\"elicitation\\\":{\\\"url\\\":{}}}"), std::string::npos);
}

TEST_F(rounds, a_client_that_answers_with_an_error_has_refused) {
  open("2025-11-25", R"({"elicitation":{}})");
  call(1, "form");
  send(R"({"jsonrpc":"2.0","id":")" + id_of(next()) + R"(","error":{"code":-1,"message":"User rejected"}})");
  EXPECT_EQ(text_of(next()), R"("refused: User rejected")");
}

TEST_F(rounds, cancelling_the_call_withdraws_the_question) {
  open("2025-11-25", R"({"elicitation":{}})");
  call(1, "form");
  const auto question = next();
  send(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})");
  const auto withdrawn = next();
  EXPECT_EQ(withdrawn.string_at("method").value(), "notifications/cancelled");
  EXPECT_EQ(withdrawn.string_at("/params/requestId").value(), id_of(question));
  send(R"({"jsonrpc":"2.0","id":")" + id_of(question) + R"(","result":{"action":"accept"}})");
  send(R"({"jsonrpc":"2.0","id":2,"method":"ping"})");
  EXPECT_EQ(next().integer_at("id").value(), 2);
}

TEST_F(rounds, a_question_that_nobody_answers_ends_with_its_deadline) {
  server hasty = must(server::create({.input_timeout = 20ms}));
  ASSERT_TRUE(hasty.add_tool(named("roots"), asking(roots_request{})));
  const hondana_test::conversation with(hasty);
  with.ask(0, "initialize",
           R"({"protocolVersion":"2025-11-25","capabilities":{"roots":{}},"clientInfo":{"name":"t","version":"1"}})");
  with.ask(1, "tools/call", R"({"name":"roots"})");
  std::string all;
  for (int message = 0; message < 2; ++message) all += with.next().to_text();
  EXPECT_NE(all.find("roots/list"), std::string::npos) << all;
  clock_.advance(20ms);
  for (int message = 0; message < 2; ++message) all += with.next().to_text();
  EXPECT_NE(all.find("The client did not answer a request for input in time."), std::string::npos) << all;
}

TEST_F(rounds, a_handler_that_asks_for_ever_is_stopped) {
  open("2025-11-25", "{}");
  call(1, "circles");
  EXPECT_EQ(next().integer_at("/error/code").value(), -32603);
}

constexpr auto meta =
    R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"roots":{}}})";

// requires: 2026-07-28/mrtr.state_bound 2026-07-28/mrtr.state_integrity
TEST_F(rounds, a_state_is_good_for_the_request_it_was_made_for) {
  const auto ask = [this](const std::string& tool, const std::string& arguments, const std::string& more) {
    send(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":")" + tool + R"(","arguments":)" + arguments + "," +
         more + meta + "}}");
    return next();
  };
  const auto first = ask("state", R"({"a":1,"b":2})", "");
  EXPECT_EQ(first.string_at("/result/resultType").value(), "input_required");
  const auto state = first.string_at("/result/requestState").value();
  const auto with = [](const std::string& text) { return R"("requestState":")" + text + "\","; };
  EXPECT_EQ(text_of(ask("state", R"({"b":2,"a":1})", with(state))), R"("remembered {\"secret\":42}")");
  EXPECT_EQ(ask("state", R"({"a":1,"b":3})", with(state)).integer_at("/error/code").value(), -32602);
  EXPECT_EQ(ask("roots", R"({"a":1,"b":2})", with(state)).integer_at("/error/code").value(), -32602);
  EXPECT_EQ(ask("state", R"({"a":1,"b":2})", with(state + "A")).integer_at("/error/code").value(), -32602);
}

// requires: */logging.rate_limit
TEST_F(rounds, a_handler_that_shouts_is_heard_a_hundred_times_a_second) {
  open("2025-11-25", "{}");
  call(1, "loud");
  int heard = 0;
  auto message = next();
  for (; message.find("method") != nullptr; message = next()) ++heard;
  EXPECT_EQ(message.integer_at("id").value(), 1);
  EXPECT_EQ(heard, 100);
}

TEST_F(rounds, sessions_hear_what_the_server_logs_at_their_level) {
  open("2025-11-25", "{}");
  send(R"({"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"warning"}})");
  EXPECT_EQ(next().integer_at("id").value(), 1);
  server_.log(log_level::notice, "disk", "filling up");
  server_.log(log_level::alert, "disk", value::object{{"full", true}});
  // The stream of what belongs to no request is followed where there is one; in memory it is the same line.
  send(R"({"jsonrpc":"2.0","id":2,"method":"ping"})");
  std::string all;
  for (int message = 0; message < 2; ++message) all += next().to_text();
  EXPECT_NE(all.find(R"({"level":"alert","logger":"disk","data":{"full":true}})"), std::string::npos) << all;
  EXPECT_EQ(all.find("filling up"), std::string::npos);
}

TEST_F(rounds, tools_come_and_go_while_peers_are_connected) {
  open("2025-11-25", "{}");
  // The tools that came before.
  clock_.advance(1s);
  EXPECT_EQ(next().string_at("method").value(), "notifications/tools/list_changed");
  EXPECT_TRUE(server_.remove_tool("roots"));
  EXPECT_FALSE(server_.remove_tool("roots"));
  clock_.advance(1s);
  EXPECT_EQ(next().string_at("method").value(), "notifications/tools/list_changed");
  call(1, "roots");
  EXPECT_EQ(next().integer_at("/error/code").value(), -32602);
}

}  // namespace
}  // namespace hondana
