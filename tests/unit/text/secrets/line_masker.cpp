/// Keys that come line by line.
#include "text/secrets/masking_reader.hpp"

#include <sstream>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "unit/text/secrets/corpus.hpp"

namespace {

using namespace hondana;
using secrets::line_masker;

/// All lines of a text, one after the other.
std::string masked(line_masker& by, const std::string& text) {
  std::istringstream lines(text);
  std::string out;
  for (std::string line; std::getline(lines, line);) out += by.mask(line) + "\n";
  return out;
}

TEST(a_masker_of_lines, masks_every_line_of_a_key_and_none_behind_it) {
  for (const auto& shape : test::secret_shapes()) {
    if (!shape.name.ends_with("private key") || shape.name.starts_with("a PuTTY") || shape.name.starts_with("an SSH2"))
      continue;
    test::lots from(31);
    const auto one = shape.draw(from);
    line_masker by;
    const auto out = masked(by, "before\n" + one.text() + "behind it\n");
    EXPECT_TRUE(out.starts_with("before\n" + one.before)) << shape.name;
    EXPECT_TRUE(out.ends_with("behind it\n")) << out;
    std::istringstream secret(one.secret);
    for (std::string line; std::getline(secret, line);) {
      if (line.size() >= 4) {
        EXPECT_EQ(out.find(line), std::string::npos) << shape.name << ": " << line;
      }
    }
  }
}

TEST(a_masker_of_lines, ends_with_a_key_that_has_no_end) {
  line_masker by;
  test::lots from(32);
  const auto line = from.base64(64);
  const auto front = std::string("-----BEGIN ") + "PRIVATE KEY-----\n";
  EXPECT_EQ(masked(by, front + line + "\n12:00 it goes on\n" + line + "\n"),
            front + std::string(64, '*') + "\n12:00 it goes on\n" + line + "\n");
  // However long what follows is, it is not all a key.
  (void)by.mask(front);
  for (int i = 0; i < 256; ++i) EXPECT_EQ(by.mask(line), std::string(64, '*'));
  EXPECT_EQ(by.mask(line), line);
}

TEST(a_masker_of_lines, masks_in_one_line_what_is_masked_everywhere) {
  line_masker by;
  test::lots from(33);
  EXPECT_EQ(by.mask("password=" + from.alnum(12) + "1!"), "password=" + std::string(14, '*'));
  EXPECT_EQ(by.mask("indexed 12 entries"), "indexed 12 entries");
}

}  // namespace
