/// Rules about callers that never come.
#include "app/cli/callers/rule_checks.hpp"

#include <stdlib.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "auth/authentication/token_file.hpp"

namespace hondana::cli {
namespace {

/// What is warned of where `auth` is how callers are told apart and a rule has `line`.
std::vector<std::string> warned_of(const std::string& auth, const std::string& line, const std::string& tokens = {},
                                   bool may_get_tokens = false) {
  const auto made = config::parse("[[access.rule]]\ndeny = true\n" + line + '\n' + auth, "t.toml");
  EXPECT_TRUE(made) << made.error().public_text;
  return made ? unknown_caller_warnings(*made, tokens, may_get_tokens) : std::vector<std::string>{"no settings"};
}

const std::string by_token = "[auth]\ntokens = \"tokens\"\n";
const std::string by_oauth = "[auth.oauth]\nissuer = \"https://a.example\"\nresource = \"https://b.example/mcp\"\n";

TEST(unknown_callers, are_names_without_the_front_that_tokens_have) {
  const auto told = warned_of(by_token, "identities = [\"token:ann\", \"bob\", \"local\", \"token:*\", \"*\"]");
  ASSERT_EQ(told.size(), 1u) << told.front();
  EXPECT_EQ(told.front(),
            "t.toml:3: access.rule.identities: no caller is ever named \"bob\"; callers are local, token:…. The token bob is "
            "token:bob");
  EXPECT_EQ(warned_of("", "identities = [\"token:ann\"]", "tokens"), std::vector<std::string>());
  EXPECT_EQ(warned_of("", "identities = [\"token:ann\"]").size(), 1u);
  EXPECT_EQ(warned_of(by_token, "identities = [\"anonymous\", \"uid:7\"]").size(), 2u);
}

TEST(unknown_callers, may_still_be_those_with_tokens_where_a_flag_can_say_so) {
  EXPECT_EQ(warned_of("", "identities = [\"token:bob\", \"anonymous\"]", {}, true), std::vector<std::string>());
  EXPECT_EQ(warned_of("", "identities = [\"bob\"]", {}, true).size(), 1u);
  EXPECT_EQ(warned_of(by_oauth, "identities = [\"token:bob\"]", {}, true).size(), 1u) << "the configuration says who comes";
}

TEST(unknown_callers, are_subjects_of_other_issuers) {
  EXPECT_EQ(warned_of(by_oauth, "identities = [\"https://a.example#ann\", \"https://a.example?client=ci-*\"]"),
            std::vector<std::string>());
  EXPECT_EQ(warned_of(by_oauth, "identities = [\"https://c.example#ann\", \"token:ann\", \"ann\"]").size(), 3u);
}

TEST(unknown_callers, are_groups_where_no_token_names_any) {
  EXPECT_EQ(warned_of(by_oauth, "groups = [\"staff\"]"), std::vector<std::string>());
  const auto told = warned_of(by_token, "groups = [\"staff\"]");
  ASSERT_EQ(told.size(), 1u);
  EXPECT_TRUE(told.front().starts_with("t.toml:3: access.rule.groups: no caller has groups here")) << told.front();
}

TEST(unknown_callers, without_a_way_are_all_but_those_whom_nobody_asks) {
  EXPECT_EQ(warned_of("", "identities = [\"local\", \"anonymous\", \"uid:1000\"]"), std::vector<std::string>());
  EXPECT_EQ(warned_of("", "identities = [\"localhost\", \"uid:\"]").size(), 2u);
}

/// A token file with tokens of ann (scope `list`) and ci (scope `admin`, which includes `read`).
class two_tokens {
 public:
  two_tokens() {
    for (const auto& [name, scope] : {std::pair("ann", "list"), std::pair("ci", "admin")}) {
      const auto added = authentication::add_token(path(), {name, {scope}, {}}, {});
      EXPECT_TRUE(added) << added.error().public_text;
    }
  }
  ~two_tokens() { std::filesystem::remove_all(folder_); }
  two_tokens(const two_tokens&) = delete;
  two_tokens& operator=(const two_tokens&) = delete;
  [[nodiscard]] std::string path() const { return folder_ + "/tokens"; }
  [[nodiscard]] std::string settings() const {
    return "[auth]\ntokens = \"" + path() + "\"\n[auth.implies]\nadmin = [\"read\"]\n";
  }

 private:
  std::string folder_ = ::mkdtemp(std::string("/tmp/rule_callers_XXXXXX").data());
};

TEST(unknown_callers, are_tokens_that_the_file_does_not_have) {
  const two_tokens tokens;
  EXPECT_EQ(warned_of(tokens.settings(), "identities = [\"token:ann\", \"token:a*\", \"token:*\", \"local\"]"),
            std::vector<std::string>());
  EXPECT_EQ(warned_of(tokens.settings(), "identities = [\"token:anne\"]"),
            std::vector<std::string>{"t.toml:3: access.rule.identities: no token in " + tokens.path() +
                                     " is named \"anne\"; there are token:ann, token:ci"});
  EXPECT_EQ(warned_of("", "identities = [\"token:b*\"]", tokens.path()).size(), 1u);
}

TEST(unknown_callers, are_users_that_the_socket_does_not_accept) {
  const std::string users = "[auth.unix]\nusers = [\"4000000001\", \"4000000002\"]\n";
  EXPECT_EQ(warned_of(users, "identities = [\"uid:4000000001\", \"uid:*\"]"), std::vector<std::string>());
  EXPECT_EQ(warned_of(users, "identities = [\"uid:4000000003\"]"),
            std::vector<std::string>{"t.toml:3: access.rule.identities: [auth.unix] accepts no user \"4000000003\"; there are "
                                     "uid:4000000001, uid:4000000002"});
}

TEST(unknown_callers, are_those_with_a_scope_that_no_token_has) {
  const two_tokens tokens;
  EXPECT_EQ(warned_of(tokens.settings(), "scopes = [\"list\", \"admin\", \"read\"]"), std::vector<std::string>());
  EXPECT_EQ(warned_of(tokens.settings(), "scopes = [\"lists\"]"),
            std::vector<std::string>{
                "t.toml:3: access.rule.scopes: no token or certificate has the scope \"lists\"; there are admin, list"});
  EXPECT_EQ(warned_of(by_oauth, "scopes = [\"lists\"]"), std::vector<std::string>()) << "the issuer may grant any scope";
  EXPECT_EQ(warned_of("", "scopes = [\"lists\"]").size(), 1u);
  EXPECT_EQ(warned_of("", "scopes = [\"lists\"]", {}, true), std::vector<std::string>());
}

TEST(unknown_callers, over_standard_input_have_no_scopes) {
  const auto made = config::parse("[[access.rule]]\ndeny = true\nscopes = [\"read\"]\n", "t.toml");
  ASSERT_TRUE(made) << made.error().public_text;
  EXPECT_EQ(unknown_stdio_caller_warnings(*made),
            std::vector<std::string>{"t.toml:3: access.rule.scopes: no caller over standard input has the scope \"read\""});
}

TEST(unknown_callers, over_standard_input_are_all_but_one) {
  const auto made = config::parse(
      "[auth]\ntokens = \"tokens\"\n[[access.rule]]\ndeny = true\n"
      "identities = [\"local\", \"token:ann\", \"*\"]\ngroups = [\"staff\"]\n",
      "t.toml");
  ASSERT_TRUE(made) << made.error().public_text;
  EXPECT_EQ(
      unknown_stdio_caller_warnings(*made),
      (std::vector<std::string>{
          "t.toml:5: access.rule.identities: no caller over standard input is ever named \"token:ann\"; callers are local",
          "t.toml:6: access.rule.groups: callers over standard input have no groups"}));
}

}  // namespace
}  // namespace hondana::cli
