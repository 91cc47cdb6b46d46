/// Letters of ASCII, and nothing else, in lower case.
#include "base/ascii/lower_case.hpp"

#include <string>

#include <gtest/gtest.h>

namespace hondana::ascii {
namespace {

TEST(letters, of_ascii_alone_change) {
  const std::string upper = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  const std::string small = "abcdefghijklmnopqrstuvwxyz";
  for (int value = 0; value < 256; ++value) {
    const auto c = static_cast<char>(value);
    const auto at = upper.find(c);
    EXPECT_EQ(lower(c), at == std::string::npos ? c : small[at]) << value;
    EXPECT_EQ(is_letter(c), at != std::string::npos || small.find(c) != std::string::npos) << value;
    EXPECT_EQ(lower(static_cast<char32_t>(value)), static_cast<char32_t>(at == std::string::npos ? value : small[at])) << value;
  }
  EXPECT_EQ(lower(U'Ä'), U'Ä');
  EXPECT_EQ(lower(U'\u212A'), U'\u212A') << "the sign of the kelvin is no letter of ASCII";
}

TEST(letters, in_lower_case_keep_what_stands_between_them) {
  EXPECT_EQ(in_lower_case("HTTPS://Example.COM/[@`{]"), "https://example.com/[@`{]");
  EXPECT_EQ(in_lower_case(std::string("A\0\xC4Z", 4)), std::string("a\0\xC4z", 4));
  EXPECT_EQ(in_lower_case(""), "");
}

TEST(letters, are_compared_whatever_their_case) {
  EXPECT_TRUE(is_same("Content-Type", "cONTENT-tYPE"));
  EXPECT_TRUE(is_same("", ""));
  EXPECT_FALSE(is_same("a", "ab"));
  EXPECT_FALSE(is_same("@", "`")) << "which differ by the bit that tells letters' cases apart";
  EXPECT_FALSE(is_same("[", "{"));
  EXPECT_TRUE(begins_with("HTTPS://x", "https://"));
  EXPECT_FALSE(begins_with("http", "https"));
  EXPECT_TRUE(ends_with("x.PDF", ".pdf"));
  EXPECT_TRUE(ends_with("pdf", "PDF"));
  EXPECT_FALSE(ends_with("df", "pdf"));
}

}  // namespace
}  // namespace hondana::ascii
