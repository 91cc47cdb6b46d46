/// What a client spells, each server of ours understands; what servers answer is read, or refused with the place.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/json/reader.hpp"
#include "base/value/value.hpp"
#include "protocol/wire/asking/requests.hpp"
#include "protocol/wire/asking/results.hpp"
#include "protocol/wire/asking/server_errors.hpp"
#include "protocol/wire/asking/server_messages.hpp"
#include "protocol/wire/choose_codec.hpp"
#include "protocol/wire/wire_constants.hpp"

namespace hondana::wire {
namespace {

value parsed(const std::string& text) {
  auto out = value::parse(text);
  EXPECT_TRUE(out) << text;
  return out.value_or(value());
}

asking::negotiated_protocol in(std::string_view revision) {
  const auto modern = modern_revisions();
  return {std::string(revision), std::find(modern.begin(), modern.end(), revision) != modern.end()};
}

std::vector<std::string_view> all_revisions() {
  std::vector<std::string_view> out;
  for (const auto some : {modern_revisions(), session_revisions()}) out.insert(out.end(), some.begin(), some.end());
  return out;
}

/// What our own server makes of a message, as the error's text; empty: it is understood.
std::string refusal_of(const std::string& text, std::string_view revision) {
  const auto document = json::document::parse(text);
  if (!document) return "no JSON: " + text;
  const auto message = rpc::read_message(document->root());
  const auto* request = std::get_if<rpc::request>(&message);
  if (request == nullptr) return "no request: " + text;
  negotiation with;
  if (!in(revision).is_modern && request->method != "initialize") {
    const auto opening =
        json::document::parse(asking::encode_request(asking::initialize({}, in(revision)), 1, in(revision), {}, false));
    const auto first = rpc::read_message(opening->root());
    record_negotiation(with, **choose_codec(std::get<rpc::request>(first), {}, with));
  }
  const auto codec = choose_codec(*request, {}, with);
  if (!codec) return codec.error().message;
  if ((*codec)->revision() != revision) return "taken for " + std::string((*codec)->revision());
  const auto what = (*codec)->decode(*request, {});
  return what ? std::string() : what.error().message;
}

template <class Read>
auto read(const std::string& text, Read take) {
  const auto document = json::document::parse(text);
  EXPECT_TRUE(document) << text;
  return take(*document->root().as_object("result"));
}

asking::server_notification news_from(const std::string& method, const std::string& params) {
  const auto document = json::document::parse(R"({"jsonrpc":"2.0","method":")" + method + R"(","params":)" + params + "}");
  EXPECT_TRUE(document) << params;
  const auto message = rpc::read_message(document->root());
  return asking::parse_notification(std::get<rpc::notification>(message));
}

failure failure_from(const std::string& error, const std::string& method = "tools/call", const std::string& target = {}) {
  return read(error, [&](const json::object& of) { return asking::make_failure(of, 0, method, target); });
}

TEST(asking, every_request_is_understood_in_every_revision_that_has_it) {
  const std::vector<asking::request> everywhere{
      asking::list_resources({}, nullptr),
      asking::list_resources("page 2", nullptr),
      asking::list_templates({}),
      asking::list_tools("x"),
      asking::list_prompts({}),
      asking::read("file:///a%20b", {}),
      asking::get_prompt("greet", {{"who", "\"me\""}}),
      asking::call_tool("add", parsed(R"({"a":1})")),
      asking::call_tool("add", {}),
      asking::complete_template("file:///{name}", "name", "a", {}),
      asking::complete_prompt("greet", "who", "m", {{"how", "loudly"}}),
  };
  for (const auto revision : all_revisions()) {
    for (const auto& one : everywhere)
      EXPECT_EQ(refusal_of(asking::encode_request(one, 7, in(revision), {}, true), revision), "")
          << one.method << ' ' << revision;
  }
}

TEST(asking, sessions_are_opened_and_subscribed_one_by_one) {
  for (const auto revision : session_revisions()) {
    for (const auto& one : {asking::initialize({}, in(revision)), asking::ping(), asking::subscribe("file:///a"),
                            asking::unsubscribe("file:///a"), asking::set_level(log_level::notice)})
      EXPECT_EQ(refusal_of(asking::encode_request(one, 7, in(revision), {}, false), revision), "")
          << one.method << ' ' << revision;
  }
}

TEST(asking, without_sessions_there_are_discovery_streams_skills_and_folders) {
  watch_request what;
  what.uris = {"file:///a", "file:///b"};
  what.resource_list = true;
  for (const auto& one :
       {asking::discover(), asking::listen(what, false), asking::listen(what, true), asking::list_skills({}),
        asking::get_skill("skill:///a/SKILL.md"), asking::list_folder("file:///d", "2"), asking::get_resource("file:///a"),
        asking::subscribe_entries(what.uris), asking::unsubscribe_entries(what.uris)}) {
    const auto revision = modern_revisions().front();
    const auto said = refusal_of(asking::encode_request(one, 7, in(revision), {}, false), revision);
    // Only subscriptions of single resources belong to sessions.
    EXPECT_EQ(said.empty(), !one.method.ends_with("subscribe")) << one.method << ": " << said;
  }
}

TEST(asking, capabilities_are_those_the_revision_has) {
  client_options options;
  options.handlers.form_elicitation = [](const form_request&, const value&) -> result<elicitation_response> {
    return elicitation_response{};
  };
  options.handlers.url_elicitation = [](const url_request&, const value&) -> result<elicitation_response> {
    return elicitation_response{};
  };
  options.handlers.roots = [] { return result<std::vector<root>>(); };
  const auto capabilities = [&](std::string_view revision) {
    std::string text;
    json::writer to(text);
    asking::write_capabilities(to, options, in(revision));
    return parsed(text);
  };
  EXPECT_EQ(capabilities("2025-03-26").find("elicitation"), nullptr);
  EXPECT_EQ(*capabilities("2025-06-18").find("elicitation"), parsed("{}"));
  EXPECT_EQ(*capabilities("2025-11-25").find("elicitation"), parsed(R"({"form":{},"url":{}})"));
  EXPECT_EQ(*capabilities("2025-11-25").find("roots"), parsed(R"({"listChanged":true})"));
  EXPECT_EQ(*capabilities("2026-07-28").find("roots"), parsed("{}"));
  EXPECT_NE(capabilities("2026-07-28").find("extensions"), nullptr);
  EXPECT_EQ(capabilities("2025-11-25").find("extensions"), nullptr);
}

TEST(asking, headers_repeat_method_and_name_only_without_sessions) {
  const auto what = asking::read("file:///本", {});
  EXPECT_TRUE(asking::headers_of(what, in("2025-11-25")).empty());
  const auto headers = asking::headers_of(what, in("2026-07-28"));
  ASSERT_EQ(headers.size(), 3u);
  EXPECT_EQ(headers[1], std::pair(std::string("Mcp-Method"), std::string("resources/read")));
  EXPECT_EQ(headers[2], std::pair(std::string("Mcp-Name"), std::string("=?base64?ZmlsZTovLy/mnKw=?=")));
  EXPECT_EQ(asking::argument_header("Region", " eu").second, "=?base64?IGV1?=");
}

TEST(asking, sessions_name_their_revision_since_there_is_a_header_for_it) {
  EXPECT_TRUE(asking::session_headers(in("2025-03-26")).empty());
  EXPECT_EQ(asking::session_headers(in("2025-06-18")).at(0).second, "2025-06-18");
  EXPECT_TRUE(asking::session_headers(in("2026-07-28")).empty());  // each message has its own
}

TEST(asking, questions_that_are_none_are_refused_with_the_place) {
  const auto why = [](const std::string& method, const std::string& params) {
    const auto got = asking::parse_server_request(method, parsed(params));
    return got ? "taken" : std::to_string(got.error().code) + " " + got.error().text;
  };
  EXPECT_EQ(why("tools/list", "{}"), "-32601 this client does not support the method tools/list");
  EXPECT_EQ(why("elicitation/create", R"({"message":"?"})"), "-32602 params.requestedSchema: missing, or not an object");
  EXPECT_EQ(why("elicitation/create", R"({"mode":"voice"})"), "-32602 params.mode: this client supports \"form\" and \"url\"");
  EXPECT_EQ(why("sampling/createMessage", "{}"), "-32602 params.messages: missing, or not an array");
  EXPECT_EQ(why("roots/list", "{}"), "taken");
  for (const auto* url : {"file:///etc/passwd", "javascript:alert(1)", "$(reboot)", ""})
    EXPECT_EQ(why("elicitation/create", R"({"mode":"url","url":")" + std::string(url) + "\"}"),
              "-32602 params.url: expected https: or http:")
        << url;
}

TEST(asking, forms_are_accepted_with_the_defaults_of_what_they_leave_out) {
  const form_request to{"?", parsed(R"({"properties":{"a":{"default":1},"b":{"default":2},"c":{}}})")};
  EXPECT_EQ(asking::make_reply(elicitation_response{"accept", parsed(R"({"a":7})")}, to).result,
            R"({"action":"accept","content":{"a":7,"b":2}})");
  EXPECT_EQ(asking::make_reply(elicitation_response{"decline", {}}, to).result, R"({"action":"decline"})");
  EXPECT_EQ(asking::make_reply(elicitation_response{"accept", {}}, url_request{}).result, R"({"action":"accept"})");
  EXPECT_EQ(asking::encode_reply(std::string("q"), asking::failure_reply("no \"form\"")),
            R"({"jsonrpc":"2.0","id":"q","error":{"code":-32603,"message":"no \"form\""}})");
}

TEST(asking, numbers_of_errors_mean_what_they_mean_in_the_revision_they_are_from) {
  EXPECT_EQ(failure_from(R"({"code":-32002,"message":"none"})").code, errc::resource_not_found);
  EXPECT_EQ(failure_from(R"({"code":-32602,"message":"none"})", "resources/read", "a:b").code, errc::resource_not_found);
  EXPECT_EQ(failure_from(R"({"code":-32602,"message":"none"})").code, errc::invalid_argument);
  for (const auto code : {errc::part_not_found, errc::unreadable, errc::unsupported}) {
    const auto data = R"(","data":{"reason":")" + std::string(name_of(code)) + "\"}}";
    EXPECT_EQ(failure_from(R"({"code":-32602,"message":"none)" + data, "resources/read", "a:b").code, code);
  }
  EXPECT_EQ(failure_from(R"({"code":-32601,"message":"none"})").code, errc::unsupported);
  EXPECT_EQ(failure_from(R"({"code":1.5})").code, errc::protocol_error);
  EXPECT_EQ(failure_from(R"({"message":"no number"})").code, errc::protocol_error);
  EXPECT_TRUE(asking::is_not_modified(failure_from(R"({"code":304,"message":""})")));
  EXPECT_TRUE(asking::is_header_mismatch(failure_from(R"({"code":-32020,"message":""})")));
  const auto other = failure_from(R"({"code":-32022,"message":"","data":{"supported":["2025-11-25",7]}})");
  EXPECT_TRUE(asking::is_unsupported_revision(other) && asking::is_modern_error(other));
  EXPECT_EQ(asking::supported_revisions(other), std::vector<std::string>{"2025-11-25"});
}

TEST(asking, an_error_is_one_line_whatever_the_server_writes) {
  const auto why = failure_from(R"({"code":1,"message":"a\nb\u001b[2Jc"})");
  EXPECT_NE(why.public_text.find("a b [2Jc"), std::string::npos) << why.public_text;
  EXPECT_LT(failure_from(R"({"code":1,"message":")" + std::string(1 << 20, 'x') + "\"}").public_text.size(), 3'000u);
}

TEST(asking, results_that_are_none_name_the_place) {
  const auto why = [](const auto& got) { return got ? std::string("taken") : got.error().public_text; };
  EXPECT_NE(why(read("{}", asking::parse_resources)).find("result.resources: missing"), std::string::npos);
  EXPECT_NE(why(read(R"({"resources":[{"name":"a"}]})", asking::parse_resources)).find("result.resources[0].uri"),
            std::string::npos);
  EXPECT_NE(why(read(R"({"resources":[],"nextCursor":7})", asking::parse_resources)).find("nextCursor"), std::string::npos);
  EXPECT_NE(why(read(R"({"contents":[{"uri":"a:b","blob":"!"}]})", asking::parse_contents)).find("contents[0].blob"),
            std::string::npos);
  EXPECT_NE(why(read(R"({"tools":[{"name":"a"}]})", asking::parse_tools)).find("inputSchema"), std::string::npos);
  EXPECT_NE(why(read(R"({"completion":[]})", asking::parse_completion)).find("result.completion"), std::string::npos);
  EXPECT_NE(why(read(R"({"skill":{"uri":"a:b"}})", asking::parse_skill)).find("result.skill.frontmatter"), std::string::npos);
}

TEST(asking, times_to_live_are_never_negative_or_endless) {
  using std::chrono::milliseconds;
  EXPECT_EQ(read(R"({"ttlMs":-5})", asking::parse_freshness).ttl, milliseconds(0));
  EXPECT_LE(read(R"({"ttlMs":9223372036854775807})", asking::parse_freshness).ttl, std::chrono::hours(24 * 366));
  EXPECT_FALSE(read(R"({"ttlMs":5,"cacheScope":"private"})", asking::parse_freshness).is_public);
}

TEST(asking, news_belong_to_their_stream) {
  const auto told =
      news_from("notifications/resources/updated", R"({"uri":"a:b","_meta":{"io.modelcontextprotocol/subscriptionId":12}})");
  EXPECT_EQ(told.stream, 12u);
  ASSERT_TRUE(std::holds_alternative<watch_event>(told.event));
  EXPECT_EQ(std::get<watch_event>(told.event).uri, "a:b");
  const auto ended = news_from("notifications/cancelled", R"({"requestId":12,"reason":"stop"})");
  EXPECT_EQ(ended.stream, 12u);
  EXPECT_TRUE(std::holds_alternative<asking::stream_closed>(ended.event));
  const auto begun = news_from("notifications/subscriptions/acknowledged",
                               R"({"notifications":{"toolsListChanged":true,"dev.hondana/contentChanged":["a:b",7]}})");
  const auto& honoured = std::get<asking::stream_opened>(begun.event).accepted;
  EXPECT_TRUE(honoured.tool_list && honoured.include_entries && !honoured.resource_list);
  EXPECT_EQ(honoured.uris, std::vector<std::string>{"a:b"});
}

TEST(asking, news_that_cannot_be_read_are_none) {
  for (const auto* params : {"{}", R"({"uri":7})", R"({"uri":""})"})
    EXPECT_TRUE(std::holds_alternative<std::monostate>(news_from("notifications/resources/updated", params).event)) << params;
  EXPECT_TRUE(std::holds_alternative<std::monostate>(
      news_from("notifications/resources/content_changed", R"({"resource":{"name":"a"}})").event));
  EXPECT_TRUE(std::holds_alternative<std::monostate>(news_from("notifications/of/tomorrow", "{}").event));
  EXPECT_EQ(news_from("notifications/cancelled", R"({"requestId":-1})").stream, 0u);
  EXPECT_EQ(std::get<asking::call_progress>(news_from("notifications/progress", R"({"progressToken":"x"})").event).call, 0u);
}

}  // namespace
}  // namespace hondana::wire
