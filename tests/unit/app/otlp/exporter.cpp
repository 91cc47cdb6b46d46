/// A collector by a script: what it is sent, and what it may answer.
#include "app/otlp/exporter.hpp"

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <boost/json/src.hpp>

#include "deadline.hpp"
#include "unit/transport/http_client/scripted_server.hpp"

namespace {

using namespace hondana;
using namespace std::chrono_literals;
namespace json = boost::json;

const std::string parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

std::chrono::steady_clock::time_point soon() { return std::chrono::steady_clock::now() + hondana_test::event_deadline; }

tracing_options options_for(const hondana_test::scripted_server& at) {
  tracing_options out;
  out.url = at.url("/v1/traces");
  out.service_version = "1.2.3";
  out.headers = {{"X-Tenant", "team"}};
  out.export_interval = 1h;  // what is sent is sent by a flush
  out.timeout = 1h;          // no answer is too slow
  return out;
}

const json::object& span_in(const json::value& body, std::size_t which) {
  return body.at("resourceSpans").at(0).at("scopeSpans").at(0).at("spans").at(which).as_object();
}

std::string text_of(const json::value& attributes, std::string_view name) {
  for (const auto& one : attributes.as_array()) {
    if (one.at("key").as_string() == name) return std::string(one.at("value").at("stringValue").as_string());
  }
  return {};
}

TEST(exported_traces, have_the_names_and_forms_of_the_protocol) {
  hondana_test::scripted_server collector([](const auto&, auto& at) { return at.answer(200, "application/json", "{}"); });
  const auto made = make_tracer(options_for(collector));
  ASSERT_TRUE(made) << made.error().public_text;
  const auto before = std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch());
  {
    const auto request = (*made)->begin_request("resources/read", {parent, "a=1", {}});
    ASSERT_TRUE(request);
    request->set_attribute("mcp.method.name", std::string("resources/read"));
    request->set_attribute("number", std::int64_t{7});
    const auto call =
        (*made)->begin_child("read memo", tracing::span_kind::client, request->child_context({parent, "a=1", {}}));
    call->set_failed();
  }
  ASSERT_TRUE(flush_traces(**made, soon()));
  const auto heard = collector.requests(1);
  ASSERT_EQ(heard.size(), 1u);
  EXPECT_EQ(heard[0].method, "POST");
  EXPECT_EQ(heard[0].target, "/v1/traces");
  EXPECT_EQ(heard[0].field("content-type"), "application/json");
  EXPECT_EQ(heard[0].field("x-tenant"), "team");
  const auto body = json::parse(heard[0].body);
  const auto& self = body.at("resourceSpans").at(0).at("resource").at("attributes");
  EXPECT_EQ(text_of(self, "service.name"), "hondana");
  EXPECT_EQ(text_of(self, "service.version"), "1.2.3");
  EXPECT_EQ(text_of(self, "service.instance.id").size(), 32u);
  const auto& call = span_in(body, 0);
  const auto& request = span_in(body, 1);
  EXPECT_EQ(request.at("traceId").as_string(), "4bf92f3577b34da6a3ce929d0e0e4736");
  EXPECT_EQ(request.at("parentSpanId").as_string(), "00f067aa0ba902b7");
  EXPECT_EQ(request.at("traceState").as_string(), "a=1");
  EXPECT_EQ(request.at("name").as_string(), "resources/read");
  EXPECT_EQ(request.at("kind").as_int64(), 2) << "SPAN_KIND_SERVER";
  EXPECT_EQ(request.at("flags").as_int64(), 0x301);
  EXPECT_FALSE(request.at("status").as_object().contains("code"));
  const auto begin = std::stoll(std::string(request.at("startTimeUnixNano").as_string()));
  const auto end = std::stoll(std::string(request.at("endTimeUnixNano").as_string()));
  EXPECT_GE(begin, before.count() - 1'000'000'000);
  EXPECT_GE(end, begin);
  EXPECT_EQ(text_of(request.at("attributes"), "mcp.method.name"), "resources/read");
  EXPECT_EQ(request.at("attributes").at(1).at("value").at("intValue").as_string(), "7") << "64-bit numbers are text";
  EXPECT_EQ(call.at("parentSpanId"), request.at("spanId"));
  EXPECT_EQ(call.at("spanId").as_string().size(), 16u);
  EXPECT_EQ(call.at("kind").as_int64(), 3) << "SPAN_KIND_CLIENT";
  EXPECT_EQ(call.at("status").at("code").as_int64(), 2) << "STATUS_CODE_ERROR";
}

TEST(exported_traces, are_sent_again_when_the_collector_is_too_busy) {
  std::atomic<int> count = 0;
  hondana_test::scripted_server collector([&](const auto&, auto& at) {
    if (count++ == 0) return at.answer(503, "text/plain", "busy", "Retry-After: 0\r\n");
    return at.answer(200, "application/json", "{}");
  });
  std::string log;
  auto options = options_for(collector);
  options.log = [&log](std::string_view line) { log += std::string(line) + '\n'; };
  const auto made = make_tracer(options);
  ASSERT_TRUE(made);
  (void)(*made)->begin_request("ping", {parent, {}, {}});
  ASSERT_TRUE(flush_traces(**made, soon()));
  const auto heard = collector.requests(2);
  ASSERT_EQ(heard.size(), 2u);
  EXPECT_EQ(heard[0].body, heard[1].body);
  EXPECT_EQ((*made)->dropped(), 0u);
  EXPECT_NE(log.find("503"), std::string::npos) << log;
  EXPECT_NE(log.find("accepts them again"), std::string::npos) << log;
}

TEST(exported_traces, that_are_refused_are_dropped_and_counted) {
  hondana_test::scripted_server collector([](const auto&, auto& at) { return at.answer(400, "text/plain", "no"); });
  const auto made = make_tracer(options_for(collector));
  ASSERT_TRUE(made);
  (void)(*made)->begin_request("ping", {parent, {}, {}});
  (void)(*made)->begin_request("ping", {parent, {}, {}});
  ASSERT_TRUE(flush_traces(**made, soon()));
  EXPECT_EQ(collector.requests(1).size(), 1u) << "it is not asked again";
  EXPECT_EQ((*made)->dropped(), 2u);
}

TEST(exported_traces, may_be_taken_in_part) {
  hondana_test::scripted_server collector([](const auto&, auto& at) {
    return at.answer(200, "application/json", R"({"partialSuccess":{"rejectedSpans":"1","errorMessage":"too old"}})");
  });
  const auto made = make_tracer(options_for(collector));
  ASSERT_TRUE(made);
  for (int i = 0; i < 3; ++i) (void)(*made)->begin_request("ping", {parent, {}, {}});
  ASSERT_TRUE(flush_traces(**made, soon()));
  EXPECT_EQ((*made)->dropped(), 1u);
}

TEST(exported_traces, hold_nobody_up_when_the_collector_does_not_answer) {
  std::atomic<bool> has_gone = false;
  hondana_test::scripted_server collector([&has_gone](const auto&, auto& at) {
    has_gone = at.sees_the_end();
    return false;
  });
  auto options = options_for(collector);
  options.max_queued_spans = 10;
  auto made = make_tracer(options);
  ASSERT_TRUE(made);
  (void)(*made)->begin_request("ping", {parent, {}, {}});
  EXPECT_FALSE(flush_traces(**made, std::chrono::steady_clock::now() + 50ms));
  ASSERT_EQ(collector.requests(1).size(), 1u);
  for (int i = 0; i < 15; ++i) (void)(*made)->begin_request("ping", {parent, {}, {}});
  EXPECT_EQ((*made)->queued(), 10u);
  EXPECT_EQ((*made)->dropped(), 5u);
  EXPECT_FALSE(has_gone);
  made->reset();
  EXPECT_TRUE(hondana_test::eventually([&] { return has_gone.load(); })) << "the request under way is cancelled";
}

TEST(exported_traces, need_a_collector_that_can_be_asked) {
  for (const auto* url : {"", "ftp://localhost/x", "localhost:4318"}) {
    tracing_options options;
    options.url = url;
    const auto made = make_tracer(options);
    ASSERT_FALSE(made) << url;
    EXPECT_EQ(made.error().code, errc::invalid_argument);
  }
  tracing_options options;
  options.url = "http://127.0.0.1:4318/v1/traces";
  options.sample_ratio = 2;
  const auto refused = make_tracer(options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().public_text, "sample_ratio: expected a number from 0 to 1");
  options.sample_ratio = 1;
  const auto needs = otlp::requirements_of(options);
  ASSERT_TRUE(needs);
  EXPECT_EQ(needs->sockets, std::vector<std::string>{"127.0.0.1:4318"});
}

TEST(refused_spans, are_read_from_what_the_collector_answers) {
  EXPECT_EQ(otlp::parse_rejected("{}").count, 0u);
  EXPECT_EQ(otlp::parse_rejected("").count, 0u);
  EXPECT_EQ(otlp::parse_rejected("nonsense").count, 0u);
  EXPECT_EQ(otlp::parse_rejected("[]").count, 0u);
  EXPECT_EQ(otlp::parse_rejected(R"({"partialSuccess":{"rejectedSpans":3}})").count, 3u);
  EXPECT_EQ(otlp::parse_rejected(R"({"partialSuccess":{"rejectedSpans":"-3"}})").count, 0u);
  EXPECT_EQ(otlp::parse_rejected(R"({"partialSuccess":{"errorMessage":"why"}})").reason, "why");
  EXPECT_EQ(otlp::parse_rejected(R"({"partialSuccess":{"errorMessage":"a\n\u001b[31mb"}})").reason, "a  [31mb")
      << "one line of a log";
}

}  // namespace
