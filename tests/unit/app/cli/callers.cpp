/// Telling callers apart: from settings to an authenticator, and how long a token lasts.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "app/cli/callers/authenticators.hpp"
#include "app/cli/callers/token_command.hpp"
#include "auth/authentication/token_file.hpp"
#include "os/disk/private_file.hpp"

namespace hondana::cli {
namespace {

TEST(lifetime, is_a_number_and_a_unit) {
  using std::chrono::seconds;
  EXPECT_EQ(parse_lifetime("90s"), seconds(90));
  EXPECT_EQ(parse_lifetime("45m"), seconds(2700));
  EXPECT_EQ(parse_lifetime("12h"), seconds(43'200));
  EXPECT_EQ(parse_lifetime("30d"), seconds(2'592'000));
  EXPECT_EQ(parse_lifetime("8w"), seconds(4'838'400));
  for (const std::string bad :
       {"", "d", "30", "0d", "-1d", "1.5d", "30 d", "30dd", "1y", "99999999999999999999d", "5219w", "+1d"}) {
    EXPECT_FALSE(parse_lifetime(bad)) << bad;
  }
}

class ways : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/ways_XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    folder_ = name;
    ASSERT_TRUE(authentication::add_token(folder_ + "/tokens", {"laptop", {}, {}}, {}));
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] result<authentication_setup> made(const std::string& text, const std::string& tokens = {}) const {
    auto settings = config::parse(text, folder_ + "/config.toml");
    if (!settings) return tl::unexpected(std::move(settings.error()));
    return make_authentication_setup(*settings, tokens, by_, {});
  }
  [[nodiscard]] std::vector<std::string> told(const std::string& text, const std::string& tokens = {}) const {
    auto all = made(text, tokens);
    EXPECT_TRUE(all) << all.error().public_text;
    EXPECT_EQ(all->authenticator == nullptr, all->method_descriptions.empty());
    return all->method_descriptions;
  }
  [[nodiscard]] std::string why(const std::string& text) const {
    const auto all = made(text);
    return all ? "made" : all.error().public_text;
  }

  std::string folder_;
  listener_properties by_{true, true};
};

TEST_F(ways, are_none_where_nothing_is_said) { EXPECT_TRUE(told("").empty()); }

TEST_F(ways, are_all_that_are_configured_and_a_flag_outweighs_the_file) {
  EXPECT_EQ(told("[auth]\ntokens = \"tokens\"\n"), std::vector<std::string>{"tokens in " + folder_ + "/tokens"});
  EXPECT_EQ(told("", folder_ + "/tokens"), std::vector<std::string>{"tokens in " + folder_ + "/tokens"});
  EXPECT_EQ(told("[auth]\ntokens = \"none\"\n", folder_ + "/tokens"),
            std::vector<std::string>{"tokens in " + folder_ + "/tokens"});
  EXPECT_EQ(
      told("[auth]\ntokens = \"tokens\"\n[auth.oauth]\nissuer = \"https://a.example\"\nresource = \"https://b.example/mcp\"\n"
           "[auth.certificates]\nname = \"dns\"\n[auth.unix]\nusers = [\"root\", \"12345\"]\n"),
      (std::vector<std::string>{"tokens in " + folder_ + "/tokens", "tokens of https://a.example for https://b.example/mcp",
                                "client certificates, identified by dns", "users of this machine, over the Unix socket"}));
}

TEST_F(ways, leave_scopes_to_the_rules_which_may_be_read_again) {
  const auto all = made(
      "title = \"Shelf\"\n[auth]\nscopes = [\"mcp\"]\n[auth.oauth]\nissuer = \"https://a.example\"\n"
      "resource = \"https://b.example/mcp\"\n[[auth.rule]]\nscopes = [\"search\", \"mcp\"]\n"
      "[auth.implied_scopes]\nadmin = [\"mcp\"]\n");
  ASSERT_TRUE(all) << all.error().public_text;
  const auto metadata = all->authenticator->metadata();
  ASSERT_TRUE(metadata);
  EXPECT_TRUE(metadata->supported_scopes.empty());
  EXPECT_EQ(metadata->name, "Shelf");
  const auto said = all->authenticator->try_authenticate({});
  ASSERT_TRUE(said && !*said);
  EXPECT_TRUE(said->error().scopes.empty());
}

TEST_F(ways, that_nobody_could_come_by_are_refused_with_what_is_missing) {
  by_ = {false, true};
  EXPECT_NE(why("[auth.certificates]\n").find("config.toml:1: auth.certificates: clients are not asked for certificates"),
            std::string::npos);
  EXPECT_NE(why("[auth.certificates]\n").find("client_ca_file"), std::string::npos);
  EXPECT_EQ(why("[auth.unix]\nusers = [\"root\"]\n"), "made");
  by_ = {true, false};
  EXPECT_NE(
      why("[auth.unix]\nusers = [\"root\"]\n").find("config.toml:1: auth.unix: the server does not listen on a Unix socket"),
      std::string::npos);
  EXPECT_EQ(why("[auth.certificates]\n"), "made");
}

TEST_F(ways, users_are_told_as_where_nobody_is_asked) {
  const auto all = made("[auth.unix]\nusers = [\"" + std::to_string(::geteuid()) + "\", \"4242\"]\n");
  ASSERT_TRUE(all) << all.error().public_text;
  auth_request of;
  of.peer = peer_credentials{::geteuid(), 0, 0};
  EXPECT_EQ((*all->authenticator->try_authenticate(of))->identity, "local");
  of.peer->uid = 4242;
  EXPECT_EQ((*all->authenticator->try_authenticate(of))->identity, "uid:4242");
}

TEST_F(ways, that_cannot_be_say_which_table_and_what_to_do) {
  EXPECT_NE(why("[auth]\ntokens = \"none\"\n").find("config.toml:2: auth.tokens: cannot open " + folder_ + "/none"),
            std::string::npos);
  EXPECT_NE(why("[auth]\ntokens = \"none\"\n").find("'hondana token new NAME --file " + folder_ + "/none'"), std::string::npos);
  EXPECT_NE(why("\n[auth.oauth]\nissuer = \"http://login.example.com\"\nresource = \"https://b.example\"\n")
                .find("config.toml:3: auth.oauth.issuer: plain http:"),
            std::string::npos);
  EXPECT_EQ(why("[auth.oauth]\nissuer = \"http://127.0.0.1:9\"\nresource = \"https://b.example\"\n"), "made");
  EXPECT_NE(why("[auth.unix]\nusers = [\"nobody of this name\"]\n")
                .find("config.toml:2: auth.unix.users: unknown user \"nobody of this name\""),
            std::string::npos);
  EXPECT_NE(why("[auth.oauth]\nissuer = \"a\"\nresource = \"https://b.example\"\n")
                .find("config.toml:2: auth.oauth.issuer: expected a URL"),
            std::string::npos);
  const std::string asking =
      "[auth.oauth]\nissuer = \"https://a.example\"\nresource = \"https://b.example\"\n[auth.oauth.introspection]\n"
      "endpoint = \"https://a.example/i\"\nclient_id = \"shelf\"\n";
  EXPECT_NE(why(asking + "client_secret = \"${env:HONDANA_NO_SUCH_VARIABLE}\"\n").find("HONDANA_NO_SUCH_VARIABLE"),
            std::string::npos);
  EXPECT_NE(why(asking + "client_secret_file = \"secret\"\n").find("secret: No such file"), std::string::npos);
  ASSERT_TRUE(disk::replace_private(folder_ + "/secret", "s3cret\n"));
  EXPECT_EQ(why(asking + "client_secret_file = \"secret\"\n"), "made");
  std::filesystem::permissions(folder_ + "/secret", std::filesystem::perms::others_read, std::filesystem::perm_options::add);
  EXPECT_NE(why(asking + "client_secret_file = \"secret\"\n").find("chmod 600"), std::string::npos);
}

TEST_F(ways, warn_of_a_secret_that_others_can_read) {
  const std::string text =
      "[auth.oauth]\nissuer = \"https://a.example\"\nresource = \"https://b.example\"\n[auth.oauth.introspection]\n"
      "endpoint = \"https://a.example/i\"\nclient_id = \"shelf\"\nclient_secret = \"plain\"\n";
  ASSERT_TRUE(disk::replace_private(folder_ + "/config.toml", text));
  std::string said;
  const auto read = [&] {
    const auto settings = config::load(folder_ + "/config.toml");
    ASSERT_TRUE(settings) << settings.error().public_text;
    ASSERT_TRUE(make_authentication_setup(*settings, {}, by_, [&said](std::string_view line) { said += line; }));
  };
  read();
  EXPECT_EQ(said, "");
  std::filesystem::permissions(folder_ + "/config.toml", std::filesystem::perms(0644));
  read();
  EXPECT_NE(said.find("config.toml:7: auth.oauth.introspection.client_secret: other users"), std::string::npos) << said;
  EXPECT_EQ(said.find("plain"), std::string::npos);
}

TEST(usual_tokens, are_beside_the_usual_configuration) {
  const char* before = std::getenv("XDG_CONFIG_HOME");
  const std::string kept = before == nullptr ? "" : before;
  ASSERT_EQ(::setenv("XDG_CONFIG_HOME", "/tmp/x", 1), 0);
  EXPECT_EQ(default_token_file(), "/tmp/x/hondana/tokens");
  ASSERT_EQ(before == nullptr ? ::unsetenv("XDG_CONFIG_HOME") : ::setenv("XDG_CONFIG_HOME", kept.c_str(), 1), 0);
}

}  // namespace
}  // namespace hondana::cli
