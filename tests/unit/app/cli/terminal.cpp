/// What is shown on a terminal: widths, tables, quantities, progress, and text from elsewhere.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "app/cli/terminal/columns.hpp"
#include "app/cli/terminal/quantities.hpp"
#include "app/cli/terminal/terminal_info.hpp"

namespace hondana::cli {
namespace {

TEST(width, counts_columns_and_not_bytes) {
  EXPECT_EQ(width_of(""), 0u);
  EXPECT_EQ(width_of("plain"), 5u);
  EXPECT_EQ(width_of("\xC3\xA9t\xC3\xA9"), 3u);         // été
  EXPECT_EQ(width_of("e\xCC\x81"), 1u);                 // e and a combining accent
  EXPECT_EQ(width_of("\xE6\x9C\xAC\xE6\xA3\x9A"), 4u);  // 本棚
  EXPECT_EQ(width_of("\xF0\x9F\x93\x9A"), 2u);          // an emoji
  EXPECT_EQ(width_of("\xFF\xC3"), 2u);                  // no UTF-8
}

TEST(width, cuts_between_characters) {
  EXPECT_EQ(truncate_end("plain", 5), "plain");
  EXPECT_EQ(truncate_end("plain", 4), "pla\xE2\x80\xA6");
  EXPECT_EQ(truncate_end("plain", 0), "");
  EXPECT_EQ(truncate_end("\xE6\x9C\xAC\xE6\xA3\x9A", 3), "\xE6\x9C\xAC\xE2\x80\xA6");
  EXPECT_EQ(truncate_end("\xE6\x9C\xAC\xE6\xA3\x9A", 2), "\xE2\x80\xA6");  // half a character is none
  EXPECT_EQ(truncate_middle("file:///a/b/c.txt", 11),
            "file:\xE2\x80\xA6"
            "c.txt");
  EXPECT_EQ(truncate_middle("plain", 0), "");
  for (std::size_t columns = 0; columns < 12; ++columns) {
    EXPECT_LE(width_of(truncate_end("a\xE6\x9C\xAC"
                                    "b\xE6\xA3\x9A"
                                    "ce\xCC\x81"
                                    "d\xE6\x9C\xAC",
                                    columns)),
              columns);
    EXPECT_LE(width_of(truncate_middle("a\xE6\x9C\xAC"
                                       "b\xE6\xA3\x9A"
                                       "ce\xCC\x81"
                                       "d\xE6\x9C\xAC",
                                       columns)),
              columns);
  }
}

TEST(columns, line_up_with_wide_characters) {
  const auto table = fit_table({{"NAME"}, {"SIZE", column::alignment::right}, {"END"}},
                               {{"\xE6\x9C\xAC\xE6\xA3\x9A", "1", "x"}, {"abc", "100", "y"}}, 80, false);
  EXPECT_EQ(table.text, "NAME  SIZE  END\n\xE6\x9C\xAC\xE6\xA3\x9A     1  x\nabc    100  y\n");
  EXPECT_FALSE(table.was_truncated);
}

TEST(columns, without_content_are_left_out) {
  EXPECT_EQ(fit_table({{"A"}, {"EMPTY"}, {"B"}}, {{"1", "", "2"}}, 80, false).text, "A  B\n1  2\n");
  EXPECT_EQ(fit_table({{"A"}}, {{"1"}}, 80, true).text, "\x1b[1mA\x1b[0m\n1\n");
}

TEST(columns, fit_the_terminal_and_leave_narrow_ones_whole) {
  const std::string uri = "file:///srv/a/very/long/path/to/some/file.txt";
  const auto table = fit_table({{"NAME"}, {"URI", column::alignment::left, column::truncation::in_middle}},
                               {{"file.txt", uri}, {"b", "file:///b"}}, 40, false);
  EXPECT_TRUE(table.was_truncated);
  EXPECT_NE(table.text.find("file:///b"), std::string::npos) << table.text;
  EXPECT_NE(table.text.find("file.txt\n"), std::string::npos) << table.text;
  std::size_t widest = 0;
  for (std::size_t at = 0; at < table.text.size();) {
    const auto end = table.text.find('\n', at);
    widest = std::max(widest, width_of(std::string_view(table.text).substr(at, end - at)));
    at = end + 1;
  }
  EXPECT_EQ(widest, 40u) << table.text;
}

TEST(columns, stay_legible_on_a_terminal_that_is_too_narrow) {
  const auto table = fit_table({{"A", column::alignment::left, column::truncation::at_end}, {"B"}},
                               {{std::string(30, 'a'), std::string(30, 'b')}}, 10, false);
  EXPECT_NE(table.text.find("aaaaaaa\xE2\x80\xA6  " + std::string(30, 'b')), std::string::npos) << table.text;
}

TEST(quantities, ages_are_rounded_down_to_one_unit) {
  using namespace std::chrono_literals;
  EXPECT_EQ(human_age(0s), "0 s");
  EXPECT_EQ(human_age(59s), "59 s");
  EXPECT_EQ(human_age(119s), "1 min");
  EXPECT_EQ(human_age(3599s), "59 min");
  EXPECT_EQ(human_age(47h + 59min), "47 h");
  EXPECT_EQ(human_age(48h), "2 days");
}

TEST(quantities, sizes_have_at_most_four_characters_and_a_unit) {
  EXPECT_EQ(human_size(0), "0 B");
  EXPECT_EQ(human_size(1023), "1023 B");
  EXPECT_EQ(human_size(1024), "1.0 KiB");
  EXPECT_EQ(human_size(10 * 1024 - 1), "10 KiB");
  EXPECT_EQ(human_size(64u << 20), "64 MiB");
  EXPECT_EQ(human_size((1u << 20) - 1), "1.0 MiB");
  EXPECT_EQ(human_size(3ull << 29), "1.5 GiB");
  EXPECT_EQ(human_size(UINT64_MAX), "16 EiB");
}

TEST(quantities, times_and_numbers_read_back) {
  const std::chrono::sys_time<std::chrono::milliseconds> when{std::chrono::milliseconds(1'700'000'000'120)};
  EXPECT_EQ(iso_time(when), "2023-11-14T22:13:20.120Z");
  EXPECT_EQ(iso_time(std::chrono::sys_time<std::chrono::milliseconds>{std::chrono::milliseconds(-1)}),
            "1969-12-31T23:59:59.999Z");
  EXPECT_EQ(human_time(when).size(), std::string("2023-11-14 22:13").size());
  EXPECT_EQ(short_number(0.9), "0.9");
  EXPECT_EQ(short_number(1), "1");
  EXPECT_EQ(short_number(0.25), "0.25");
}

TEST(progress, shows_a_bar_where_the_end_is_known) {
  using enum progress_line::unit;
  EXPECT_EQ(progress_text(512u << 20, 1u << 30, 8, bytes, 80), "[############------------]  50%  512 MiB of 1.0 GiB  64 MiB/s");
  EXPECT_EQ(progress_text(0, 10, 0, bytes, 80), "[------------------------]   0%  0 B of 10 B");
  // A server may have stated less than there is.
  EXPECT_EQ(progress_text(20, 10, 0, bytes, 80), "[########################] 100%  20 B of 10 B");
  EXPECT_EQ(progress_text(5, 0, 0, bytes, 80), "5 B");
}

TEST(progress, shows_what_there_is_without_an_end_and_no_more_than_fits) {
  using enum progress_line::unit;
  EXPECT_EQ(progress_text(2048, {}, 2, bytes, 80), "2.0 KiB  1.0 KiB/s");
  EXPECT_EQ(progress_text(1234, {}, 2, entries, 80), "1234 entries");
  EXPECT_EQ(width_of(progress_text(1u << 20, 1u << 30, 8, bytes, 20)), 20u);
}

/// What a filter makes of a text in pieces of a length.
std::string filtered(std::string_view text, std::size_t piece) {
  text_filter filter;
  std::string out;
  for (std::size_t at = 0; at < text.size(); at += piece) out += filter.feed(text.substr(at, piece));
  return out + filter.finish();
}

TEST(text_filter, lets_no_command_of_a_terminal_through) {
  EXPECT_EQ(filtered("a\x1b[31mb\n\tc\x07", 1000), "a?[31mb\n\tc?");
  EXPECT_EQ(filtered("line\r\nnext\rover", 1000), "line\nnext?over");
}

TEST(text_filter, says_the_same_however_the_text_is_cut) {
  const std::string text = "\xE6\x9C\xAC\x1b\xF0\x9F\x93\x9A\r\n\xC2\x9Bx\xE2\x80\xAEy\r\n\r";
  const auto whole = filtered(text, text.size());
  for (std::size_t piece = 1; piece < text.size(); ++piece) EXPECT_EQ(filtered(text, piece), whole) << piece;
  EXPECT_EQ(whole.find('\x1b'), std::string::npos);
}

TEST(text_filter, tells_text_from_other_bytes) {
  EXPECT_TRUE(looks_like_text(""));
  EXPECT_TRUE(looks_like_text("plain\n"));
  EXPECT_TRUE(looks_like_text("cut \xE6\x9C"));
  EXPECT_FALSE(looks_like_text(std::string_view("a\0b", 3)));
  EXPECT_FALSE(looks_like_text("\x89PNG"));
  EXPECT_FALSE(looks_like_text("\xE6\x9C cut"));
}

}  // namespace
}  // namespace hondana::cli
