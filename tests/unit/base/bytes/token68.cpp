/// What may be a bearer token.
#include "base/bytes/random_token.hpp"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace {

using hondana::bytes::is_token68;
using namespace std::string_view_literals;

TEST(token68, is_what_rfc_9110_says) {
  for (const auto one : {"a"sv, "a-b._~+/c=="sv, "AZaz09"sv, "a="sv}) EXPECT_TRUE(is_token68(one)) << one;
  for (const auto one : {""sv, "="sv, "=="sv, "a=b"sv, "a b"sv, "a,b"sv, "\"a\""sv, "a\0b"sv, "\xc3\xa4"sv, "a\r\n"sv, "=a"sv})
    EXPECT_FALSE(is_token68(one)) << one;
}

TEST(token68, takes_no_byte_that_is_not_listed) {
  int taken = 0;
  for (int byte = 0; byte < 256; ++byte) taken += is_token68(std::string(1, static_cast<char>(byte))) ? 1 : 0;
  EXPECT_EQ(taken, 26 + 26 + 10 + 6);
}

}  // namespace
