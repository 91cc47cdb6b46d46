/// Challenges, metadata and the tokens of requests, as text.
#include "transport/http_server/authentication.hpp"

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace {

namespace http = hondana::transport::http_server;
using hondana::protected_resource;
using namespace std::string_view_literals;

std::string token(std::vector<std::string_view> values) {
  http::request_head head;
  for (const auto one : values) head.fields.push_back({"authorization", one});
  const auto read = http::parse_bearer(head);
  return !read ? "refused: " + std::string(read.error()) : read->value_or("none");
}

TEST(credentials, are_the_token_of_the_scheme_bearer_in_any_case) {
  EXPECT_EQ(token({"Bearer abc"}), "abc");
  EXPECT_EQ(token({"bearer  a-b._~+/c=="}), "a-b._~+/c==");
  EXPECT_EQ(token({"BEARER abc"}), "abc");
}

TEST(credentials, of_other_schemes_count_as_none) {
  EXPECT_EQ(token({}), "none");
  EXPECT_EQ(token({""}), "none");
  EXPECT_EQ(token({"Basic YWxpY2U6c2VjcmV0"}), "none");
  EXPECT_EQ(token({"Bearertoken abc"}), "none");
  EXPECT_EQ(token({"Bearer"}), "none");
  EXPECT_EQ(token({"Bearer  "}), "none");
}

TEST(credentials, that_are_ambiguous_or_malformed_are_refused_without_repeating_them) {
  EXPECT_EQ(token({"Bearer abc", "Bearer abc"}), "refused: the header Authorization occurs more than once");
  EXPECT_EQ(token({"Basic eA==", "Bearer abc"}), "refused: the header Authorization occurs more than once");
  EXPECT_EQ(token({"Bearer a\tb"}), "refused: the header Authorization has a control character");
  EXPECT_EQ(token({"Bearer a\x7f"}), "refused: the header Authorization has a control character");
  EXPECT_EQ(token({"Bearer a\0b"sv}), "refused: the header Authorization has a control character");
  for (const auto one : {"Bearer a b"sv, "Bearer \"abc\""sv, "Bearer a,b"sv, "Bearer a=b"sv, "Bearer ="sv,
                         "Bearer abc, Basic eA=="sv, "Bearer \xc3\xa4"sv}) {
    EXPECT_TRUE(token({one}).starts_with("refused: the token has invalid characters.")) << one;
    EXPECT_EQ(token({one}).find("abc"), std::string::npos);
  }
}

TEST(challenge_line, says_nothing_of_errors_when_nothing_was_sent) {
  EXPECT_EQ(
      http::challenge_line("https://a.example/.well-known/oauth-protected-resource/mcp", {}, "ignored", {"files:read", "mcp"}),
      "WWW-Authenticate: Bearer resource_metadata=\"https://a.example/.well-known/oauth-protected-resource/mcp\", "
      "scope=\"files:read mcp\"\r\n");
  EXPECT_EQ(http::challenge_line({}, {}, {}, {}), "WWW-Authenticate: Bearer realm=\"mcp\"\r\n");
}

TEST(challenge_line, stays_one_line_of_what_may_be_there) {
  EXPECT_EQ(http::challenge_line({}, "invalid_token", "the \"token\"\r\nX: y \\ has expired \xc3\xa4", {"a\"b"}),
            "WWW-Authenticate: Bearer error=\"invalid_token\", error_description=\"the 'token'??X: y ? has expired ??\", "
            "scope=\"a'b\"\r\n");
}

TEST(metadata, of_a_server_without_a_name_is_about_what_the_client_calls_it) {
  protected_resource what;
  what.authorization_servers = {"https://issuer.example"};
  EXPECT_EQ(
      http::metadata_json(what, "http://localhost:7325", "/mcp"),
      R"({"resource":"http://localhost:7325/mcp","authorization_servers":["https://issuer.example"],"bearer_methods_supported":["header"]})");
  EXPECT_EQ(http::metadata_json(what, "https://a.example", "").value_or("none").substr(0, 31),
            R"({"resource":"https://a.example")");
  EXPECT_EQ(http::metadata_json(what, "https://a.example", "/sse").value_or("none").substr(0, 35),
            R"({"resource":"https://a.example/sse")");
  EXPECT_EQ(http::metadata_json(what, "https://a.example", "/"), std::nullopt);
  EXPECT_EQ(http::metadata_json(what, "https://a.example", "/other"), std::nullopt);
  EXPECT_EQ(http::metadata_json(what, "https://a.example", "s"), std::nullopt);
  EXPECT_EQ(http::metadata_url(what, "https://a.example", "/mcp"),
            "https://a.example/.well-known/oauth-protected-resource/mcp");
}

TEST(metadata, of_a_server_with_a_name_is_where_that_name_says) {
  protected_resource what;
  what.resource = "https://tools.example/team/mcp";
  what.authorization_servers = {"https://issuer.example"};
  what.supported_scopes = {"read", "write"};
  what.name = "The team's shelf";
  what.documentation_url = "https://tools.example/help";
  const auto text =
      R"({"resource":"https://tools.example/team/mcp","authorization_servers":["https://issuer.example"],)"
      R"("scopes_supported":["read","write"],"bearer_methods_supported":["header"],"resource_name":"The team's shelf",)"
      R"("resource_documentation":"https://tools.example/help"})";
  EXPECT_EQ(http::metadata_json(what, "http://10.0.0.1", "/mcp"), text);
  EXPECT_EQ(http::metadata_json(what, "http://10.0.0.1", "/team/mcp"), text);
  EXPECT_EQ(http::metadata_json(what, "http://10.0.0.1", "/team"), std::nullopt);
  EXPECT_EQ(http::metadata_url(what, "http://10.0.0.1", "/mcp"),
            "https://tools.example/.well-known/oauth-protected-resource/team/mcp");
  what.resource = "https://tools.example/";
  EXPECT_EQ(http::metadata_url(what, "http://10.0.0.1", "/mcp"), "https://tools.example/.well-known/oauth-protected-resource");
  what.resource = "https://tools.example";
  EXPECT_EQ(http::metadata_url(what, "http://10.0.0.1", "/sse"), "https://tools.example/.well-known/oauth-protected-resource");
}

}  // namespace
