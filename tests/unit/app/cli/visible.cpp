/// What reaches a terminal of names and messages that others chose.
#include "app/cli/output.hpp"

#include <gtest/gtest.h>

namespace hondana::cli {
namespace {

TEST(visible, leaves_ordinary_text_alone) {
  EXPECT_EQ(sanitize("src/main.cpp"), "src/main.cpp");
  EXPECT_EQ(sanitize("\xE6\x9C\xAC\xE6\xA3\x9A \xC3\xA9 \xE2\x80\x9C\xE2\x80\xA6"),
            "\xE6\x9C\xAC\xE6\xA3\x9A \xC3\xA9 \xE2\x80\x9C\xE2\x80\xA6");
  EXPECT_EQ(sanitize("cut \xE2\x80"), "cut \xE2\x80");
}

TEST(visible, hides_what_a_terminal_takes_for_commands) {
  EXPECT_EQ(sanitize("a\x1b[2Jb\n\x7f"), "a?[2Jb??");
  EXPECT_EQ(sanitize("a\xC2\x9B"
                     "2Jb"),
            "a?2Jb");
}

TEST(visible, hides_marks_that_reorder_text) {
  EXPECT_EQ(sanitize("a\xE2\x80\xAE"
                     "b\xE2\x81\xA6"
                     "c\xD8\x9C\xE2\x80\xA8"),
            "a?b?c??");
}

TEST(visible, lines_keep_their_ends_and_tabs) {
  EXPECT_EQ(sanitize_lines("a\tb\r\nc\x1b\n\nd"), "a\tb\nc?\n\nd");
  EXPECT_EQ(sanitize_lines(""), "");
}

TEST(visible, in_one_line_white_space_is_one_space) {
  EXPECT_EQ(sanitize_line("  a\t b\r\n\nc\x1b \n"), "a b c?");
  EXPECT_EQ(sanitize_line(" \n"), "");
}

}  // namespace
}  // namespace hondana::cli
