/// Calls and their ends: answered, answered wrongly, twice, never, for somebody else, cancelled, asked back.
#include <gtest/gtest.h>

#include <future>

#include <hondana/clock.hpp>

#include "client/composed_calls.hpp"
#include "unit/client/scripted_channel.hpp"

namespace hondana::test {
namespace {

using heard = scripted_server::heard;
using std::chrono::milliseconds;

/// A modern server whose every other message is the test's.
scripted_server::answerer modern(scripted_server::answerer then) {
  return [then = std::move(then)](scripted_server& of, const heard& one) {
    if (one.method == "server/discover") return of.result(one, modern_self);
    then(of, one);
  };
}

scripted_server::answerer older(scripted_server::answerer then) {
  return [then = std::move(then)](scripted_server& of, const heard& one) {
    if (one.method == "server/discover") return of.error(one, -32601, "no");
    if (one.method == "initialize") return of.result(one, older_self("2025-11-25"));
    then(of, one);
  };
}

TEST(calls, fail_with_a_clear_text_when_the_answer_is_none) {
  const std::pair<const char*, const char*> cases[] = {
      {"[]", "broken"},
      {"7", "broken"},
      {"\"text\"", "broken"},
      {"null", "broken"},
      {R"({"resources":7})", "resources"},
      {R"({"resources":[{"name":"no uri"}]})", "result.resources[0].uri"},
      {R"({})", "result.resources: missing"},
      {R"({"resources":[],"nextCursor":5})", "nextCursor"},
      {R"({"resultType":"strange","resources":[]})", "strange"},
  };
  for (const auto& [answer, part] : cases) {
    scripted_server server(modern([said = answer](scripted_server& of, const heard& one) {
      if (one.sent.call != 0) of.result(one, said);
    }));
    opened_engine engine(server);
    const auto got = outbound::resource_page(*engine, {}, {}, {});
    ASSERT_FALSE(got) << answer;
    EXPECT_EQ(got.error().code, errc::protocol_error) << answer;
    if (std::string_view(part) == "broken") continue;
    EXPECT_NE(got.error().public_text.find(part), std::string::npos) << got.error().public_text;
  }
}

/// Spec: RFC 6750 section 3.1.
TEST(calls, that_need_more_scopes_name_them) {
  struct expectation {
    const char* challenge;
    const char* body;
    std::vector<std::string> scopes;
    const char* text;
  };
  const expectation cases[] = {
      {"Bearer error=\"insufficient_scope\", scope=\"write read\"",
       "",
       {"read", "write"},
       "with HTTP 403: the caller is not authorized; it requires the scopes read write"},
      {"Bearer error=\"insufficient_scope\", scope=\"read\"",
       R"({"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"Not with this."}})",
       {"read"},
       "Not with this; it requires the scope read"},
      {"Bearer error=\"insufficient_scope\", scope=\"read\"",
       R"({"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"This needs the scopes read."}})",
       {"read"},
       "This needs the scopes read."},
      {"Bearer error=\"insufficient_scope\"", "", {}, "with HTTP 403: the caller is not authorized"},
      {"Bearer scope=\"read\"", "", {}, "with HTTP 403: the caller is not authorized"},
  };
  for (const auto& one : cases) {
    scripted_server server(modern([&one](scripted_server& of, const heard& asked) {
      if (asked.sent.call == 0) return;
      channel::termination how;
      how.http_status = 403;
      how.challenges = {one.challenge};
      how.body = one.body;
      of.end(asked.sent.call, how);
    }));
    opened_engine engine(server);
    const auto got = outbound::resource_page(*engine, {}, {}, {});
    ASSERT_FALSE(got) << one.challenge;
    EXPECT_EQ(got.error().code, errc::unauthorized);
    EXPECT_TRUE(got.error().public_text.ends_with(one.text)) << got.error().public_text;
    EXPECT_EQ(got.error().scopes ? *got.error().scopes : std::vector<std::string>(), one.scopes);
  }
}

TEST(calls, ignore_answers_that_come_twice_and_answers_to_nobody) {
  scripted_server server(modern([](scripted_server& of, const heard& one) {
    if (one.method != "resources/list") return;
    of.say(0, R"({"jsonrpc":"2.0","id":999999,"result":{"resources":[{"uri":"x:other","name":"o"}]}})");
    of.say(0, R"({"jsonrpc":"2.0","id":"text","result":{}})");
    of.say(0, R"({"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"?"}})");
    of.say(0, R"(garbage)");
    of.say(0, R"({"jsonrpc":"2.0"})");
    of.result(one, R"({"resources":[{"uri":"x:mine","name":"m"}]})");
    of.result(one, R"({"resources":[{"uri":"x:again","name":"a"}]})");
  }));
  std::atomic<int> lines = 0;
  client_options options;
  options.log = [&lines](std::string_view) { ++lines; };
  opened_engine engine(server, std::move(options));
  for (int round = 0; round < 3; ++round) {
    const auto got = outbound::resource_page(*engine, {}, {}, {});
    ASSERT_TRUE(got);
    ASSERT_EQ(got->items.size(), 1u);
    EXPECT_EQ(got->items[0].uri, "x:mine");
  }
  EXPECT_GE(lines, 10);
}

TEST(calls, do_not_take_the_answer_of_another_exchange) {
  scripted_server server(modern([](scripted_server& of, const heard& one) {
                           if (one.method != "resources/list") return;
                           of.say(one.sent.call, R"({"jsonrpc":"2.0","id":)" + std::to_string(one.sent.call + 1) +
                                                     R"(,"result":{"resources":[]}})");
                           of.end(one.sent.call, {});
                         }),
                         true);
  opened_engine engine(server);
  const auto got = outbound::resource_page(*engine, {}, {}, {});
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, errc::protocol_error);
}

TEST(calls, end_in_time_when_nobody_answers_and_the_server_is_told) {
  manual_clock clock;
  scripted_server server(modern([&clock](scripted_server&, const heard&) { clock.advance(milliseconds(30)); }));
  opened_engine engine(server);
  ASSERT_TRUE(engine->open());
  const auto got = engine->call({.message = asking::list_resources({}, nullptr)}, {.timeout = milliseconds(30)});
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, errc::timed_out);
  EXPECT_NE(got.error().public_text.find("resources/list"), std::string::npos);
  ASSERT_TRUE(server.waits_for("notifications/cancelled", 1));
  const auto id = server.all("resources/list").front().sent.call;
  EXPECT_EQ(*server.all("notifications/cancelled").front().param("requestId"), value(id));
  EXPECT_EQ(server.abandoned(), (std::vector<channel::call_id>{id}));
}

/// Spec: 2026-07-28 basic/transports/streamable-http#cancellation: closing is all there is to say.
TEST(calls, over_exchanges_are_cancelled_by_closing_them) {
  manual_clock clock;
  scripted_server server(modern([&clock](scripted_server&, const heard&) { clock.advance(milliseconds(30)); }), true);
  opened_engine engine(server);
  ASSERT_TRUE(engine->open());
  EXPECT_FALSE(engine->call({.message = asking::list_resources({}, nullptr)}, {.timeout = milliseconds(30)}));
  EXPECT_EQ(server.abandoned().size(), 1u);
  EXPECT_TRUE(server.all("notifications/cancelled").empty());
}

TEST(calls, that_are_over_take_no_content_that_comes_late) {
  manual_clock clock;
  scripted_server server(modern([&clock](scripted_server&, const heard&) { clock.advance(milliseconds(30)); }));
  opened_engine engine(server);
  ASSERT_TRUE(engine->open());
  std::string taken;
  const auto got = engine->read("x:a", {},
                                [&taken](std::size_t, std::string_view bytes) -> result<void> {
                                  taken += bytes;
                                  return {};
                                },
                                {.timeout = milliseconds(30)});
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, errc::timed_out);
  // A channel in the middle of a line goes on giving; what it gave to is gone.
  const auto asked = server.all("resources/read");
  ASSERT_EQ(asked.size(), 1u);
  const auto late = asked.front().sent.content;
  ASSERT_TRUE(late);
  EXPECT_FALSE(late(0, "late bytes"));
  EXPECT_EQ(taken, "");
}

TEST(calls, of_content_end_after_their_whole_time_however_much_keeps_coming) {
  manual_clock clock;
  scripted_server server(modern([&clock](scripted_server& of, const heard& one) {
    of.progress(one.sent.call, 10, [&clock] { clock.advance(milliseconds(20)); });
  }));
  opened_engine engine(server);
  ASSERT_TRUE(engine->open());
  const auto nowhere = [](std::size_t, std::string_view) { return result<void>(); };
  const auto got = engine->read("x:a", {}, nowhere, {.timeout = milliseconds(30), .total_timeout = milliseconds(100)});
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, errc::timed_out);
  EXPECT_NE(got.error().public_text.find("within 100 ms"), std::string::npos) << got.error().public_text;
  EXPECT_EQ(server.abandoned().size(), 1u);
}

TEST(calls, give_up_on_lists_that_never_end) {
  scripted_server server(modern([count = std::make_shared<std::atomic<int>>(0)](scripted_server& of, const heard& one) {
    if (one.method == "resources/list") of.result(one, R"({"resources":[],"nextCursor":")" + std::to_string(++*count) + "\"}");
  }));
  opened_engine engine(server);
  paged_range<resource> all(
      [&engine](const std::optional<std::string>& cursor) { return outbound::resource_page(*engine, cursor, {}, {}); });
  const auto got = all.collect();
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, errc::protocol_error);
  EXPECT_LT(server.all("resources/list").size(), 1'100u);
}

TEST(calls, are_cancelled_by_a_stop_token) {
  std::stop_source stop;
  scripted_server server(modern([&stop](scripted_server&, const heard& one) {
    if (one.method == "resources/list") stop.request_stop();
  }));
  opened_engine engine(server);
  const auto got = engine->call({.message = asking::list_resources({}, nullptr)}, {.stop = stop.get_token()});
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, errc::cancelled);
  EXPECT_TRUE(server.waits_for("notifications/cancelled", 1));
}

TEST(calls, under_way_fail_when_the_connection_breaks_and_when_the_client_closes) {
  scripted_server server(modern([](scripted_server& of, const heard& one) {
    if (one.method == "resources/list") of.break_off({errc::source_unavailable, "it died with code 3", {}});
  }));
  opened_engine engine(server);
  const auto got = engine->call({.message = asking::list_resources({}, nullptr)}, {});
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, errc::source_unavailable);
  EXPECT_EQ(got.error().public_text, "it died with code 3");

  auto waiting = std::async(std::launch::async, [&engine] { return engine->call({.message = asking::list_tools({})}, {}); });
  ASSERT_TRUE(server.waits_for("tools/list", 1));
  engine->close();
  EXPECT_EQ(waiting.get().error().code, errc::cancelled);
  EXPECT_EQ(engine->call({.message = asking::list_tools({})}, {}).error().code, errc::cancelled);
}

TEST(calls, beyond_the_limit_are_refused) {
  scripted_server server(modern([](scripted_server&, const heard&) {}));
  client_options options;
  options.max_calls = 1;
  opened_engine engine(server, std::move(options));
  ASSERT_TRUE(engine->open());
  auto waiting = std::async(std::launch::async, [&engine] { return engine->call({.message = asking::list_tools({})}, {}); });
  ASSERT_TRUE(server.waits_for("tools/list", 1));
  EXPECT_EQ(engine->call({.message = asking::list_tools({})}, {}).error().code, errc::overloaded);
  engine->close();
}

TEST(calls, know_both_codes_of_what_is_not_there) {
  for (const int code : {-32002, -32602}) {
    scripted_server server(modern([code](scripted_server& of, const heard& one) {
      if (one.method == "resources/read") of.error(one, code, "Resource not found", R"({"uri":"x:gone"})");
    }));
    opened_engine engine(server);
    const auto got = engine->read("x:gone", {}, {}, {});
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().code, errc::resource_not_found);
    EXPECT_EQ(got.error().server_error->code, code);
  }
}

TEST(calls, tell_how_far_the_server_is) {
  scripted_server server(modern([](scripted_server& of, const heard& one) {
    if (one.method != "resources/list") return;
    const auto token = one.param("_meta")->find("progressToken")->to_text();
    of.say(one.sent.call, R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":)" + token +
                              R"(,"progress":3,"total":4,"message":"nearly"}})");
    of.result(one, R"({"resources":[]})");
  }));
  opened_engine engine(server);
  std::vector<progress> heard_of;
  call_options how;
  how.on_progress = [&heard_of](const progress& one) { heard_of.push_back(one); };
  ASSERT_TRUE(engine->call({.message = asking::list_resources({}, nullptr)}, how));
  ASSERT_EQ(heard_of.size(), 1u);
  EXPECT_EQ(heard_of[0].done, 3);
  EXPECT_EQ(heard_of[0].total, 4);
  EXPECT_EQ(heard_of[0].message, "nearly");
}

/// Spec: 2026-07-28 basic/patterns/mrtr#client-requirements-basic-workflow.
TEST(calls, answer_what_is_asked_back_and_echo_the_state) {
  scripted_server server(modern([](scripted_server& of, const heard& one) {
    if (one.method != "tools/call") return;
    if (one.param("inputResponses") == nullptr) {
      return of.result(
          one, R"({"resultType":"input_required","requestState":"{\"a\": 1}","inputRequests":{"who":{"method":)"
               R"("elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":)"
               R"({"name":{"type":"string","default":"Ada"},"age":{"type":"integer"}}}}},"where":{"method":"roots/list"}}})");
    }
    of.result(one, R"({"content":[{"type":"text","text":"done"}],"ttlMs":60000,"resultType":"complete"})");
  }));
  client_options options;
  options.handlers.form_elicitation = [](const form_request&, const value&) -> result<elicitation_response> {
    return elicitation_response{"accept", value::object{{"age", 36}}};
  };
  options.handlers.roots = []() -> result<std::vector<root>> { return std::vector<root>{{"file:///w", ""}}; };
  opened_engine engine(server, std::move(options));
  const auto got = outbound::call_tool(*engine, "ask", value::object{{"x", 1}}, {});
  ASSERT_TRUE(got) << got.error().public_text;
  EXPECT_EQ(std::get<text_block>(got->content.at(0)).text, "done");
  const auto calls = server.all("tools/call");
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_NE(calls[0].sent.call, calls[1].sent.call);
  EXPECT_EQ(calls[0].param("requestState"), nullptr);
  EXPECT_EQ(*calls[1].param("requestState"), value("{\"a\": 1}"));
  EXPECT_EQ(calls[1].param("inputResponses")->to_text(),
            R"({"who":{"action":"accept","content":{"age":36,"name":"Ada"}},"where":{"roots":[{"uri":"file:///w"}]}})");
  EXPECT_EQ(*calls[1].param("arguments"), *calls[0].param("arguments"));
}

TEST(calls, do_not_answer_for_ever) {
  scripted_server server(modern([](scripted_server& of, const heard& one) {
    if (one.method == "tools/call") of.result(one, R"({"resultType":"input_required","requestState":"again"})");
    if (one.method == "resources/list") of.result(one, R"({"resultType":"input_required","requestState":"again"})");
  }));
  opened_engine engine(server);
  EXPECT_EQ(outbound::call_tool(*engine, "ask", {}, {}).error().code, errc::server_error);
  EXPECT_LE(server.all("tools/call").size(), 21u);
  // Lists may not ask back at all.
  EXPECT_EQ(outbound::resource_page(*engine, {}, {}, {}).error().code, errc::protocol_error);
}

TEST(calls, of_older_servers_are_answered_meanwhile_and_their_time_stands_still) {
  manual_clock clock;
  scripted_server server(older([](scripted_server& of, const heard& one) {
    if (one.method == "tools/call") {
      of.say(0, R"({"jsonrpc":"2.0","id":"q1","method":"ping"})");
      of.say(0, R"({"jsonrpc":"2.0","id":"q2","method":"elicitation/create","params":{"message":"?","requestedSchema":)"
                R"({"type":"object","properties":{"n":{"type":"number","default":1.5}}}}})");
      of.say(0, R"({"jsonrpc":"2.0","id":"q3","method":"sampling/createMessage","params":{}})");
    }
    if (one.method.empty() && one.message.find("id") != nullptr && *one.message.find("id") == value("q2")) {
      of.result(of.all("tools/call").front(), R"({"content":[]})");
    }
  }));
  client_options options;
  options.call_timeout = std::chrono::seconds(1);
  options.handlers.form_elicitation = [&clock](const form_request&, const value&) -> result<elicitation_response> {
    // Longer than the call may take: people think.
    clock.advance(milliseconds(1'200));
    return elicitation_response{"accept", value::object{}};
  };
  opened_engine engine(server, std::move(options));
  ASSERT_TRUE(engine->open());
  const auto got = outbound::call_tool(*engine, "ask", {}, {});
  ASSERT_TRUE(got) << got.error().public_text;
  ASSERT_TRUE(server.waits_for("", 3));
  std::map<std::string, std::string> answers;
  for (const auto& one : server.all("")) answers[*one.message.find("id")->as_string()] = one.message.to_text();
  EXPECT_EQ(answers["q1"], R"({"jsonrpc":"2.0","id":"q1","result":{}})");
  EXPECT_EQ(answers["q2"], R"({"jsonrpc":"2.0","id":"q2","result":{"action":"accept","content":{"n":1.5}}})");
  EXPECT_NE(answers["q3"].find("-32601"), std::string::npos) << answers["q3"];
}

TEST(calls, mirror_arguments_in_headers_and_look_again_when_the_tool_has_changed) {
  std::atomic<int> lists = 0;
  scripted_server server(modern([&lists](scripted_server& of, const heard& one) {
                           if (one.method == "tools/list") {
                             const std::string name = lists++ == 0 ? "Old" : "New";
                             return of.result(
                                 one, R"({"tools":[{"name":"t","inputSchema":{"type":"object","properties":{"a":{"type":)"
                                      R"("string","x-mcp-header":")" +
                                          name +
                                          R"("}}}},{"name":"bad","inputSchema":)"
                                          R"({"type":"object","properties":{"a":{"type":"number","x-mcp-header":"N"}}}}]})");
                           }
                           if (one.method != "tools/call") return;
                           for (const auto& [name, text] : one.sent.headers) {
                             if (name == "Mcp-Param-New") return of.result(one, R"({"content":[]})");
                           }
                           of.error(one, -32020, "Header mismatch");
                         }),
                         true);
  opened_engine engine(server);
  ASSERT_TRUE(outbound::call_tool(*engine, "t", value::object{{"a", "日本"}}, {}));
  const auto sent = server.all("tools/call").back().sent.headers;
  EXPECT_NE(std::find(sent.begin(), sent.end(), std::pair<std::string, std::string>("Mcp-Param-New", "=?base64?5pel5pys?=")),
            sent.end());
  EXPECT_NE(std::find(sent.begin(), sent.end(), std::pair<std::string, std::string>("Mcp-Name", "t")), sent.end());
  EXPECT_EQ(engine->tool_page({}, {})->items.size(), 1u);  // the bad one is left out
}

}  // namespace
}  // namespace hondana::test
