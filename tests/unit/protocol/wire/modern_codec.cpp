/// The stateless era: declarations, mirrored headers, answers.
#include "protocol/wire/modern/codec.hpp"

#include <gtest/gtest.h>

#include "base/json/reader.hpp"
#include "protocol/rpc/message.hpp"
#include "protocol/wire/modern/requests.hpp"

namespace hondana::wire::modern {
namespace {

struct parsed_request {
  json::document document;
  rpc::request request;
};

parsed_request request_of(const std::string& text) {
  auto document = json::document::parse(text);
  EXPECT_TRUE(document);
  auto message = rpc::read_message(document->root());
  EXPECT_TRUE(std::holds_alternative<rpc::request>(message)) << text;
  return {std::move(*document), std::get<rpc::request>(std::move(message))};
}

const std::string declared =
    R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}})";

std::string read_request(const std::string& uri) {
  return R"({"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":")" + uri + "\"," + declared + "}}";
}

rpc::http_headers headers(std::string name) { return {"2026-07-28", "resources/read", std::move(name)}; }

std::optional<protocol_error> mismatch(const std::string& uri, const rpc::http_headers& with) {
  const auto from = request_of(read_request(uri));
  return header_mismatch(from.request, "2026-07-28", with);
}

TEST(modern_codec, a_request_without_declarations_is_refused_with_its_path) {
  const auto refuse = [](const std::string& params) {
    const auto from = request_of(R"({"jsonrpc":"2.0","id":1,"method":"resources/list","params":)" + params + "}");
    auto decoded = current().decode(from.request, {});
    EXPECT_FALSE(decoded);
    EXPECT_EQ(decoded.error().code, -32602);
    EXPECT_EQ(decoded.error().http_status, 400);
    return decoded.error().message;
  };
  EXPECT_EQ(
      refuse("{}"),
      "Invalid params for resources/list: params._meta: missing; declare "
      "io.modelcontextprotocol/protocolVersion and io.modelcontextprotocol/clientCapabilities in it, or open with initialize");
  EXPECT_EQ(refuse(R"({"_meta":{}})"),
            "Invalid params for resources/list: params._meta.io.modelcontextprotocol/protocolVersion: missing");
  EXPECT_EQ(refuse(R"({"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}})"),
            "Invalid params for resources/list: params._meta.io.modelcontextprotocol/clientCapabilities: missing");
}

TEST(modern_codec, a_request_tells_the_mounts_it_came_through) {
  const auto decode = [](const std::string& mounts) {
    const auto from = request_of(R"({"jsonrpc":"2.0","id":1,"method":"resources/list","params":{)" +
                                 declared.substr(0, declared.size() - 1) + R"(,"dev.hondana/mounts":)" + mounts + "}}}");
    return current().decode(from.request, {});
  };
  EXPECT_EQ(decode(R"(["b","a"])")->mounts, (std::vector<std::string>{"b", "a"}));
  EXPECT_EQ(decode("7").error().message,
            "Invalid params for resources/list: params._meta.dev.hondana/mounts: expected an array, got a number");
  const auto too_much =
      "Invalid params for resources/list: params._meta.dev.hondana/mounts: expected at most 32 ids of at most 64 bytes";
  EXPECT_EQ(decode("[\"" + std::string(65, 'x') + "\"]").error().message, too_much);
  std::string many = "\"0\"";
  for (int i = 0; i < 32; ++i) many += ",\"x\"";
  EXPECT_EQ(decode('[' + many + ']').error().message, too_much);
}

TEST(modern_codec, an_unknown_method_travels_under_404) {
  const auto from = request_of(R"({"jsonrpc":"2.0","id":1,"method":"ping","params":{)" + declared + "}}");
  const auto decoded = current().decode(from.request, {});
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().code, -32601);
  EXPECT_EQ(decoded.error().http_status, 404);
}

TEST(modern_codec, failures_with_the_same_number_name_their_reason) {
  for (const auto code : {errc::part_not_found, errc::unreadable, errc::unsupported}) {
    const auto named = current().encode_failure({code, "x", ""}, "memo:///a");
    EXPECT_EQ(named.code, -32602);
    EXPECT_EQ(named.message, "x");
    EXPECT_EQ(named.data, R"({"reason":")" + std::string(name_of(code)) + "\"}");
  }
}

TEST(modern_codec, a_missing_resource_is_invalid_params_with_the_uri_and_nothing_else) {
  const auto error = current().encode_failure({errc::resource_not_found, "x", ""}, "memo:///zzz");
  EXPECT_EQ(error.code, -32602);
  EXPECT_EQ(error.message, "Resource not found");
  EXPECT_EQ(error.data, R"({"uri":"memo:///zzz"})");
}

TEST(modern_codec, every_result_is_typed_cacheable_and_signed) {
  const model::server_info self{"shelf", "1.2.3", "", "", true};
  EXPECT_EQ(current().encode_handshake(self),
            R"({"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"resources":{},"completions":{},)"
            R"("extensions":{"dev.hondana/versioned-resources":{}}},)"
            R"("ttlMs":0,"cacheScope":"public",)"
            R"("_meta":{"io.modelcontextprotocol/serverInfo":{"name":"shelf","version":"1.2.3"}}})");
  EXPECT_EQ(current().encode(model::resource_page{{}, "", {std::chrono::milliseconds(2000), true}}, self),
            R"({"resultType":"complete","resources":[],"nextCursor":"","ttlMs":2000,"cacheScope":"private",)"
            R"("_meta":{"io.modelcontextprotocol/serverInfo":{"name":"shelf","version":"1.2.3"}}})");
  bytes::prepared_read_result reading;
  reading.version = "v7";
  reading.contents.push_back({"memo:///b", "b", "", "image/png", false, std::make_shared<const std::string>("\x89PNG")});
  EXPECT_EQ(current().encode(std::move(reading), nullptr, {}, self).extract_text(),
            R"({"resultType":"complete","contents":[{"uri":"memo:///b","mimeType":"image/png",)"
            R"("_meta":{"dev.hondana/version":"v7"},"blob":"iVBORw=="}],"ttlMs":0,"cacheScope":"public",)"
            R"("_meta":{"io.modelcontextprotocol/serverInfo":{"name":"shelf","version":"1.2.3"}}})");
}

metadata facts() {
  return {{"dev.hondana/redacted", std::int64_t{2}},
          {"dev.example/active", true},
          {"plain", std::string("x")},
          {"dev.hondana/version", std::string("of nobody")},
          {"io.modelcontextprotocol/serverInfo", std::string("of the protocol")}};
}

TEST(modern_codec, facts_whose_names_have_a_prefix_stand_in_the_meta_of_contents_and_entries) {
  const model::server_info self{"s", "1", "", "", false};
  const auto one = [](std::string uri) {
    return bytes::prepared_content{std::move(uri), "a", "", "text/plain", true, std::make_shared<const std::string>("x"),
                                   facts()};
  };
  bytes::prepared_read_result reading;
  reading.version = "v7";
  reading.contents.push_back(one("memo:///a"));
  reading.contents.push_back(one("memo:///b"));
  const auto text = current().encode(std::move(reading), nullptr, {}, self).extract_text();
  EXPECT_NE(text.find(R"({"uri":"memo:///a","mimeType":"text/plain","_meta":{"dev.hondana/version":"v7",)"
                      R"("dev.hondana/redacted":2,"dev.example/active":true},"text":"x"},)"
                      R"({"uri":"memo:///b","mimeType":"text/plain","_meta":{"dev.hondana/redacted":2,)"
                      R"("dev.example/active":true},"text":"x"}])"),
            std::string::npos)
      << text;

  resource entry;
  entry.uri = "memo:///a";
  entry.name = "a";
  entry.metadata = facts();
  const auto page = current().encode(model::resource_page{{entry}, {}, {}}, self);
  EXPECT_NE(page.find(R"([{"uri":"memo:///a","name":"a","_meta":{"dev.hondana/redacted":2,"dev.example/active":true}}])"),
            std::string::npos)
      << page;

  entry.metadata.clear();
  const auto got = current().encode_resource(entry, one("memo:///a"), nullptr, {}, self).extract_text();
  EXPECT_NE(got.find(R"("contents":{"contentType":"text/plain","_meta":{"dev.hondana/redacted":2,"dev.example/active":true},)"
                     R"("content":"x"})"),
            std::string::npos)
      << got;
}

TEST(modern_codec, entries_and_embedded_contents_that_a_browser_would_run_are_labelled_once) {
  const model::server_info self{"s", "1", "", "", false};
  resource page;
  page.uri = "memo:///a";
  page.name = "a";
  page.mime_type = "text/html";
  page.metadata = {{"dev.hondana/active", std::string("text/plain")}};
  auto notes = page;
  notes.mime_type = "text/plain";
  notes.metadata = {{"dev.hondana/active", std::string("text/html")}};
  const auto list = current().encode(model::resource_page{{page, notes}, {}, {}}, self);
  EXPECT_NE(list.find(R"([{"uri":"memo:///a","name":"a","mimeType":"text/html","_meta":{"dev.hondana/active":"text/html"}},)"
                      R"({"uri":"memo:///a","name":"a","mimeType":"text/plain","_meta":{"dev.hondana/active":"text/html"}}])"),
            std::string::npos)
      << list;
  tool_result answer;
  answer.content.emplace_back(embedded_block{"memo:///b", "image/svg+xml", "<svg/>"});
  answer.content.emplace_back(embedded_block{"memo:///c", "text/plain", "<script>alert(1)</script>"});
  answer.content.emplace_back(embedded_block{"memo:///d", "text/plain", "words"});
  const auto told = current().encode(answer, self);
  EXPECT_NE(told.find(R"("uri":"memo:///b","mimeType":"image/svg+xml","_meta":{"dev.hondana/active":"image/svg+xml"})"),
            std::string::npos)
      << told;
  EXPECT_NE(told.find(R"("uri":"memo:///c","mimeType":"text/plain","_meta":{"dev.hondana/active":"text/html"})"),
            std::string::npos)
      << told;
  EXPECT_NE(told.find(R"("uri":"memo:///d","mimeType":"text/plain","text")"), std::string::npos) << told;
}

TEST(headers, agreeing_ones_pass) { EXPECT_FALSE(mismatch("memo:///a", headers("memo:///a"))); }

TEST(headers, each_missing_or_differing_one_is_named) {
  const auto expect = [](const rpc::http_headers& with, std::string_view text) {
    const auto error = mismatch("memo:///a", with);
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code, -32020);
    EXPECT_EQ(error->http_status, 400);
    EXPECT_EQ(error->message, text);
  };
  expect({std::nullopt, "resources/read", "memo:///a"},
         "Header mismatch: MCP-Protocol-Version is missing; it must repeat the body's value");
  expect({"2025-11-25", "resources/read", "memo:///a"},
         "Header mismatch: MCP-Protocol-Version header value '2025-11-25' does not match body value '2026-07-28'");
  expect({"2026-07-28", std::nullopt, "memo:///a"}, "Header mismatch: Mcp-Method is missing; it must repeat the body's method");
  expect({"2026-07-28", "Resources/read", "memo:///a"},
         "Header mismatch: Mcp-Method header value 'Resources/read' does not match body value 'resources/read'");
  expect({"2026-07-28", "resources/read", std::nullopt},
         "Header mismatch: Mcp-Name is missing; it must repeat the body's value");
  expect({"2026-07-28", "resources/read", "memo:///b"},
         "Header mismatch: Mcp-Name header value 'memo:///b' does not match body value 'memo:///a'");
}

TEST(headers, an_encoded_value_is_decoded_before_comparing) {
  // "memo:///日" in UTF-8.
  EXPECT_FALSE(mismatch("memo:///日", headers("=?base64?bWVtbzovLy/ml6U=?=")));
  EXPECT_TRUE(mismatch("memo:///日", headers("=?base64?bWVtbzovLy8=?=")));
}

TEST(headers, a_value_that_looks_like_the_marker_must_be_encoded) {
  EXPECT_EQ(header_value("=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="), "=?base64?literal?=");
  EXPECT_EQ(header_value("=?BASE64?literal?="), "=?BASE64?literal?=");
  EXPECT_EQ(header_value("=?base64?"), "=?base64?");
}

TEST(headers, malformed_values_are_refused) {
  EXPECT_EQ(header_value("=?base64?%%%?="), std::nullopt);
  EXPECT_EQ(header_value("=?base64?gICA?="), std::nullopt);  // not UTF-8
  EXPECT_EQ(header_value("caf\xc3\xa9"), std::nullopt);
  EXPECT_EQ(header_value(std::string_view("a\0b", 3)), std::nullopt);
}

}  // namespace
}  // namespace hondana::wire::modern
