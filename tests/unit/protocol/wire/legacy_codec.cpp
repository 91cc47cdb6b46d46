/// The handshake era: what each revision's codec reads and writes.
#include "protocol/wire/legacy/codec.hpp"

#include <gtest/gtest.h>

#include "base/json/reader.hpp"
#include "protocol/rpc/message.hpp"

namespace hondana::wire::legacy {
namespace {

/// A request parsed from its text; keeps the document alive.
struct parsed_request {
  json::document document;
  rpc::request request;
};

parsed_request request_of(std::string_view text) {
  auto document = json::document::parse(text);
  EXPECT_TRUE(document);
  auto message = rpc::read_message(document->root());
  EXPECT_TRUE(std::holds_alternative<rpc::request>(message)) << text;
  return {std::move(*document), std::get<rpc::request>(std::move(message))};
}

protocol_error refusal_of(std::string_view text, std::string_view revision = "2025-11-25") {
  const auto from = request_of(text);
  auto decoded = find(revision)->decode(from.request, {});
  EXPECT_FALSE(decoded) << text;
  return decoded ? protocol_error{} : decoded.error();
}

model::server_info self() { return {"shelf", "1.2.3", "The shelf", "Read me.", true}; }

model::resource_page full_page() {
  resource one;
  one.uri = "memo:///a";
  one.name = "a";
  one.title = "A";
  one.description = "first";
  one.mime_type = "text/plain";
  one.size = 3;
  one.version = "v1";
  one.annotations = {{chat_role::user, chat_role::assistant},
                     0.5,
                     std::chrono::sys_time<std::chrono::milliseconds>(std::chrono::milliseconds(1736693998000))};
  one.icons = {{"https://example.com/i.png", "image/png", {"48x48"}, "dark"}};
  return {{one}, "next", {}};
}

TEST(legacy_codec, a_request_tells_the_mounts_it_came_through) {
  const auto from =
      request_of(R"({"jsonrpc":"2.0","id":1,"method":"resources/list","params":{"_meta":{"dev.hondana/mounts":["b","a"]}}})");
  EXPECT_EQ(find("2024-11-05")->decode(from.request, {})->mounts, (std::vector<std::string>{"b", "a"}));
  EXPECT_EQ(refusal_of(R"({"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"dev.hondana/mounts":[1]}}})").message,
            "Invalid params for ping: params._meta.dev.hondana/mounts: expected a string, got a number");
}

TEST(legacy_codec, facts_about_contents_are_told_from_the_revision_on_that_has_meta) {
  const auto encoded = [](std::string_view revision) {
    bytes::prepared_read_result reading;
    reading.contents.push_back({"memo:///a",
                                "",
                                "",
                                "text/plain",
                                true,
                                std::make_shared<const std::string>("x"),
                                {{"dev.hondana/redacted", std::int64_t{2}}, {"plain", true}}});
    return find(revision)->encode(std::move(reading), nullptr, {}, self()).extract_text();
  };
  const std::string without = R"({"contents":[{"uri":"memo:///a","mimeType":"text/plain","text":"x"}]})";
  const std::string with =
      R"({"contents":[{"uri":"memo:///a","mimeType":"text/plain","_meta":{"dev.hondana/redacted":2},"text":"x"}]})";
  EXPECT_EQ(encoded("2024-11-05"), without);
  EXPECT_EQ(encoded("2025-03-26"), without);
  EXPECT_EQ(encoded("2025-06-18"), with);
  EXPECT_EQ(encoded("2025-11-25"), with);
}

TEST(legacy_codec, a_request_tells_state_and_baggage_of_its_trace_within_bounds) {
  const auto trace = [](const std::string& more) {
    const auto from = request_of(R"({"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"traceparent":"00-)" +
                                 std::string("4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\"") + more + "}}}");
    return find("2025-11-25")->decode(from.request, {})->trace;
  };
  EXPECT_EQ(trace(R"(,"tracestate":"a=1,b@c=2")").tracestate, "a=1,b@c=2");
  EXPECT_EQ(trace(R"(,"baggage":"user=x;p=1")").baggage, "user=x;p=1");
  EXPECT_EQ(trace(R"(,"tracestate":"a=)" + std::string(511, 'x') + '"').tracestate, "");
  EXPECT_EQ(trace(R"(,"tracestate":"novalue")").tracestate, "");
  EXPECT_EQ(trace(R"(,"tracestate":7)").tracestate, "");
  EXPECT_EQ(trace(R"(,"baggage":")" + std::string(8193, 'x') + '"').baggage, "");
  EXPECT_EQ(trace(R"(,"baggage":"a\nb")").baggage, "");
  std::string many = "a=1";
  for (int i = 0; i < 32; ++i) many += ",k=1";
  EXPECT_EQ(trace(R"(,"tracestate":")" + many + '"').tracestate, "");
}

TEST(legacy_codec, a_request_tells_the_trace_it_belongs_to_and_one_that_is_malformed_is_ignored) {
  const auto trace = [](const std::string& parent) {
    const auto from =
        request_of(R"({"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"traceparent":)" + parent + "}}}");
    return find("2025-11-25")->decode(from.request, {})->trace.traceparent;
  };
  const std::string id = "4bf92f3577b34da6a3ce929d0e0e4736";
  const auto parent_of_now = "00-" + id + "-00f067aa0ba902b7-01";
  EXPECT_EQ(trace('"' + parent_of_now + '"'), parent_of_now);
  EXPECT_EQ(trace("\"01-" + id + "-00f067aa0ba902b7-01-later" + std::string(100'000, 'x') + '"'), parent_of_now)
      << "what nobody knows is not kept";
  for (const auto& parent : std::vector<std::string>{
           std::string("7"), std::string("\"\""), "\"" + id + "\"", "\"00-" + id + "-00f067aa0ba902b7-01x\"",
           "\"ff-" + id + "-00f067aa0ba902b7-01\"", "\"00-" + std::string(32, '0') + "-00f067aa0ba902b7-01\"",
           "\"00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01\"", "\"00-" + id + "-00f067aa0ba902b7-0g\"",
           "\"00-" + id + "_00f067aa0ba902b7-01\""}) {
    EXPECT_EQ(trace(parent), "") << parent;
  }
}

TEST(legacy_codec, there_are_four_revisions) {
  for (const auto* revision : {"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"}) {
    ASSERT_NE(find(revision), nullptr);
    EXPECT_EQ(find(revision)->revision(), revision);
  }
  EXPECT_EQ(find("2026-07-28"), nullptr);
  EXPECT_EQ(find(""), nullptr);
  EXPECT_EQ(newest().revision(), "2025-11-25");
  EXPECT_EQ(headerless_default().revision(), "2025-03-26");
}

TEST(legacy_codec, only_2025_03_26_has_batches) {
  EXPECT_TRUE(find("2025-03-26")->has_batches());
  for (const auto* revision : {"2024-11-05", "2025-06-18", "2025-11-25"}) EXPECT_FALSE(find(revision)->has_batches());
}

TEST(legacy_codec, an_entry_has_just_the_members_of_its_revision) {
  EXPECT_EQ(find("2024-11-05")->encode(full_page(), self()),
            R"({"resources":[{"uri":"memo:///a","name":"a","description":"first","mimeType":"text/plain",)"
            R"("annotations":{"audience":["user","assistant"],"priority":0.5},"size":3}],"nextCursor":"next"})");
  EXPECT_EQ(find("2025-03-26")->encode(full_page(), self()), find("2024-11-05")->encode(full_page(), self()));
  EXPECT_EQ(find("2025-06-18")->encode(full_page(), self()),
            R"({"resources":[{"uri":"memo:///a","name":"a","title":"A","description":"first","mimeType":"text/plain",)"
            R"("annotations":{"audience":["user","assistant"],"priority":0.5,"lastModified":"2025-01-12T14:59:58Z"},"size":3,)"
            R"("_meta":{"dev.hondana/version":"v1"}}],"nextCursor":"next"})");
  EXPECT_EQ(find("2025-11-25")->encode(full_page(), self()),
            R"({"resources":[{"uri":"memo:///a","name":"a","title":"A","description":"first","mimeType":"text/plain",)"
            R"("annotations":{"audience":["user","assistant"],"priority":0.5,"lastModified":"2025-01-12T14:59:58Z"},)"
            R"("icons":[{"src":"https://example.com/i.png","mimeType":"image/png","sizes":["48x48"],"theme":"dark"}],"size":3,)"
            R"("_meta":{"dev.hondana/version":"v1"}}],"nextCursor":"next"})");
}

TEST(legacy_codec, the_completions_capability_came_with_2025_03_26) {
  EXPECT_EQ(find("2024-11-05")->encode_handshake(self()),
            R"({"protocolVersion":"2024-11-05","capabilities":{"resources":{},"experimental":)"
            R"({"dev.hondana/versioned-resources":{}}},)"
            R"("serverInfo":{"name":"shelf","version":"1.2.3"},"instructions":"Read me."})");
  EXPECT_EQ(find("2025-03-26")->encode_handshake(self()),
            R"({"protocolVersion":"2025-03-26","capabilities":{"resources":{},"completions":{},"experimental":)"
            R"({"dev.hondana/versioned-resources":{}}},)"
            R"("serverInfo":{"name":"shelf","version":"1.2.3"},"instructions":"Read me."})");
  EXPECT_EQ(find("2025-06-18")->encode_handshake(self()),
            R"({"protocolVersion":"2025-06-18","capabilities":{"resources":{},"completions":{},"experimental":)"
            R"({"dev.hondana/versioned-resources":{}}},)"
            R"("serverInfo":{"name":"shelf","title":"The shelf","version":"1.2.3"},"instructions":"Read me."})");
}

TEST(legacy_codec, a_server_without_templates_claims_no_completions) {
  EXPECT_EQ(find("2025-11-25")->encode_handshake({"s", "1", "", "", false}),
            R"({"protocolVersion":"2025-11-25","capabilities":{"resources":{},"experimental":)"
            R"({"dev.hondana/versioned-resources":{}}},"serverInfo":{"name":"s","version":"1"}})");
}

TEST(legacy_codec, contents_show_name_and_title_to_2025_06_18_only) {
  const auto reading = [] {
    bytes::prepared_read_result made;
    made.contents.push_back({"memo:///a", "a", "A", "text/plain", true, std::make_shared<const std::string>("say \"hi\"\n")});
    return made;
  };
  EXPECT_EQ(find("2025-06-18")->encode(reading(), nullptr, {}, self()).extract_text(),
            R"({"contents":[{"uri":"memo:///a","name":"a","title":"A","mimeType":"text/plain","text":"say \"hi\"\n"}]})");
  EXPECT_EQ(find("2025-11-25")->encode(reading(), nullptr, {}, self()).extract_text(),
            R"({"contents":[{"uri":"memo:///a","mimeType":"text/plain","text":"say \"hi\"\n"}]})");
}

TEST(legacy_codec, a_resource_that_is_missing_or_denied_is_not_found_either_way) {
  for (const auto code : {errc::resource_not_found, errc::access_denied}) {
    const auto error = newest().encode_failure({code, "secret text", "x"}, "memo:///zzz");
    EXPECT_EQ(error.code, -32002);
    EXPECT_EQ(error.message, "Resource not found");
    EXPECT_EQ(error.data, R"({"uri":"memo:///zzz"})");
  }
}

TEST(legacy_codec, an_internal_failure_keeps_its_private_text) {
  const auto error = newest().encode_failure({errc::internal, "", "core dumped at /srv"}, "memo:///a");
  EXPECT_EQ(error.code, -32603);
  EXPECT_EQ(error.message, "Internal error");
  EXPECT_TRUE(error.data.empty());
}

TEST(legacy_codec, our_own_codes_lie_outside_the_reserved_range) {
  for (const auto code : {errc::response_too_large, errc::content_changed, errc::timed_out, errc::overloaded,
                          errc::source_unavailable, errc::cancelled}) {
    EXPECT_GT(newest().encode_failure({code, "t", ""}, "").code, -32000);
  }
}

TEST(legacy_codec, decode_errors_name_the_member) {
  EXPECT_EQ(refusal_of(R"({"jsonrpc":"2.0","id":1,"method":"resources/read"})").message,
            "Invalid params for resources/read: params.uri: missing");
  EXPECT_EQ(refusal_of(R"({"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":7}})").message,
            "Invalid params for resources/read: params.uri: expected a string, got a number");
  EXPECT_EQ(refusal_of(R"({"jsonrpc":"2.0","id":1,"method":"resources/list","params":{"cursor":null}})").message,
            "Invalid params for resources/list: params.cursor: expected a string, got null");
  EXPECT_EQ(
      refusal_of(R"({"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{"ref":{"type":"ref/tool","name":"x"}}})")
          .message,
      "Invalid params for completion/complete: params.ref.type: expected \"ref/resource\" or \"ref/prompt\"");
  EXPECT_EQ(refusal_of(R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}})").message,
            "Invalid params for initialize: params.capabilities: missing");
  EXPECT_EQ(
      refusal_of(
          R"({"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"memo:///a","_meta":{"progressToken":1.5}}})")
          .message,
      "Invalid params for resources/read: params._meta.progressToken: expected a string or an integer");
}

TEST(legacy_codec, a_modern_method_is_absent) {
  const auto error = refusal_of(R"({"jsonrpc":"2.0","id":1,"method":"server/discover"})");
  EXPECT_EQ(error.code, -32601);
  EXPECT_EQ(error.message, "Method not found: server/discover (revision 2025-11-25)");
}

TEST(legacy_codec, completion_keeps_the_chosen_arguments) {
  const auto from = request_of(
      R"({"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{"ref":{"type":"ref/resource","uri":"t:///{a}{?b}"},)"
      R"("argument":{"name":"a","value":"x"},"context":{"arguments":{"b":"y"}}}})");
  const auto decoded = newest().decode(from.request, {});
  ASSERT_TRUE(decoded);
  const auto& what = std::get<model::complete>(decoded->operation);
  EXPECT_EQ(what.template_uri, "t:///{a}{?b}");
  EXPECT_EQ(what.argument, "a");
  EXPECT_EQ(what.value, "x");
  EXPECT_EQ(what.context, (std::vector<std::pair<std::string, std::string>>{{"b", "y"}}));
}

TEST(legacy_codec, completion_has_context_from_2025_06_18_on) {
  const auto from = request_of(
      R"({"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{"ref":{"type":"ref/resource","uri":"t:///{a}{?b}"},)"
      R"("argument":{"name":"a","value":"x"},"context":{"arguments":{"b":7}}}})");
  for (const auto* revision : {"2024-11-05", "2025-03-26"}) {
    const auto decoded = find(revision)->decode(from.request, {});
    ASSERT_TRUE(decoded) << revision;  // a member that means nothing there
    EXPECT_TRUE(std::get<model::complete>(decoded->operation).context.empty());
  }
  for (const auto* revision : {"2025-06-18", "2025-11-25"}) {
    const auto decoded = find(revision)->decode(from.request, {});
    ASSERT_FALSE(decoded) << revision;
    EXPECT_EQ(decoded.error().code, -32602);
    EXPECT_EQ(decoded.error().message,
              "Invalid params for completion/complete: params.context.arguments.b: expected a string, got a number");
  }
}

TEST(legacy_codec, what_is_completed_is_bounded) {
  const auto request = [](const std::string& ref, std::size_t value, const std::string& context) {
    return R"({"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{"ref":)" + ref +
           R"(,"argument":{"name":"a","value":")" + std::string(value, 'x') + R"("},"context":{"arguments":{)" + context +
           "}}}}";
  };
  const std::string resource = R"({"type":"ref/resource","uri":"t:///{a}"})";
  const std::string prompt = R"({"type":"ref/prompt","name":"p"})";
  std::string many = R"("v":"x")";
  for (int i = 0; i < 256; ++i) many += ",\"v" + std::to_string(i) + "\":\"x\"";
  const std::string invalid = "Invalid params for completion/complete: ";
  EXPECT_EQ(refusal_of(request(resource, 8193, "")).message, invalid + "params.argument.value: longer than 8192 bytes");
  EXPECT_EQ(refusal_of(request(resource, 1, R"("b":")" + std::string(8193, 'x') + '"')).message,
            invalid + "params.context.arguments.b: longer than 8192 bytes");
  EXPECT_EQ(refusal_of(request(resource, 1, many)).message, invalid + "params.context.arguments: more than 256 members");
  for (const auto& fits : {request(resource, 8192, ""), request(prompt, 8193, many)}) {
    EXPECT_TRUE(newest().decode(request_of(fits).request, {}));
  }
}

TEST(legacy_codec, at_most_a_hundred_completions_are_sent) {
  complete_result many;
  many.values.assign(150, "v");
  const auto text = newest().encode(many, self());
  EXPECT_NE(text.find(R"("hasMore":true)"), std::string::npos);
  std::size_t count = 0;
  for (std::size_t at = text.find("\"v\""); at != std::string::npos; at = text.find("\"v\"", at + 1)) ++count;
  EXPECT_EQ(count, 100u);
}

TEST(legacy_codec, completions_say_whether_there_are_more_and_how_many) {
  for (const bool has_more : {false, true}) {
    complete_result some;
    some.values.assign(100, "v");
    some.has_more = has_more;
    auto text = newest().encode(some, self());
    EXPECT_NE(text.find(has_more ? R"("hasMore":true)" : R"("hasMore":false)"), std::string::npos) << text;
    EXPECT_EQ(text.find("total"), std::string::npos) << text;
    some.total = 250;
    text = newest().encode(some, self());
    EXPECT_NE(text.find(R"("total":250)"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace hondana::wire::legacy
