/// Character classes of ASCII, and lower case.
#include "base/ascii/ascii.hpp"

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
    EXPECT_EQ(to_lower(c), at == std::string::npos ? c : small[at]) << value;
    EXPECT_EQ(is_letter(c), at != std::string::npos || small.find(c) != std::string::npos) << value;
    EXPECT_EQ(to_lower(static_cast<char32_t>(value)), static_cast<char32_t>(at == std::string::npos ? value : small[at]))
        << value;
  }
  EXPECT_EQ(to_lower(U'Ä'), U'Ä');
  EXPECT_EQ(to_lower(U'\u212A'), U'\u212A') << "the sign of the kelvin is no letter of ASCII";
}

TEST(characters, are_of_the_kinds_of_posix) {
  const auto all_of = [](bool (*kind)(char) noexcept) {
    std::string out;
    for (int value = 0; value < 256; ++value) {
      if (kind(static_cast<char>(value))) out += static_cast<char>(value);
    }
    return out;
  };
  const std::string digits = "0123456789";
  const std::string upper = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  const std::string small = "abcdefghijklmnopqrstuvwxyz";
  EXPECT_EQ(all_of(is_digit), digits);
  EXPECT_EQ(all_of(is_upper), upper);
  EXPECT_EQ(all_of(is_lower), small);
  EXPECT_EQ(all_of(is_lower_or_digit), digits + small);
  EXPECT_EQ(all_of(is_alphanumeric), digits + upper + small);
  EXPECT_EQ(all_of(is_lower_hex_digit), digits + "abcdef");
  EXPECT_EQ(all_of(is_hex_digit), digits + "ABCDEFabcdef");
  EXPECT_EQ(all_of(is_blank), "\t ");
  EXPECT_EQ(all_of(is_json_space), "\t\n\r ");
  EXPECT_EQ(all_of(is_space), "\t\n\v\f\r ");
}

TEST(letters, in_lower_case_keep_what_stands_between_them) {
  EXPECT_EQ(to_lower("HTTPS://Example.COM/[@`{]"), "https://example.com/[@`{]");
  EXPECT_EQ(to_lower(std::string("A\0\xC4Z", 4)), std::string("a\0\xC4z", 4));
  EXPECT_EQ(to_lower(""), "");
}

TEST(letters, are_compared_whatever_their_case) {
  EXPECT_TRUE(equals_ignore_case("Content-Type", "cONTENT-tYPE"));
  EXPECT_TRUE(equals_ignore_case("", ""));
  EXPECT_FALSE(equals_ignore_case("a", "ab"));
  EXPECT_FALSE(equals_ignore_case("@", "`")) << "which differ by the bit that tells letters' cases apart";
  EXPECT_FALSE(equals_ignore_case("[", "{"));
  EXPECT_TRUE(starts_with_ignore_case("HTTPS://x", "https://"));
  EXPECT_FALSE(starts_with_ignore_case("http", "https"));
  EXPECT_TRUE(ends_with_ignore_case("x.PDF", ".pdf"));
  EXPECT_TRUE(ends_with_ignore_case("pdf", "PDF"));
  EXPECT_FALSE(ends_with_ignore_case("df", "pdf"));
}

}  // namespace
}  // namespace hondana::ascii
