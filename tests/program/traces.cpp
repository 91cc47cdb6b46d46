/// What the program tells of itself: figures for Prometheus by HTTP, and traces for a collector, also through a server that is
/// mounted.
#include <signal.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "deadline.hpp"
#include "program/answering_service.hpp"
#include "program/folder.hpp"
#include "program/http_client.hpp"
#include "program/messages.hpp"
#include "program/process.hpp"
#include "program/served.hpp"

namespace {

using program_test::answering_service;
using program_test::asked;
using program_test::folder;
using program_test::http_client;
using program_test::message;
using program_test::page;
using program_test::patience;
using program_test::process;
using program_test::read_request;
using program_test::request;
using program_test::served;
using program_test::well;
using program_test::within;

constexpr std::string_view trace = "0af7651916cd43dd8448eb211c80319c";
constexpr std::string_view caller = "b7ad6b7169203331";

/// A read as part of a trace.
std::string traced_read(const std::string& uri, std::string_view flags = "01") {
  auto text = read_request(1, uri);
  const std::string_view meta = "\"_meta\":{";
  text.insert(text.find(meta) + meta.size(), "\"traceparent\":\"00-" + std::string(trace) + '-' + std::string(caller) + '-' +
                                                 std::string(flags) + "\",\"tracestate\":\"vendor=kept\",");
  return text;
}

answering_service::script collector() {
  return [](const asked&) { return page("{}", "200 OK", "Content-Type: application/json\r\n"); };
}

/// All spans that a collector was sent, by service.
struct told_span {
  std::string service, name, trace, span, parent;
  std::int64_t kind = 0;
};
std::vector<told_span> spans_of(const std::vector<asked>& all) {
  std::vector<told_span> out;
  const auto text = [](const boost::json::value& of) { return std::string(of.as_string()); };
  for (const auto& one : all) {
    const auto body = boost::json::parse(one.body);
    for (const auto& resource : body.at("resourceSpans").as_array()) {
      std::string service;
      for (const auto& each : resource.at("resource").at("attributes").as_array())
        if (each.at("key") == "service.name") service = text(each.at("value").at("stringValue"));
      for (const auto& scope : resource.at("scopeSpans").as_array()) {
        for (const auto& each : scope.at("spans").as_array()) {
          const auto& span = each.as_object();
          out.push_back({service, text(span.at("name")), text(span.at("traceId")), text(span.at("spanId")),
                         span.contains("parentSpanId") ? text(span.at("parentSpanId")) : "",
                         span.at("kind").to_number<std::int64_t>()});
        }
      }
    }
  }
  return out;
}

const told_span* find(const std::vector<told_span>& all, std::string_view service, std::string_view name) {
  for (const auto& one : all)
    if (one.service == service && one.name == name) return &one;
  return nullptr;
}

std::string all_bodies(const answering_service& of) {
  std::string out;
  for (const auto& one : of.requests(0)) out += one.head + one.body + '\n';
  return out;
}

TEST(program_traces, go_to_the_collector_that_the_environment_names) {
  answering_service to(collector());
  const folder what;
  what.put("note.txt", "text");
  process server(
      {"OTEL_EXPORTER_OTLP_ENDPOINT=" + to.url(""), "OTEL_SERVICE_NAME=shelf", HONDANA_PROGRAM, "stdio", what.path()},
      program_test::output_to::pipe, "/usr/bin/env");
  EXPECT_TRUE(server.write(traced_read(what.uri("note.txt")) + '\n', within(patience)));
  EXPECT_TRUE(server.read_line(within(patience)));
  // Before the end of the input, after which there are three seconds for it.
  const auto asked_for = to.requests(1);
  server.end_input();
  EXPECT_EQ(server.leaves(within(patience)), well) << server.errors();
  ASSERT_FALSE(asked_for.empty());
  EXPECT_EQ(asked_for[0].method, "POST");
  EXPECT_EQ(asked_for[0].target, "/v1/traces");
  EXPECT_NE(asked_for[0].head.find("Content-Type: application/json\r\n"), std::string::npos) << asked_for[0].head;
  const auto all = spans_of(asked_for);
  const auto* const served_span = find(all, "shelf", "resources/read");
  ASSERT_NE(served_span, nullptr) << all_bodies(to);
  EXPECT_EQ(served_span->trace, trace);
  EXPECT_EQ(served_span->parent, caller);
  EXPECT_EQ(served_span->kind, 2);
  EXPECT_EQ(all_bodies(to).find("note.txt"), std::string::npos) << "a span names what was read";
}

TEST(program_traces, go_on_through_a_mounted_server) {
  answering_service to(collector());
  const folder what;
  what.put("shelf/note.txt", "text");
  const auto tracing = [&](std::string_view name) {
    return "[tracing]\nendpoint = \"" + to.url("") + "\"\nservice_name = \"" + std::string(name) + "\"\n";
  };
  what.put("inner.toml", tracing("inner") + "[[source]]\ntype = \"files\"\npath = \"shelf\"\n");
  what.put("outer.toml", tracing("outer") + "[[source]]\ntype = \"mcp\"\nname = \"team\"\ncommand = [\"" +
                             std::string(HONDANA_PROGRAM) + "\", \"stdio\", \"--config\", \"" + what.path("inner.toml") +
                             "\"]\n");
  served server({"--config", what.path("outer.toml")});
  http_client by(server.port());
  std::string uri;
  ASSERT_TRUE(hondana_test::eventually([&] {
    const auto listed = message(by.post(request(1, "resources/list"), "resources/list"));
    for (const auto& one : listed.at("result").at("resources").as_array())
      if (one.at("name") == "note.txt") uri = one.at("uri").as_string().c_str();
    return !uri.empty();
  })) << server.program().errors();
  const auto answer = by.post(traced_read(uri), "resources/read", uri);
  EXPECT_NE(answer.find("\"text\":\"text\""), std::string::npos) << answer;
  // Each of them tells when it has not told anything for a while.
  std::vector<told_span> all;
  const auto is_told = [&](std::string_view service) {
    return std::any_of(all.begin(), all.end(), [&](const told_span& one) {
      return one.service == service && one.name == "resources/read" && one.trace == trace;
    });
  };
  EXPECT_TRUE(hondana_test::eventually([&] {
    all = spans_of(to.requests(0));
    return is_told("outer") && is_told("inner");
  }));
  ASSERT_EQ(server.stop(SIGTERM), well) << server.program().errors();
  const auto in_trace = [&](std::string_view service, std::string_view name) -> told_span {
    for (const auto& one : all)
      if (one.service == service && one.name == name && one.trace == trace) return one;
    ADD_FAILURE() << service << " has told no " << name << " of this trace: " << all_bodies(to);
    return {};
  };
  const auto outer = in_trace("outer", "resources/read");
  EXPECT_EQ(outer.parent, caller);
  const auto inner = in_trace("inner", "resources/read");
  told_span between;
  for (const auto& one : all)
    if (one.service == "outer" && one.span == inner.parent) between = one;
  EXPECT_EQ(between.trace, trace);
  EXPECT_EQ(between.parent, outer.span);
  EXPECT_EQ(between.kind, 3) << between.name;
}

TEST(program_traces, that_are_not_recorded_are_not_sent_and_a_lost_collector_holds_nobody_up) {
  answering_service to([](const asked&) { return page("", "503 Service Unavailable", "Retry-After: 60\r\n"); });
  const folder what;
  what.put("note.txt", "text");
  what.put("hondana.toml", "[tracing]\nendpoint = \"" + to.url("") + "\"\n[[source]]\ntype = \"files\"\npath = \".\"\n");
  process server({"stdio", "--config", what.path("hondana.toml")});
  EXPECT_TRUE(server.write(traced_read(what.uri("note.txt"), "00") + '\n', within(patience)));
  EXPECT_TRUE(server.read_line(within(patience)));
  EXPECT_TRUE(server.write(read_request(2, what.uri("note.txt")) + '\n', within(patience)));
  EXPECT_TRUE(server.read_line(within(patience)));
  EXPECT_TRUE(server.error_line_with("traces: cannot be sent to " + to.url(""), within(patience))) << server.errors();
  server.end_input();
  EXPECT_EQ(server.leaves(within(patience)), well) << server.errors();
  EXPECT_EQ(all_bodies(to).find(trace), std::string::npos);
}

TEST(program_figures, are_there_for_prometheus_and_for_no_foreign_page) {
  const folder what;
  what.put("note.txt", "text");
  served server({what.path()});
  http_client by(server.port());
  static_cast<void>(by.post(read_request(1, what.uri("note.txt")), "resources/read", what.uri("note.txt")));
  const auto plain = by.get("/metrics");
  EXPECT_TRUE(plain.starts_with("HTTP/1.1 200 ")) << plain;
  EXPECT_NE(plain.find("Content-Type: text/plain; version=0.0.4"), std::string::npos) << plain.substr(0, 500);
  EXPECT_NE(plain.find("hondana_requests_total{method=\"resources/read\",outcome=\"ok\",protocol=\"modern\"} 1\n"),
            std::string::npos)
      << plain;
  EXPECT_EQ(plain.find(what.path()), std::string::npos) << "names a path";
  const auto open = by.get("/metrics", "Host: localhost\r\nAccept: application/openmetrics-text; version=1.0.0\r\n");
  EXPECT_NE(open.find("Content-Type: application/openmetrics-text; version=1.0.0"), std::string::npos) << open.substr(0, 500);
  EXPECT_TRUE(open.ends_with("# EOF\n"));
  for (const std::string_view fields :
       {"Host: evil.example\r\n", "Host: evil.example:80\r\n", "Host: localhost\r\nOrigin: https://evil.example\r\n",
        "Host: localhost\r\nOrigin: null\r\n", "Host: 127.0.0.1.nip.example\r\n"}) {
    http_client foreign(server.port());
    const auto refused = foreign.get("/metrics", fields);
    EXPECT_TRUE(refused.starts_with("HTTP/1.1 403 ")) << fields << refused.substr(0, 300);
    EXPECT_EQ(refused.find("hondana_requests_total"), std::string::npos);
  }
}

TEST(program_figures, move_to_the_address_for_reports) {
  const folder what;
  what.put("note.txt", "text");
  const auto admin = what.path("admin");
  served server({what.path(), "--admin", admin});
  http_client by(server.port());
  EXPECT_EQ(by.status_of("/metrics"), 404);
  http_client reports(admin);
  EXPECT_NE(reports.get("/metrics").find("\nhondana_build_info{"), std::string::npos);
}

}  // namespace
