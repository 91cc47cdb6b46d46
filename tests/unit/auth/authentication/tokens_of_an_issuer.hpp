/// A resource server, and the tokens that its authorization server signs.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "auth/authentication/resource_server.hpp"
#include "unit/auth/authentication/issuer.hpp"

namespace hondana_test {

class tokens_of_an_issuer : public testing::Test {
 protected:
  static hondana::oauth_authenticator_options options() {
    hondana::oauth_authenticator_options out;
    out.issuer = issuer_url;
    out.resource = resource_url;
    out.challenge_scopes = {"read"};
    out.supported_scopes = {"read", "write"};
    return out;
  }
  [[nodiscard]] hondana::value::object claims(hondana::value::object more = {}) {
    hondana::value::object out{{"iss", issuer_url},    {"aud", resource_url},   {"sub", "alice"},
                               {"scope", "read list"}, {"client_id", "editor"}, {"exp", time_.now() + 600}};
    for (auto& [name, as] : more) {
      bool is_there = false;
      for (auto& [known, before] : out) {
        if (known != name) continue;
        before = as;
        is_there = true;
      }
      if (!is_there) out.emplace_back(name, as);
    }
    return out;
  }
  std::string token(hondana::value::object more = {}, const std::string& key = "first") {
    return issuer_.sign(key, claims(std::move(more)));
  }
  hondana::auth_result ask(const std::string& token) {
    if (auto said = server_.try_authenticate(with_token(token))) return std::move(*said);
    return server_.authenticate(with_token(token), soon());
  }
  hondana::auth_rejection refused(const std::string& token) {
    const auto said = ask(token);
    EXPECT_FALSE(said) << said->identity;
    return said ? hondana::auth_rejection() : said.error();
  }
  void expect_refused(const std::string& token, const std::string& word) {
    const auto why = refused(token);
    EXPECT_EQ(why.status, 401);
    EXPECT_EQ(why.error, "invalid_token");
    EXPECT_NE(why.description.find(word), std::string::npos) << why.description;
    EXPECT_EQ(why.description.find(token), std::string::npos);
    EXPECT_EQ(why.scopes, std::vector<std::string>{"read"});
  }

  still_time time_;
  issuer issuer_;
  hondana::authentication::resource_server server_{options(), issuer_.caller(), time_.clocks()};
};

}  // namespace hondana_test
