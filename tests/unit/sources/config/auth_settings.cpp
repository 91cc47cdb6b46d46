/// The table `[auth]`: what it may say, and where a mistake is.
#include "sources/config/auth_settings.hpp"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "sources/config/settings.hpp"

namespace hondana::config {
namespace {

using words = std::vector<std::string>;

TEST(auth_settings, everything_the_table_can_say_is_read) {
  const auto made = parse(R"([auth]
tokens = "tokens"
scopes = ["mcp"]

[auth.oauth]
issuer = "https://login.example.com"
resource = "https://shelf.example.com/mcp"
audiences = ["shelf"]
jwks_uri = "https://login.example.com/keys"
clock_skew_s = 5
documentation_url = "https://shelf.example.com/help"
ca_file = "ca.pem"
proxy = "http://proxy:3128"

[auth.oauth.introspection]
endpoint = "https://login.example.com/introspect"
client_id = "shelf"
client_secret_file = "secret"
include_jwts = true
audience_is_optional = true

[auth.certificates]
name_kind = "email"

[[auth.certificates.allow]]
name = "alice@example.com"
scopes = ["admin"]

[auth.unix]
users = ["alice", "1000"]

[[auth.rule]]
methods = ["tools/call"]
uris = ["file:///srv/secret/"]
names = ["search_resources"]
scopes = ["search"]

[auth.implied_scopes]
admin = ["mcp", "search"]
)",
                          "/etc/hondana/t.toml");
  ASSERT_TRUE(made) << made.error().public_text;
  const auto& auth = made->auth;
  EXPECT_TRUE(auth.is_present);
  EXPECT_EQ(auth.token_file, "/etc/hondana/tokens");
  ASSERT_TRUE(auth.oauth);
  EXPECT_EQ(auth.oauth->issuer, "https://login.example.com");
  EXPECT_EQ(auth.oauth->resource, "https://shelf.example.com/mcp");
  EXPECT_EQ(auth.oauth->audiences, words{"shelf"});
  EXPECT_EQ(auth.oauth->jwks_uri, "https://login.example.com/keys");
  EXPECT_EQ(auth.oauth->clock_skew.count(), 5);
  EXPECT_EQ(auth.oauth->documentation_url, "https://shelf.example.com/help");
  EXPECT_EQ(auth.oauth->ca_file, "/etc/hondana/ca.pem");
  EXPECT_EQ(auth.oauth->proxy, "http://proxy:3128");
  ASSERT_TRUE(auth.oauth->introspection);
  EXPECT_EQ(auth.oauth->introspection->endpoint, "https://login.example.com/introspect");
  EXPECT_EQ(auth.oauth->introspection->client_id, "shelf");
  EXPECT_EQ(auth.oauth->introspection->secret_file, "/etc/hondana/secret");
  EXPECT_TRUE(auth.oauth->introspection->includes_jwts);
  EXPECT_TRUE(auth.oauth->introspection->audience_is_optional);
  ASSERT_TRUE(auth.certificates);
  EXPECT_EQ(auth.certificates->name_kind, "email");
  ASSERT_EQ(auth.certificates->allowed_names.size(), 1u);
  EXPECT_EQ(auth.certificates->allowed_names[0].first, "alice@example.com");
  EXPECT_EQ(auth.certificates->allowed_names[0].second, words{"admin"});
  EXPECT_EQ(auth.users, (words{"alice", "1000"}));
  EXPECT_EQ(made->scopes.always_required, words{"mcp"});
  ASSERT_EQ(made->scopes.rules.size(), 1u);
  EXPECT_EQ(made->scopes.rules[0].methods, words{"tools/call"});
  EXPECT_EQ(made->scopes.rules[0].uris, words{"file:///srv/secret/"});
  EXPECT_EQ(made->scopes.rules[0].names, words{"search_resources"});
  EXPECT_EQ(made->scopes.rules[0].scopes, words{"search"});
  EXPECT_EQ(made->scopes.implied.at("admin"), (words{"mcp", "search"}));
}

TEST(auth_settings, no_table_asks_nobody_and_an_empty_one_is_told_from_it) {
  EXPECT_FALSE(parse("", "t.toml")->auth.is_present);
  const auto made = parse("[auth]\n", "t.toml");
  ASSERT_TRUE(made);
  EXPECT_TRUE(made->auth.is_present);
  EXPECT_TRUE(made->auth.token_file.empty());
}

TEST(auth_settings, a_mistake_is_named_with_its_line) {
  const std::string oauth = "[auth.oauth]\nissuer = \"https://a\"\nresource = \"https://b\"\n";
  const std::string asking = oauth + "[auth.oauth.introspection]\nendpoint = \"https://a/i\"\nclient_id = \"x\"\n";
  for (const auto& [text, wanted] : std::vector<std::pair<std::string, std::string>>{
           {"[auth]\ntokens = \"\"", "2: auth.tokens: expected the path"},
           {"[auth]\ntoken = \"x\"", "2: auth.token: unknown key; did you mean \"tokens\"? Known here: certificates, "},
           {"[auth]\nscopes = \"x\"", "2: auth.scopes: expected an array of strings"},
           {"[auth]\noauth = 1", "2: auth.oauth: expected a table"},
           {"[auth.oauth]\nresource = \"https://b\"", "1: auth.oauth.issuer: missing"},
           {"[auth.oauth]\nissuer = \"https://a\"", "1: auth.oauth.resource: missing"},
           {oauth + "clock_skew_s = 601", "4: auth.oauth.clock_skew_s: expected an integer from 0 to 600"},
           {oauth + "jwks = \"x\"", "4: auth.oauth.jwks: unknown key; known here: audiences, "},
           {asking, "4: auth.oauth.introspection.client_secret: expected one of client_secret_file"},
           {asking + "client_secret = \"x\"\nclient_secret_file = \"y\"",
            "7: auth.oauth.introspection.client_secret: expected one of client_secret_file"},
           {"[auth.certificates]\nname_kind = \"serial\"", "2: auth.certificates.name_kind: expected \"subject\", "},
           {"[[auth.certificates.allow]]\nscopes = []", "1: auth.certificates.allow.name: missing"},
           {"[auth.certificates]\nscopes = [\"a\"]\n[[auth.certificates.allow]]\nname = \"x\"",
            "2: auth.certificates.scopes: each [[auth.certificates.allow]] has"},
           {"[auth.unix]\nusers = []", "2: auth.unix.users: missing"},
           {"[auth.rule]\nscopes = [\"a\"]", "1: auth.rule: expected tables: write [[auth.rule]] above each"},
           {"[auth]\noauth = 1", "2: auth.oauth: expected a table: write [auth.oauth] above it"},
           {"[[auth.rule]]\nmethods = [\"tools/call\"]", "1: auth.rule.scopes: missing"},
           {"[[auth.rule]]\nscopes = [\"a\"]\nuri = [\"file:///\"]", "3: auth.rule.uri: unknown key"},
           {"[auth]\n\nscopes = [\"a b\"]", "3: auth.scopes: "},
           {"[[auth.rule]]\nscopes = [\"a\"]\n\nmethods = [\"resource/read\"]", "4: auth.rule.methods: "},
           {"[[auth.rule]]\nscopes = [\"a\"]\nuris = [\"no uri\"]", "3: auth.rule.uris: "},
           {"[[auth.rule]]\nscopes = [\"ok\"]\n[[auth.rule]]\n\nscopes = [\"a\\\"b\"]", "5: auth.rule.scopes: "},
           {"[auth.implied_scopes]\nfine = [\"x\"]\nadmin = [\"a b\"]", "3: auth.implied_scopes.admin: "},
           {"[auth.implied_scopes]\n\"a b\" = [\"c\"]", "2: auth.implied_scopes.a b: "},
           {"[auth]\n[auth.implied_scopes]\na = [\"b\"]\nb = [\"a\"]", "2: auth.implied_scopes: Scope rules: the scope"},
           {"[auth.implied_scopes]\nadmin = \"read\"", "2: auth.implied_scopes.admin: expected an array of strings"}}) {
    const auto made = parse(text + '\n', "t.toml");
    ASSERT_FALSE(made) << text;
    EXPECT_EQ(made.error().public_text.rfind("t.toml:" + wanted, 0), 0u) << made.error().public_text;
  }
}

}  // namespace
}  // namespace hondana::config
