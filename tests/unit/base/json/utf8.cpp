/// UTF-8: what is well-formed, where a sequence is cut, and how ill-formed bytes are repaired.
#include "base/json/utf8.hpp"

#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace {

using namespace std::string_view_literals;
using hondana::json::append_replacing;
using hondana::json::has_nul;
using hondana::json::incomplete_tail;
using hondana::json::is_utf8;
using hondana::json::utf8_stream;

/// Ill-formed on their own and in any surroundings.
const std::vector<std::string_view> ill_formed = {
    "\x80"sv,              // a continuation alone
    "\xBF"sv,              //
    "\xC0\x80"sv,          // overlong NUL
    "\xC1\xBF"sv,          // overlong DEL
    "\xE0\x80\x80"sv,      // overlong
    "\xE0\x9F\xBF"sv,      //
    "\xF0\x80\x80\x80"sv,  //
    "\xF0\x8F\xBF\xBF"sv,  //
    "\xED\xA0\x80"sv,      // U+D800
    "\xED\xBF\xBF"sv,      // U+DFFF
    "\xF4\x90\x80\x80"sv,  // U+110000
    "\xF5\x80\x80\x80"sv,  //
    "\xF8\x88\x80\x80\x80"sv,
    "\xFE"sv,
    "\xFF"sv,
    "\xFF\xFE"sv,
    "\xC3("sv,             // continuations missing
    "\xE3\x81("sv,         //
    "\xF0\x9F\x98("sv,     //
    "\x93\xFA\x96\x7B"sv,  // "Nippon" in Shift_JIS
};

std::string repaired(std::string_view bytes) {
  std::string out("<");
  append_replacing(out, bytes);
  return out;
}

/// Decodes code point by code point, as slowly as the definition reads.
bool naive_is_utf8(std::string_view bytes) {
  std::size_t i = 0;
  while (i < bytes.size()) {
    const auto lead = static_cast<unsigned char>(bytes[i]);
    std::size_t more = 0;
    char32_t point = lead;
    char32_t least = 0;
    if (lead >= 0xF0 && lead < 0xF8) {
      more = 3, point = lead & 0x07U, least = 0x10000;
    } else if (lead >= 0xE0 && lead < 0xF0) {
      more = 2, point = lead & 0x0FU, least = 0x800;
    } else if (lead >= 0xC0 && lead < 0xE0) {
      more = 1, point = lead & 0x1FU, least = 0x80;
    } else if (lead >= 0x80) {
      return false;
    }
    for (; more > 0; --more) {
      if (++i == bytes.size()) return false;
      const auto next = static_cast<unsigned char>(bytes[i]);
      if ((next & 0xC0U) != 0x80U) return false;
      point = point << 6U | (next & 0x3FU);
    }
    if (point < least || point > 0x10FFFF || (point >= 0xD800 && point <= 0xDFFF)) return false;
    ++i;
  }
  return true;
}

TEST(json_utf8, accepts_every_length_of_sequence_at_its_bounds) {
  for (const auto text :
       {""sv, "a"sv, "\0"sv, "\x7F"sv, "\xC2\x80"sv, "\xDF\xBF"sv, "\xE0\xA0\x80"sv, "\xED\x9F\xBF"sv, "\xEE\x80\x80"sv,
        "\xEF\xBF\xBF"sv, "\xF0\x90\x80\x80"sv, "\xF4\x8F\xBF\xBF"sv, "本棚"sv, "\xEF\xBB\xBFwith a mark"sv}) {
    EXPECT_TRUE(is_utf8(text)) << text;
  }
  EXPECT_TRUE(is_utf8(std::string_view()));
}

TEST(json_utf8, refuses_ill_formed_bytes_at_every_offset_and_length) {
  for (const auto bad : ill_formed) {
    for (std::size_t before = 0; before <= 70; ++before) {
      for (const std::size_t after : {0U, 1U, 7U, 8U, 31U, 64U}) {
        const std::string text = std::string(before, 'a').append(bad).append(after, 'a');
        ASSERT_FALSE(is_utf8(text)) << before << " before, " << after << " after";
      }
    }
  }
}

TEST(json_utf8, refuses_every_truncated_sequence_at_the_end_of_every_length) {
  for (const auto cut : {"\xC3"sv, "\xE3"sv, "\xE3\x81"sv, "\xF0"sv, "\xF0\x9F"sv, "\xF0\x9F\x98"sv}) {
    for (std::size_t before = 0; before <= 130; ++before) ASSERT_FALSE(is_utf8(std::string(before, 'a').append(cut))) << before;
  }
}

TEST(json_utf8, agrees_with_a_naive_decoder_on_random_sequences) {
  std::mt19937 random(1);
  const std::vector<std::string_view> pieces = {"a",    "é",    "本",   "😀",   "\x80", "\xE0",
                                                "\xED", "\xF4", "\xA0", "\x8F", "\xC2", "z"};
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    for (auto left = random() % 40; left > 0; --left) text += pieces[random() % (round % 2 == 0 ? 4 : pieces.size())];
    ASSERT_EQ(is_utf8(text), naive_is_utf8(text)) << testing::PrintToString(text);
  }
}

TEST(json_utf8, finds_nul_anywhere_and_nowhere_else) {
  EXPECT_FALSE(has_nul(""));
  EXPECT_FALSE(has_nul(std::string_view()));
  EXPECT_FALSE(has_nul("text\x01\xFF"));
  EXPECT_TRUE(has_nul("\0text"sv));
  EXPECT_TRUE(has_nul("te\0xt"sv));
  EXPECT_TRUE(has_nul("text\0"sv));
}

TEST(json_utf8, an_ascii_run_has_neither_nul_nor_a_byte_above_127_and_misses_little) {
  for (std::size_t size = 0; size <= 300; ++size) {
    const std::string clean(size, '\x01');
    EXPECT_EQ(hondana::json::ascii_run(std::string(size, '\x7F')), hondana::json::ascii_run(clean));
    EXPECT_GT(hondana::json::ascii_run(clean) + 128, size);
    EXPECT_GT(hondana::json::ascii_run_portable(clean) + 64, size);
    for (std::size_t at = 0; at < size; ++at) {
      for (const char c : {'\0', '\x80', '\xFF'}) {
        std::string text(size, 'x');
        text[at] = c;
        for (const auto run : {hondana::json::ascii_run(text), hondana::json::ascii_run_portable(text)}) {
          ASSERT_LE(run, at) << size;
          ASSERT_GT(run + 128, at) << size;
        }
      }
    }
  }
}

TEST(json_utf8, incomplete_tail_counts_what_more_bytes_could_complete) {
  EXPECT_EQ(incomplete_tail(""), 0U);
  EXPECT_EQ(incomplete_tail("a"), 0U);
  EXPECT_EQ(incomplete_tail("é"), 0U);
  EXPECT_EQ(incomplete_tail("a\xC3"), 1U);
  EXPECT_EQ(incomplete_tail("a\xE6"), 1U);
  EXPECT_EQ(incomplete_tail("a\xE6\x9C"), 2U);
  EXPECT_EQ(incomplete_tail("a\xE6\x9C\xAC"), 0U);
  EXPECT_EQ(incomplete_tail("a\xF0"), 1U);
  EXPECT_EQ(incomplete_tail("a\xF0\x9F"), 2U);
  EXPECT_EQ(incomplete_tail("a\xF0\x9F\x98"), 3U);
  EXPECT_EQ(incomplete_tail("a\xF0\x9F\x98\x80"), 0U);
}

TEST(json_utf8, incomplete_tail_is_zero_where_nothing_could_help) {
  for (const auto hopeless : {"\x80"sv, "\xC0"sv, "\xC1"sv, "\xF5"sv, "\xFF"sv, "\xE0\x80"sv, "\xED\xA0"sv, "\xF0\x8F"sv,
                              "\xF4\x90"sv, "\x80\x80\x80"sv, "\xC3\x28"sv, "\xF0\x9F\x28"sv}) {
    EXPECT_EQ(incomplete_tail(hopeless), 0U) << testing::PrintToString(hopeless);
  }
}

TEST(json_utf8, replaces_each_maximal_ill_formed_part_once) {
  EXPECT_EQ(repaired(""), "<");
  EXPECT_EQ(repaired("本棚"), "<本棚");
  EXPECT_EQ(repaired("a\xFF"
                     "b"),
            "<a\uFFFDb");
  EXPECT_EQ(repaired("\xFF\xFE"), "<\uFFFD\uFFFD");
  EXPECT_EQ(repaired("a\xE6\x9C"), "<a\uFFFD");
  EXPECT_EQ(repaired("\xE6\x9C\xE6\x9C\xAC"), "<\uFFFD本");
  EXPECT_EQ(repaired("\xED\xA0\x80"), "<\uFFFD\uFFFD\uFFFD");
  // The example of Unicode 15, table 3-8 (best practice for U+FFFD substitution).
  EXPECT_EQ(repaired("\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41"), "<\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\x41");
  EXPECT_EQ(repaired("\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41"), "<\uFFFD\uFFFD\uFFFD\uFFFD\x41");
}

TEST(json_utf8, what_was_replaced_is_well_formed) {
  for (const auto bad : ill_formed) EXPECT_TRUE(is_utf8(repaired(bad))) << testing::PrintToString(bad);
}

TEST(json_utf8_stream, accepts_a_text_cut_at_every_two_places) {
  const std::string_view text = "aé本😀\xF4\x8F\xBF\xBFz";
  for (std::size_t i = 0; i <= text.size(); ++i) {
    for (std::size_t j = i; j <= text.size(); ++j) {
      utf8_stream stream;
      EXPECT_TRUE(stream.feed(text.substr(0, i)));
      EXPECT_TRUE(stream.feed(text.substr(i, j - i)));
      EXPECT_TRUE(stream.feed(text.substr(j)));
      EXPECT_TRUE(stream.finish()) << i << ' ' << j;
    }
  }
}

TEST(json_utf8_stream, refuses_ill_formed_text_cut_at_every_place) {
  for (const auto bad : ill_formed) {
    const std::string text = std::string("aé").append(bad).append("z本");
    for (std::size_t i = 0; i <= text.size(); ++i) {
      utf8_stream stream;
      stream.feed(std::string_view(text).substr(0, i));
      stream.feed(std::string_view(text).substr(i));
      EXPECT_FALSE(stream.finish()) << testing::PrintToString(text) << " at " << i;
    }
    utf8_stream by_byte;
    for (const char& one : text) by_byte.feed({&one, 1});
    EXPECT_FALSE(by_byte.finish());
  }
}

TEST(json_utf8_stream, stays_bad_after_the_first_bad_piece) {
  utf8_stream stream;
  EXPECT_TRUE(stream.feed("good"));
  EXPECT_FALSE(stream.feed("\xFF"));
  EXPECT_FALSE(stream.feed("good"));
  EXPECT_FALSE(stream.finish());
}

TEST(json_utf8_stream, is_not_finished_inside_a_sequence) {
  utf8_stream stream;
  EXPECT_TRUE(stream.finish());
  EXPECT_TRUE(stream.feed("a\xE6\x9C"));
  EXPECT_FALSE(stream.finish());
  EXPECT_TRUE(stream.feed(""));
  EXPECT_TRUE(stream.feed("\xAC"));
  EXPECT_TRUE(stream.finish());
}

}  // namespace
