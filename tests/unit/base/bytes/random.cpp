/// Bytes that nobody guesses, and bytes as digits.
#include "base/bytes/random_token.hpp"

#include <set>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace {

using hondana::bytes::random_bytes;
using hondana::bytes::to_hex;
using namespace std::string_view_literals;

TEST(random_bytes, are_as_many_as_were_asked_for_and_never_the_same) {
  std::set<std::string> all;
  for (int turn = 0; turn < 1000; ++turn) {
    const auto some = random_bytes(16);
    ASSERT_TRUE(some) << some.error().public_text;
    EXPECT_EQ(some->size(), 16u);
    all.insert(*some);
  }
  EXPECT_EQ(all.size(), 1000u);
  EXPECT_EQ(random_bytes(0).value_or("none"), "");
  EXPECT_EQ(random_bytes(256)->size(), 256u);
}

TEST(hexadecimal, is_two_digits_a_byte) {
  EXPECT_EQ(to_hex(""), "");
  EXPECT_EQ(to_hex("\0\x0f\xa5\xff"sv), "000fa5ff");
}

}  // namespace
