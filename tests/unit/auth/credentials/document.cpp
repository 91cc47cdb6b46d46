/// Credentials as text: what is written is read again, and what is damaged is named.
#include "auth/credentials/credential_document.hpp"

#include <chrono>
#include <string>

#include <gtest/gtest.h>

namespace {

using namespace hondana::credentials;
using hondana::errc;
using seconds = std::chrono::sys_time<std::chrono::seconds>;

document full() {
  document out;
  hondana::token_record one;
  one.key = {"https://a.example", "https://m.example/mcp?x=\"1\"", "client", "read write"};
  one.tokens = {"access", "refresh", seconds(std::chrono::seconds(2'000)), seconds(std::chrono::seconds(1'000)), "read"};
  out.tokens.push_back(one);
  one.key.scope.clear();
  one.tokens = {"other", {}, std::nullopt, seconds(), ""};
  out.tokens.push_back(one);
  out.registrations["https://a.example"] = {
      {"client", "secret", seconds(std::chrono::seconds(5)), "client_secret_basic", "http://127.0.0.1:1/callback"},
      {"another", {}, std::nullopt, {}, {}}};
  out.registrations["https://b.example"] = {{"public", {}, std::nullopt, "none", {}, "/home/ada/key.pem", true, true}};
  out.keyring_subjects = {"https://m.example/other"};
  return out;
}

TEST(credential_document, is_read_as_it_was_written) {
  for (const auto& one : {document(), full()}) {
    const auto read = decode(encode(one));
    ASSERT_TRUE(read) << read.error().public_text;
    EXPECT_EQ(*read, one);
  }
  EXPECT_EQ(decode(" \n").value_or(full()), document());
}

TEST(credential_document, is_read_from_a_text_that_is_known) {
  const auto read =
      decode(R"({"tokens":[{"issuer":"i","resource":"r","client_id":"c","access_token":"a","since":7,"more":1}],"later":{}})");
  ASSERT_TRUE(read);
  ASSERT_EQ(read->tokens.size(), 1u);
  EXPECT_EQ(read->tokens[0].key, (hondana::token_key{"i", "r", "c", ""}));
  EXPECT_EQ(read->tokens[0].tokens.issued_at, seconds(std::chrono::seconds(7)));
}

TEST(credential_document, that_is_damaged_is_refused_by_name_and_without_its_secrets) {
  const auto expect = [](const std::string& text, const std::string& words) {
    const auto read = decode(text);
    ASSERT_FALSE(read) << text;
    EXPECT_NE(read.error().public_text.find(words), std::string::npos) << read.error().public_text;
    EXPECT_EQ(read.error().public_text.find("s3cret"), std::string::npos) << read.error().public_text;
  };
  const std::string one = R"({"tokens":[{"issuer":"i","resource":"r","client_id":"c",)";
  expect("{", "not valid JSON");
  expect("[]", "object");
  expect(R"({"tokens":{}})", "tokens");
  expect(R"({"tokens":["s3cret"]})", "tokens[]");
  expect(one + R"("refresh_token":"s3cret"}]})", "tokens[].access_token");
  expect(one + R"("access_token":"s3cret","since":"s3cret"}]})", "tokens[].since");
  expect(one + R"("access_token":"s3cret","expires":-1}]})", "is not a time");
  expect(one + R"("access_token":"s3cret","expires":99999999999999}]})", "is not a time");
  expect(R"({"registrations":[{"issuer":"i","client_secret":"s3cret"}]})", "registrations[].client_id");
  expect(R"({"in_keyring":[1]})", "in_keyring[]");
  std::string many = R"({"in_keyring":["a")";
  for (int i = 0; i < 1'001; ++i) many += R"(,"a")";
  expect(many + "]}", "1000");
  EXPECT_EQ(decode(std::string(max_document_bytes + 1, ' ')).error().code, errc::response_too_large);
}

}  // namespace
