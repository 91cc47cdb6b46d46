/// Challenges, scopes, URLs and forms.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "auth/oauth/authorization_urls.hpp"
#include "auth/oauth/code_request.hpp"
#include "auth/oauth/form.hpp"
#include "auth/oauth/scopes.hpp"

namespace {

using namespace hondana::oauth;
using hondana::errc;
using strings = std::vector<std::string>;

TEST(oauth_challenge, the_first_bearer_among_many_says_what_would_help) {
  const auto got =
      find_bearer_challenge({"Negotiate, Basic realm=\"a, b\"",
                             "Digest qop=\"auth\", bearer error=insufficient_scope , Scope=\"files:read  files:write\", "
                             "resource_metadata=\"https://mcp.example/meta?x=\\\"1\"",
                             "Bearer scope=\"other\""});
  EXPECT_EQ(got.metadata_url, "https://mcp.example/meta?x=\"1");
  EXPECT_EQ(got.scopes, (scope_set{"files:read", "files:write"}));
}

TEST(oauth_challenge, a_token68_and_empty_elements_hide_nothing) {
  EXPECT_EQ(find_bearer_challenge({", , Negotiate dG9rZW4=, Bearer scope=a"}).scopes, scope_set{"a"});
}

TEST(oauth_challenge, without_a_bearer_or_with_none_that_can_be_read_nothing_is_said) {
  for (const auto* field :
       {"", "Basic realm=x", "Bearer", "Bearer scope=\"never closed", "=,=,\"", "Bearer scope=\"a\\\\b\""}) {
    const auto got = find_bearer_challenge({field});
    EXPECT_TRUE(got.metadata_url.empty()) << field;
    EXPECT_FALSE(got.scopes) << field;
  }
}

TEST(oauth_scopes, are_sorted_and_each_is_there_once) {
  EXPECT_EQ(scope_string(*read_scopes(" b a  b ")), "a b");
  EXPECT_EQ(scope_string(*read_scopes("")), "");
}

TEST(oauth_scopes, quotes_controls_and_floods_are_none) {
  EXPECT_FALSE(read_scopes("a \"b\""));
  EXPECT_FALSE(read_scopes("a\tb"));
  EXPECT_FALSE(read_scopes("caf\xc3\xa9"));
  EXPECT_FALSE(read_scopes(std::string(9'000, 'a')));
  std::string many;
  for (int i = 0; i < 201; ++i) many += 's' + std::to_string(i) + ' ';
  EXPECT_FALSE(read_scopes(many));
}

TEST(oauth_places, metadata_of_a_server_is_looked_for_below_its_path_and_at_the_root) {
  EXPECT_EQ(resource_metadata_urls("https://a.example/public/mcp"),
            (strings{"https://a.example/.well-known/oauth-protected-resource/public/mcp",
                     "https://a.example/.well-known/oauth-protected-resource"}));
  EXPECT_EQ(resource_metadata_urls("https://a.example:8443"),
            (strings{"https://a.example:8443/.well-known/oauth-protected-resource"}));
  EXPECT_EQ(resource_metadata_urls("https://a.example/mcp?tenant=1").front(),
            "https://a.example/.well-known/oauth-protected-resource/mcp?tenant=1");
}

TEST(oauth_places, the_canonical_url_of_a_server_has_no_fragment_and_no_lone_slash) {
  EXPECT_EQ(canonical_resource("HTTPS://MCP.Example:8443/Mcp?A=b#x").value_or(""), "https://mcp.example:8443/Mcp?A=b");
  EXPECT_EQ(canonical_resource("https://mcp.example/").value_or(""), "https://mcp.example");
  for (const auto* url :
       {"mcp.example", "file:///etc/passwd", "https://me:secret@mcp.example/mcp", "", "https:/mcp.example/x"}) {
    const auto got = canonical_resource(url);
    ASSERT_FALSE(got) << url;
    EXPECT_EQ(got.error().code, errc::invalid_argument);
    EXPECT_EQ(got.error().public_text.find("secret"), std::string::npos);
  }
}

TEST(oauth_places, a_resource_is_the_server_itself_or_what_it_lies_below) {
  const std::string url = "https://mcp.example/team/mcp";
  for (const auto* published : {"https://mcp.example/team/mcp", "https://MCP.example:443/team", "https://mcp.example",
                                "https://mcp.example/", "https://mcp.example/team/"})
    EXPECT_TRUE(is_resource_of(published, url)) << published;
  for (const auto* published :
       {"https://evil.example/team/mcp", "http://mcp.example/team/mcp", "https://mcp.example:8443/team/mcp",
        "https://mcp.example/tea", "https://mcp.example/team/mcp/more", "https://mcp.example/team/mcp?x",
        "https://mcp.example/team/mcp#x", "https://mcp.example@evil.example/team/mcp", "", "team"})
    EXPECT_FALSE(is_resource_of(published, url)) << published;
}

TEST(oauth_places, endpoints_are_https_or_this_machine) {
  for (const auto* url : {"https://as.example/authorize?tenant=a&b=c", "http://127.0.0.1:99/token", "http://localhost/token",
                          "http://[::1]:80/token"})
    EXPECT_TRUE(check_endpoint(url, "it")) << url;
  for (const auto* url :
       {"javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "http://as.example/token", "https://",
        "ftp://as.example/", "https://as.example/$(touch${IFS}x)", "https://as.example/;reboot", "https://as.example/'x'",
        "https://as.example/`id`", "https://as.example/ x", "https://user:password@as.example/", "https://as.example/#x",
        "-https://as.example", "httPs://as.example", "", "http://127.0.0.1.evil.example/", "http://localhost.evil.example/",
        "https://as.example/\x1b[2J"}) {
    const auto got = check_endpoint(url, "token_endpoint");
    ASSERT_FALSE(got) << url;
    EXPECT_EQ(got.error().code, errc::protocol_error);
    EXPECT_TRUE(got.error().public_text.starts_with("token_endpoint cannot be used: ")) << got.error().public_text;
  }
  EXPECT_FALSE(check_issuer("https://as.example/?tenant=1"));
}

TEST(oauth_forms, are_read_as_they_are_written) {
  const fields some{{"a b", "c&d=e"}, {"\xe6\x9c\xac", "+"}};
  EXPECT_EQ(encode_form(some), "a%20b=c%26d%3De&%E6%9C%AC=%2B");
  EXPECT_EQ(read_query(encode_form(some)).value_or(fields()), some);
  EXPECT_EQ(read_query("x=a+b&&y").value_or(fields()), (fields{{"x", "a b"}, {"y", ""}}));
}

TEST(oauth_forms, malformed_doubled_and_endless_queries_are_refused) {
  std::string many;
  for (int i = 0; i < 101; ++i) many += 'n' + std::to_string(i) + "=&";
  for (const auto& query : {std::string("code=%4"), std::string("code=%0a"), std::string("code=a&code=b"),
                            std::string("code=%00"), many, std::string(17'000, 'a')}) {
    const auto got = read_query(query);
    ASSERT_FALSE(got) << query.substr(0, 50);
    EXPECT_EQ(got.error().code, errc::protocol_error);
  }
}

TEST(oauth_secrets, the_challenge_is_that_of_the_rfc) {
  // RFC 7636 appendix B.
  EXPECT_EQ(code_challenge("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"), "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
}

TEST(oauth_secrets, random_texts_are_long_and_differ) {
  const auto one = random_text();
  const auto other = random_text();
  ASSERT_TRUE(one && other);
  EXPECT_EQ(one->size(), 43u);
  EXPECT_NE(*one, *other);
  EXPECT_TRUE(equal_in_constant_time(*one, *one));
  EXPECT_FALSE(equal_in_constant_time(*one, *other));
  EXPECT_FALSE(equal_in_constant_time("a", "ab"));
}

}  // namespace
