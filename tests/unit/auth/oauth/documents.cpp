/// Metadata and redirects as peers write them.
#include <gtest/gtest.h>

#include <string>

#include "auth/oauth/code_request.hpp"
#include "auth/oauth/metadata.hpp"

namespace {

using namespace hondana::oauth;
using hondana::errc;

std::string server_with(const std::string& more) {
  return R"({"issuer":"https://as.example","token_endpoint":"https://as.example/token")" + more + "}";
}

TEST(oauth_metadata, of_a_resource_is_read) {
  const auto got = read_resource_metadata(
      R"({"resource":"https://a.example/mcp","authorization_servers":["https://as.example/x"],"scopes_supported":["b","a"],"z":{}})");
  ASSERT_TRUE(got) << got.error().public_text;
  EXPECT_EQ(got->resource, "https://a.example/mcp");
  EXPECT_EQ(got->authorization_servers, std::vector<std::string>{"https://as.example/x"});
  EXPECT_EQ(got->scopes, (scope_set{"a", "b"}));
}

TEST(oauth_metadata, of_a_resource_that_must_not_be_used_names_the_member) {
  std::string many = R"("https://as.example")";
  for (int i = 0; i < 40; ++i) many += R"(,"https://as.example")";
  const std::vector<std::pair<std::string, std::string>> cases{
      {"<html>", "not valid JSON"},
      {"[]", "not a JSON object"},
      {R"({"authorization_servers":["https://as.example"]})", "resource is missing"},
      {R"({"resource":7,"authorization_servers":["https://as.example"]})", "resource is not a string"},
      {R"({"resource":"https://a.example"})", "authorization_servers is missing or empty"},
      {R"({"resource":"https://a.example","authorization_servers":[]})", "authorization_servers is missing or empty"},
      {R"({"resource":"https://a.example","authorization_servers":"https://as.example"})",
       "authorization_servers is not an array"},
      {R"({"resource":"https://a.example","authorization_servers":[7]})", "authorization_servers contains"},
      {R"({"resource":"https://a.example","authorization_servers":["javascript:x"]})", "the issuer cannot be used"},
      {R"({"resource":"https://a.example","authorization_servers":["http://as.example"]})", "not https:"},
      {R"({"resource":"https://a.example","authorization_servers":["https://as.example"],"scopes_supported":["a b"]})",
       "scopes_supported contains"},
      {R"({"resource":"https://a.example","authorization_servers":[)" + many + "]}", "more than 32"},
      {std::string(300'000, ' '), "not valid JSON"}};
  for (const auto& [text, why] : cases) {
    const auto got = read_resource_metadata(text);
    ASSERT_FALSE(got) << text.substr(0, 80);
    EXPECT_EQ(got.error().code, errc::protocol_error);
    EXPECT_NE(got.error().public_text.find(why), std::string::npos) << got.error().public_text;
  }
}

TEST(oauth_metadata, of_an_authorization_server_is_read) {
  const auto got = read_server_metadata(
      server_with(
          R"(,"authorization_endpoint":"https://as.example/a?b=c","revocation_endpoint":null,"scopes_supported":["x"],)"
          R"("authorization_response_iss_parameter_supported":true,"code_challenge_methods_supported":["plain","S256"])"),
      "https://as.example");
  ASSERT_TRUE(got) << got.error().public_text;
  EXPECT_EQ(got->authorization_endpoint, "https://as.example/a?b=c");
  EXPECT_TRUE(got->revocation_endpoint.empty());
  EXPECT_TRUE(got->sends_issuer);
  EXPECT_FALSE(got->supports_metadata_documents);
  EXPECT_TRUE(check_code_grant(*got, true));
}

TEST(oauth_metadata, another_issuer_is_refused_however_near_it_is) {
  for (const auto* issuer :
       {"https://as.example/", "https://AS.example", "https://as.example:443", "http://as.example", "https://evil.example"}) {
    const auto got = read_server_metadata(server_with(""), issuer);
    ASSERT_FALSE(got) << issuer;
    EXPECT_EQ(got.error().code, errc::protocol_error);
    EXPECT_NE(got.error().public_text.find("its issuer is \""), std::string::npos);
  }
}

TEST(oauth_metadata, endpoints_that_are_no_web_pages_are_refused) {
  for (const auto* member : {"authorization_endpoint", "registration_endpoint", "revocation_endpoint", "token_endpoint"}) {
    for (const auto* url :
         {"javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "https://as.example/$(id)", "http://as.example/"}) {
      const auto text =
          R"({"issuer":"https://as.example",)" +
          std::string(std::string(member) == "token_endpoint" ? "" : R"("token_endpoint":"https://as.example/t",)") + '"' +
          member + R"(":")" + url + "\"}";
      const auto got = read_server_metadata(text, "https://as.example");
      ASSERT_FALSE(got) << text;
      EXPECT_EQ(got.error().code, errc::protocol_error);
      EXPECT_TRUE(got.error().public_text.starts_with(member)) << got.error().public_text;
    }
  }
}

TEST(oauth_metadata, wrong_types_are_named) {
  for (const auto* more : {R"(,"grant_types_supported":"x")", R"(,"authorization_response_iss_parameter_supported":"yes")",
                           R"(,"token_endpoint_auth_methods_supported":[1])", R"(,"registration_endpoint":{})"}) {
    const auto got = read_server_metadata(server_with(more), "https://as.example");
    ASSERT_FALSE(got) << more;
    EXPECT_EQ(got.error().code, errc::protocol_error);
  }
}

TEST(oauth_metadata, silence_about_pkce_is_a_no_unless_the_revision_knew_none) {
  auto of = *read_server_metadata(server_with(R"(,"authorization_endpoint":"https://as.example/a")"), "https://as.example");
  EXPECT_FALSE(check_code_grant(of, true));
  EXPECT_TRUE(check_code_grant(of, false));
  of.challenge_methods = {"plain"};
  EXPECT_FALSE(check_code_grant(of, false));
  of.challenge_methods = {"S256"};
  EXPECT_TRUE(check_code_grant(of, true));
  of.grants = {"client_credentials"};
  EXPECT_FALSE(check_code_grant(of, true));
}

code_request some_login() {
  code_request out;
  out.issuer = "https://as.example";
  out.endpoint = "https://as.example/authorize?tenant=1";
  out.client_id = "me & you";
  out.redirect_uri = "http://127.0.0.1:1/back";
  out.resource = "https://mcp.example";
  out.scopes = {"a", "offline_access"};
  out.state = "the-state";
  out.verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
  return out;
}

TEST(oauth_redirects, the_page_has_all_that_the_specification_asks_for) {
  EXPECT_EQ(authorization_url(some_login()),
            "https://as.example/authorize?tenant=1&response_type=code&client_id=me%20%26%20you&"
            "redirect_uri=http%3A%2F%2F127.0.0.1%3A1%2Fback&state=the-state&"
            "code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256&"
            "resource=https%3A%2F%2Fmcp.example&scope=a%20offline_access&prompt=consent");
}

TEST(oauth_redirects, a_code_is_taken_from_whom_it_was_asked) {
  auto login = some_login();
  EXPECT_EQ(extract_code("http://127.0.0.1:1/back?code=c%2B1&state=the-state", login).value_or(""), "c+1");
  login.sends_issuer = true;
  EXPECT_EQ(extract_code("http://127.0.0.1:1/back?code=c&state=the-state&iss=https%3A%2F%2Fas.example", login).value_or(""),
            "c");
}

TEST(oauth_redirects, a_wrong_state_is_not_believed) {
  for (const auto* query :
       {"?code=c&state=another", "?code=c", "?error=access_denied&error_description=evil", "?code=c&state="}) {
    const auto got = extract_code(std::string("http://127.0.0.1:1/back") + query, some_login());
    ASSERT_FALSE(got) << query;
    EXPECT_EQ(got.error().code, errc::access_denied);
    EXPECT_EQ(got.error().public_text.find("evil"), std::string::npos);
  }
}

TEST(oauth_redirects, a_wrong_issuer_is_not_believed_and_what_it_says_is_not_shown) {
  for (const auto* issuer : {"https%3A%2F%2Fevil.example", "https%3A%2F%2Fas.example%2F", "https%3A%2F%2FAS.example", ""}) {
    const auto got =
        extract_code(std::string("http://127.0.0.1:1/back?error=evil&state=the-state&iss=") + issuer, some_login());
    ASSERT_FALSE(got) << issuer;
    EXPECT_EQ(got.error().code, errc::access_denied);
    EXPECT_EQ(got.error().public_text.find("evil"), std::string::npos) << got.error().public_text;
  }
}

TEST(oauth_redirects, an_issuer_that_announces_its_name_must_say_it) {
  auto login = some_login();
  login.sends_issuer = true;
  const auto got = extract_code("http://127.0.0.1:1/back?code=c&state=the-state", login);
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, errc::access_denied);
}

TEST(oauth_redirects, an_error_is_told_in_plain_characters_and_not_endlessly) {
  const auto got = extract_code(
      "http://127.0.0.1:1/back?state=the-state&error=access_denied&error_description=<b>no</b>%20%C2%9B2J%E6%9C%AC" +
          std::string(5'000, 'x'),
      some_login());
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, errc::unauthorized);
  const auto& text = got.error().public_text;
  EXPECT_NE(text.find("access_denied: <b>no</b> ??2J???"), std::string::npos) << text;
  EXPECT_LT(text.size(), 400u);
  EXPECT_TRUE(std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c < 0x7f; }));
}

TEST(oauth_redirects, what_is_no_answer_to_the_login_is_refused) {
  for (const auto* url :
       {"http://127.0.0.1:2/back?code=c&state=the-state", "http://127.0.0.1:1/backx?code=c&state=the-state", "",
        "http://127.0.0.1:1/back", "http://127.0.0.1:1/back?state=the-state", "http://127.0.0.1:1/back?code=&state=the-state",
        "http://127.0.0.1:1/back?code=a&code=b&state=the-state", "http://127.0.0.1:1/back?code=%1b&state=the-state"}) {
    const auto got = extract_code(url, some_login());
    ASSERT_FALSE(got) << url;
    EXPECT_TRUE(got.error().code == errc::protocol_error || got.error().code == errc::access_denied) << url;
  }
}

}  // namespace
