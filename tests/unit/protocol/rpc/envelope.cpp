/// Envelopes: what each shape is, and the path named where it is none.
#include "protocol/rpc/message.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include <gtest/gtest.h>

namespace {

using namespace hondana;
using rpc::request_id;

/// A message with the document its values point into.
struct read_text {
  json::document document;
  rpc::message message;
  explicit read_text(std::string_view text)
      : document(json::document::parse(text).value()), message(rpc::read_message(document.root())) {}
};

rpc::malformed malformed(std::string_view text) {
  const read_text read(text);
  if (const auto* found = std::get_if<rpc::malformed>(&read.message)) return *found;
  ADD_FAILURE() << "taken for well-formed: " << text;
  return {};
}

TEST(envelope, of_a_request_has_id_method_and_params) {
  const read_text read(R"({"jsonrpc":"2.0","id":7,"method":"ping","params":{"a":1}})");
  const auto* found = std::get_if<rpc::request>(&read.message);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->id, request_id(std::int64_t{7}));
  EXPECT_EQ(found->method, "ping");
  EXPECT_EQ(found->params.path_of("a"), "params.a");
  EXPECT_EQ(*(**found->params.find("a")).as_integer("a"), 1);
}

TEST(envelope, takes_string_ids_and_absent_params) {
  const read_text read(R"({"method":"ping","id":"","jsonrpc":"2.0"})");
  const auto* found = std::get_if<rpc::request>(&read.message);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->id, request_id(std::string()));
  EXPECT_TRUE(found->params.members().empty());
}

TEST(envelope, without_an_id_is_a_notification) {
  const read_text read(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
  const auto* found = std::get_if<rpc::notification>(&read.message);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->method, "notifications/initialized");
}

TEST(envelope, with_a_result_or_an_error_is_a_response) {
  for (const auto* text : {R"({"jsonrpc":"2.0","id":1,"result":{}})", R"({"jsonrpc":"2.0","id":1,"error":{"code":1}})"}) {
    EXPECT_TRUE(std::holds_alternative<rpc::response>(read_text(text).message)) << text;
  }
}

TEST(envelope, that_is_no_object_is_an_invalid_request) {
  for (const auto* text : {"1", "null", "\"x\"", "[]", "true"}) {
    const auto found = malformed(text);
    EXPECT_EQ(found.code, -32600) << text;
    EXPECT_FALSE(found.id);
  }
}

TEST(envelope, of_a_broken_answer_is_an_answer_still) {
  for (const auto* text : {R"({"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}})", R"({"id":1,"result":{}})",
                           R"({"jsonrpc":"2.0","id":1,"result":1,"error":{}})", R"({"jsonrpc":"2.0","error":7})"}) {
    EXPECT_TRUE(std::holds_alternative<rpc::response>(read_text(text).message)) << text;
  }
}

TEST(envelope, of_a_notification_with_bad_parameters_says_that_it_is_one) {
  EXPECT_TRUE(malformed(R"({"jsonrpc":"2.0","method":"notifications/foo","params":[1]})").is_notification);
  EXPECT_FALSE(malformed(R"({"jsonrpc":"2.0","id":1,"method":"ping","params":[1]})").is_notification);
  EXPECT_FALSE(malformed(R"({"method":"ping"})").is_notification);
}

TEST(envelope, names_the_member_that_is_wrong) {
  const struct {
    const char* text;
    const char* path;
    int code;
    bool has_id;
  } cases[] = {
      {R"({"id":1,"method":"ping"})", "jsonrpc", -32600, true},
      {R"({"jsonrpc":"1.0","id":1,"method":"ping"})", "jsonrpc", -32600, true},
      {R"({"jsonrpc":2.0,"id":1,"method":"ping"})", "jsonrpc", -32600, true},
      {R"({"jsonrpc":"2.0","id":null,"method":"ping"})", "id", -32600, false},
      {R"({"jsonrpc":"2.0","id":1.5,"method":"ping"})", "id", -32600, false},
      {R"({"jsonrpc":"2.0","id":{},"method":"ping"})", "id", -32600, false},
      {R"({"jsonrpc":"2.0","id":true,"method":"ping"})", "id", -32600, false},
      {R"({"jsonrpc":"2.0","id":9223372036854775808,"method":"ping"})", "id", -32600, false},
      {R"({"jsonrpc":"2.0","id":1,"id":2,"method":"ping"})", "id", -32600, false},
      {R"({"jsonrpc":"2.0","id":1})", "method", -32600, true},
      {R"({"jsonrpc":"2.0","id":1,"method":5})", "method", -32600, true},
      {R"({"jsonrpc":"2.0","id":1,"Method":"ping"})", "method", -32600, true},
      {R"({"jsonrpc":"2.0","id":1,"method":"ping","method":"ping"})", "method", -32600, true},
      {R"({"jsonrpc":"2.0","id":1,"method":"ping","params":[]})", "params", -32602, true},
      {R"({"jsonrpc":"2.0","id":1,"method":"ping","params":null})", "params", -32602, true},
      {R"({"jsonrpc":"2.0","method":"ping","params":7})", "params", -32602, false},
  };
  for (const auto& one : cases) {
    const auto found = malformed(one.text);
    EXPECT_EQ(found.code, one.code) << one.text;
    EXPECT_EQ(found.id.has_value(), one.has_id) << one.text;
    EXPECT_NE(found.text.find(std::string(one.path) + ":"), std::string::npos) << one.text << " -> " << found.text;
  }
}

TEST(request_id, is_written_as_json) {
  EXPECT_EQ(rpc::to_json(std::int64_t{-9'223'372'036'854'775'807}), "-9223372036854775807");
  EXPECT_EQ(rpc::to_json(std::string("a\"b")), R"("a\"b")");
}

}  // namespace
