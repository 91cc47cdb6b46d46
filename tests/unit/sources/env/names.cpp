/// What names allow and tell.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sources/env/env_file.hpp"
#include "sources/env/variables.hpp"

namespace {

using namespace hondana;
using namespace hondana::env;

TEST(allow_list, has_patterns_of_whole_names) {
  const auto some = allow_list::create({"PATH", "LC_*", "*_URL", "A?C", "x*y*z"});
  ASSERT_TRUE(some);
  for (const auto* name : {"PATH", "LC_", "LC_ALL", "DB_URL", "_URL", "ABC", "xyz", "x1y2y3z"})
    EXPECT_TRUE(some->allows(name)) << name;
  for (const auto* name : {"", "PATH2", "XPATH", "path", "LC", "xLC_ALL", "DB_URLS", "AC", "ABBC", "xzy", "xy", "x1y2z3"})
    EXPECT_FALSE(some->allows(name)) << name;
}

TEST(allow_list, may_not_be_empty_or_endless) {
  EXPECT_NE(allow_list::create({}).error().public_text.find("LC_*"), std::string::npos);
  EXPECT_FALSE(allow_list::create({"A", ""}));
  EXPECT_FALSE(allow_list::create({std::string(257, 'A')}));
  EXPECT_TRUE(allow_list::create({std::string(256, 'A')}));
  for (const auto* one : {"A[BC]", "^X", "X$", "(A)"}) {
    const auto some = allow_list::create({"PATH", one});
    ASSERT_FALSE(some) << one;
    EXPECT_NE(some.error().public_text.find("* for any characters"), std::string::npos);
  }
  EXPECT_FALSE(allow_list::create(std::vector<std::string>(1001, "A")));
}

TEST(allow_list, takes_no_more_than_the_product_of_lengths) {
  std::string pattern;
  for (int i = 0; i < 127; ++i) pattern += "*a";
  const auto some = allow_list::create({pattern + "*b"});
  ASSERT_TRUE(some);
  EXPECT_FALSE(some->allows(std::string(100'000, 'a')));
}

TEST(names_of_files, are_slugs) {
  EXPECT_EQ(make_slug("/etc/prod.env"), "prod");
  EXPECT_EQ(make_slug(".env"), "env");
  EXPECT_EQ(make_slug("a/.env.production"), "production");
  EXPECT_EQ(make_slug("app.env.local"), "app-local");
  EXPECT_EQ(make_slug("My App_2.env"), "my-app-2");
  EXPECT_EQ(make_slug("本.env"), "env");
  EXPECT_EQ(make_slug(std::string(90, 'a') + ".env"), std::string(40, 'a'));
  for (const auto* good : {"a", "prod-2", "0"}) EXPECT_TRUE(is_slug(good)) << good;
  for (const auto& bad :
       {std::string(), std::string("-a"), std::string("a-"), std::string("A"), std::string("a.b"), std::string(41, 'a')})
    EXPECT_FALSE(is_slug(bad)) << bad;
}

}  // namespace
