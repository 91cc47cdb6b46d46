/// Names of sources: which are some, and which are made of other texts.
#include "base/ascii/ascii.hpp"

#include <string>

#include <gtest/gtest.h>

namespace hondana::ascii {
namespace {

TEST(slugs, are_small_letters_digits_and_hyphens) {
  for (const auto* one : {"a", "0", "-", "my-app-2"}) EXPECT_TRUE(is_slug(one)) << one;
  for (const auto* one : {"", "A", "a b", "a_b", "a/b", "..", "\xE6\x9C\xAC"}) EXPECT_FALSE(is_slug(one)) << one;
  EXPECT_TRUE(is_slug(std::string(max_slug_bytes, 'x')));
  EXPECT_FALSE(is_slug(std::string(max_slug_bytes + 1, 'x')));
}

TEST(slugs, are_made_of_names) {
  EXPECT_EQ(slugify("My App_1"), "my-app-1");
  EXPECT_EQ(slugify("--nginx--access--"), "nginx-access");
  EXPECT_EQ(slugify("ログ"), "");
  EXPECT_EQ(slugify(std::string(100, 'X')), std::string(max_slug_bytes, 'x'));
  EXPECT_EQ(slugify(std::string(max_slug_bytes - 1, 'x') + "_y"), std::string(max_slug_bytes - 1, 'x'));
}

}  // namespace
}  // namespace hondana::ascii
