/// Which era and revision a message belongs to.
#include "protocol/wire/choose_codec.hpp"

#include <gtest/gtest.h>

#include "base/json/reader.hpp"
#include "protocol/wire/legacy/codec.hpp"

namespace hondana::wire {
namespace {

decoded<const codec*> chosen(const std::string& text, const rpc::request_info& facts = {}, const negotiation& with = {}) {
  const auto document = json::document::parse(text);
  EXPECT_TRUE(document);
  const auto message = rpc::read_message(document->root());
  return choose_codec(std::get<rpc::request>(message), facts, with);
}

rpc::request_info over_http(std::optional<std::string> version) {
  rpc::request_info facts;
  facts.http = rpc::http_headers{std::move(version), {}, {}};
  return facts;
}

std::string initialize(const std::string& revision) {
  return R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":")" + revision + "\"}}";
}

const std::string plain_list = R"({"jsonrpc":"2.0","id":1,"method":"resources/list"})";

std::string declaring(const std::string& revision) {
  return R"({"jsonrpc":"2.0","id":1,"method":"resources/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":")" +
         revision + "\"}}}";
}

TEST(choose, initialize_opens_the_revision_it_names_or_the_newest) {
  EXPECT_EQ((*chosen(initialize("2024-11-05")))->revision(), "2024-11-05");
  EXPECT_EQ((*chosen(initialize("1900-01-01")))->revision(), "2025-11-25");
  EXPECT_EQ((*chosen(initialize("2026-07-28")))->revision(), "2025-11-25");
}

TEST(choose, a_second_initialize_is_refused) {
  negotiation with;
  record_negotiation(with, *legacy::find("2025-06-18"));
  EXPECT_EQ(chosen(initialize("2025-06-18"), {}, with).error().code, -32600);
}

TEST(choose, a_declared_revision_wins_over_what_was_settled) {
  negotiation with;
  record_negotiation(with, *legacy::find("2025-06-18"));
  EXPECT_EQ((*chosen(declaring("2026-07-28"), {}, with))->revision(), "2026-07-28");
  EXPECT_EQ((*chosen(plain_list, {}, with))->revision(), "2025-06-18");
}

TEST(choose, an_unknown_declared_revision_is_unsupported) {
  EXPECT_EQ(chosen(declaring("2099-01-01")).error().code, -32022);
  EXPECT_EQ(chosen(declaring("2025-11-25")).error().code, -32022);
}

TEST(choose, over_http_an_unknown_declared_revision_is_a_mismatch_where_the_header_says_another) {
  EXPECT_EQ(chosen(declaring("2099-01-01"), over_http("2099-01-01")).error().code, -32022);
  EXPECT_EQ(chosen(declaring("2099-01-01"), over_http(std::nullopt)).error().code, -32022);
  const auto refused = chosen(declaring("2099-01-01"), over_http("2026-07-28"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, -32020);
  EXPECT_EQ(refused.error().http_status, 400);
  EXPECT_NE(refused.error().message.find("'2026-07-28' does not match body value '2099-01-01'"), std::string::npos);
}

TEST(choose, over_http_the_handshake_decides_for_undeclared_requests) {
  negotiation with;
  record_negotiation(with, *legacy::find("2025-06-18"));
  EXPECT_EQ((*chosen(plain_list, over_http(std::nullopt), with))->revision(), "2025-06-18");
  EXPECT_EQ((*chosen(plain_list, over_http("2025-06-18"), with))->revision(), "2025-06-18");
  EXPECT_EQ(chosen(plain_list, over_http("1900-01-01"), with).error().code, -32022);
  for (const auto* version : {"2025-03-26", "2025-11-25"}) {
    const auto refused = chosen(plain_list, over_http(version));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, -32600);
    EXPECT_EQ(refused.error().http_status, 400);
  }
  EXPECT_EQ(chosen(plain_list, over_http(std::nullopt)).error().http_status, 400);
}

TEST(choose, over_http_the_header_decides_for_undeclared_requests) {
  EXPECT_EQ((*chosen(plain_list, over_http("2026-07-28")))->revision(), "2026-07-28");
  const auto unknown = chosen(plain_list, over_http("1900-01-01"));
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, -32022);
  EXPECT_EQ(unknown.error().http_status, 400);
  EXPECT_EQ(unknown.error().data,
            R"({"supported":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"],"requested":"1900-01-01"})");
}

TEST(choose, before_a_handshake_only_ping_is_answered_as_legacy) {
  EXPECT_EQ((*chosen(R"({"jsonrpc":"2.0","id":1,"method":"ping"})"))->revision(), "2025-11-25");
  EXPECT_EQ((*chosen(plain_list))->revision(), "2026-07-28");
}

TEST(choose, a_declaration_of_the_wrong_type_is_named) {
  const auto refused = chosen(
      R"({"jsonrpc":"2.0","id":1,"method":"resources/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":7}}})");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, -32602);
  EXPECT_EQ(refused.error().message,
            "Invalid params for resources/list: params._meta.io.modelcontextprotocol/protocolVersion: "
            "expected a string, got a number");
}

TEST(envelopes, errors_without_an_id_follow_the_manners_of_the_revision) {
  const protocol_error error{-32700, "Parse error", {}, 400};
  EXPECT_EQ(wrap_error({}, error, *legacy::find("2025-06-18")),
            R"({"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}})");
  EXPECT_EQ(wrap_error({}, error, *legacy::find("2025-11-25")),
            R"({"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error"}})");
  EXPECT_EQ(wrap_error(rpc::request_id{std::string("a\"b")}, error, *legacy::find("2025-11-25")),
            R"({"jsonrpc":"2.0","id":"a\"b","error":{"code":-32700,"message":"Parse error"}})");
}

TEST(envelopes, progress_repeats_the_token) {
  EXPECT_EQ(progress_notification(model::token{std::string("t")}, {1, 4.0, "reading"}),
            R"({"jsonrpc":"2.0","method":"notifications/progress",)"
            R"("params":{"progressToken":"t","progress":1,"total":4,"message":"reading"}})");
}

}  // namespace
}  // namespace hondana::wire
