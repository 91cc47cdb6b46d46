/// Foreign text in charts.
#include "sources/metrics/charts/display_text.hpp"

#include <string>

#include <gtest/gtest.h>

namespace hondana::charts {
namespace {

TEST(shown_text, leaves_text_alone) {
  for (const char* const text :
       {"", "node_load1{instance=\"a\"}", "サーバー室の温度", "مرحبا", "👩‍👩‍👧", "<b>&amp;</b>", "e\u0301"}) {
    EXPECT_EQ(display_text(text), text);
  }
}

TEST(shown_text, shows_control_characters_and_drops_what_turns_or_hides_text) {
  EXPECT_EQ(display_text(std::string("a\0b\n\x1b[31m\x7f", 10)), "a␀b␊␛[31m␡");
  EXPECT_EQ(display_text("exe.\u202Egnp\u202C \u2066x\u2069\u200F"), "exe.gnp x");
  EXPECT_EQ(display_text("a\U000E0041\u00ADb\u200B\uFEFF"), "ab");
  EXPECT_EQ(display_text("a\u2028b"), "a␤b");
}

TEST(shown_text, replaces_what_is_no_text) {
  EXPECT_EQ(display_text("a\xff\xc0\xaf"), "a\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(display_text("\xed\xa0\x80"), "\uFFFD\uFFFD\uFFFD") << "a surrogate";
  EXPECT_EQ(display_text("\xf0\x9f\x98"), "\uFFFD") << "cut off";
  EXPECT_EQ(display_text("\xf4\x90\x80\x80"), "\uFFFD\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(display_text("\u0085\uFFFE\uFDD0"), "\uFFFD\uFFFD\uFFFD");
}

TEST(shown_text, shortens_in_the_middle) {
  EXPECT_EQ(display_text("abcdefghij", 5), "ab…ij");
  EXPECT_EQ(display_text("一二三四五六", 3), "一…六");
  EXPECT_EQ(display_text(std::string(1'000'000, 'x')).size(), 399 + std::string("…").size());
}

}  // namespace
}  // namespace hondana::charts
