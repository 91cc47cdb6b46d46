/// What names allow and tell.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "providers/env/allow_list.hpp"
#include "providers/env/naming.hpp"
#include "providers/env/telling_names.hpp"

namespace {

using namespace hondana;
using namespace hondana::env;

TEST(allow_list, has_patterns_of_whole_names) {
  const auto some = allow_list::of({"PATH", "LC_*", "*_URL", "A?C", "x*y*z"});
  ASSERT_TRUE(some);
  for (const auto* name : {"PATH", "LC_", "LC_ALL", "DB_URL", "_URL", "ABC", "xyz", "x1y2y3z"})
    EXPECT_TRUE(some->allows(name)) << name;
  for (const auto* name : {"", "PATH2", "XPATH", "path", "LC", "xLC_ALL", "DB_URLS", "AC", "ABBC", "xzy", "xy", "x1y2z3"})
    EXPECT_FALSE(some->allows(name)) << name;
}

TEST(allow_list, may_not_be_empty_or_endless) {
  EXPECT_NE(allow_list::of({}).error().public_text.find("LC_*"), std::string::npos);
  EXPECT_FALSE(allow_list::of({"A", ""}));
  EXPECT_FALSE(allow_list::of({std::string(257, 'A')}));
  EXPECT_TRUE(allow_list::of({std::string(256, 'A')}));
  EXPECT_FALSE(allow_list::of(std::vector<std::string>(1001, "A")));
}

TEST(allow_list, takes_no_more_than_the_product_of_lengths) {
  std::string pattern;
  for (int i = 0; i < 127; ++i) pattern += "*a";
  const auto some = allow_list::of({pattern + "*b"});
  ASSERT_TRUE(some);
  EXPECT_FALSE(some->allows(std::string(100'000, 'a')));
}

TEST(telling_names, say_that_values_are_secret) {
  for (const auto* name : {"PASSWORD",
                           "DB_PASSWORD",
                           "dbPassword",
                           "PGPASSWORD",
                           "MYSQL_PWD",
                           "SSHPASS",
                           "PASSWD_2",
                           "ROOT_PASS",
                           "GITHUB_TOKEN",
                           "githubToken",
                           "NPM_TOKEN_1",
                           "CLIENT_SECRET",
                           "SECRETKEYBASE",
                           "SECRET_KEY_BASE",
                           "API_KEY",
                           "APIKEY",
                           "apiKey",
                           "AWS_SECRET_ACCESS_KEY",
                           "GOOGLE_CREDENTIALS",
                           "PRIVATE_KEY",
                           "SSH_KEY",
                           "ENCRYPTIONKEY",
                           "GITHUB_PAT",
                           "VAULT_SECRET_ID",
                           "JWT",
                           "PASSPHRASE",
                           "PASSWORD_OLD",
                           "spring.datasource.password",
                           "PUBLIC_KEY_TOKEN",
                           "REDIS-PASSWORD"})
    EXPECT_EQ(told_by(name), telling::strong) << name;
  for (const auto* name : {"KEY", "SORT_KEY", "AUTH", "HTTP_COOKIE", "PASSWORDLESS_SALT_ID_SEED", "WALLET_SEED", "SIG", "TOTP"})
    EXPECT_NE(told_by(name), telling::nothing) << name;
}

TEST(telling_names, of_other_things_say_nothing) {
  for (const auto* name : {"",
                           "_",
                           "PATH",
                           "HOME",
                           "PWD",
                           "OLDPWD",
                           "LANG",
                           "LC_ALL",
                           "SSH_AUTH_SOCK",
                           "SSH_ASKPASS",
                           "COMPASS",
                           "MONKEY",
                           "KEYBOARD",
                           "TOKENIZERS_PARALLELISM",
                           "MAX_TOKENS",
                           "PASSWORD_FILE",
                           "TOKEN_TTL",
                           "SECRET_NAME",
                           "AWS_ACCESS_KEY_ID",
                           "PUBLIC_KEY",
                           "SSH_PUB_KEY",
                           "GIT_AUTHOR_NAME",
                           "XDG_SESSION_TYPE",
                           "DATABASE_URL",
                           "TOKEN_URL",
                           "PASSENGER_POOL",
                           "BYPASS",
                           "TERM",
                           "XAUTHORITY",
                           "KEYMAP",
                           "PINENTRY"})
    EXPECT_EQ(told_by(name), telling::nothing) << name;
}

TEST(telling_names, say_what_is_named_by_digests) {
  for (const auto* name : {"GIT_COMMIT", "GITHUB_SHA", "IMAGE_DIGEST", "SOURCE_VERSION", "sha256", "buildRevision"})
    EXPECT_TRUE(says_digest(name)) << name;
  for (const auto* name : {"VALUE", "SHARE", "COMMITTEE", "DATADOG"}) EXPECT_FALSE(says_digest(name)) << name;
}

TEST(names_of_files, are_slugs) {
  EXPECT_EQ(slug_of("/etc/prod.env"), "prod");
  EXPECT_EQ(slug_of(".env"), "env");
  EXPECT_EQ(slug_of("a/.env.production"), "production");
  EXPECT_EQ(slug_of("app.env.local"), "app-local");
  EXPECT_EQ(slug_of("My App_2.env"), "my-app-2");
  EXPECT_EQ(slug_of("本.env"), "env");
  EXPECT_EQ(slug_of(std::string(90, 'a') + ".env"), std::string(40, 'a'));
  for (const auto* good : {"a", "prod-2", "0"}) EXPECT_TRUE(is_slug(good)) << good;
  for (const auto& bad :
       {std::string(), std::string("-a"), std::string("a-"), std::string("A"), std::string("a.b"), std::string(41, 'a')})
    EXPECT_FALSE(is_slug(bad)) << bad;
}

}  // namespace
