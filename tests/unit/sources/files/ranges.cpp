/// Parts of files by `lines` and `bytes`.
#include <gtest/gtest.h>

#include <string>

#include "scratch_folder.hpp"
#include "sources/files/file_range.hpp"

namespace hondana::files {
namespace {

class ranges : public testing::Test {
 protected:
  ranges() : files_(open_provider(root_)) {}
  std::string part(const std::string& path_and_query) { return read_text(*files_, root_.uri(path_and_query)); }
  std::string complaint(const std::string& path_and_query) {
    const auto answer = read(*files_, root_.uri(path_and_query));
    return answer ? "no error" : answer.error().public_text;
  }

  scratch_folder root_;
  std::shared_ptr<files_provider> files_;
};

TEST_F(ranges, of_lines_count_from_one_and_include_both_ends) {
  root_.write("f.txt", "one\ntwo\nthree\nfour\n");
  EXPECT_EQ(part("f.txt?lines=1-2"), "one\ntwo\n");
  EXPECT_EQ(part("f.txt?lines=2-3"), "two\nthree\n");
  EXPECT_EQ(part("f.txt?lines=2"), "two\n");
  EXPECT_EQ(part("f.txt?lines=3-"), "three\nfour\n");
  EXPECT_EQ(part("f.txt?lines=4-4"), "four\n");
  EXPECT_EQ(part("f.txt?lines=3-99"), "three\nfour\n");
  EXPECT_EQ(part("f.txt?lines=1-"), "one\ntwo\nthree\nfour\n");
}

TEST_F(ranges, of_lines_know_a_last_line_without_its_end_and_carriage_returns) {
  root_.write("f.txt", "one\r\ntwo");
  EXPECT_EQ(part("f.txt?lines=1"), "one\r\n");
  EXPECT_EQ(part("f.txt?lines=2"), "two");
  EXPECT_EQ(complaint("f.txt?lines=3"), "The range begins beyond the end: the file has 2 lines.");
}

TEST_F(ranges, that_begin_beyond_the_end_name_what_there_is) {
  root_.write("f.txt", "one\ntwo\n");
  root_.write("empty.txt", "");
  root_.write("single.txt", "x");
  EXPECT_EQ(complaint("f.txt?lines=3-4"), "The range begins beyond the end: the file has 2 lines.");
  EXPECT_EQ(complaint("f.txt?bytes=8-"), "The range begins beyond the end: the file has 8 bytes.");
  EXPECT_EQ(complaint("empty.txt?lines=1-"), "The range begins beyond the end: the file has 0 lines.");
  EXPECT_EQ(complaint("empty.txt?bytes=0-"), "The range begins beyond the end: the file has 0 bytes.");
  EXPECT_EQ(complaint("single.txt?lines=2"), "The range begins beyond the end: the file has 1 line.");
  EXPECT_EQ(complaint("f.txt?bytes=18446744073709551615-"), "The range begins beyond the end: the file has 8 bytes.");
}

TEST_F(ranges, of_bytes_count_from_zero_and_include_both_ends) {
  root_.write("f.txt", "0123456789");
  EXPECT_EQ(part("f.txt?bytes=0-3"), "0123");
  EXPECT_EQ(part("f.txt?bytes=4-"), "456789");
  EXPECT_EQ(part("f.txt?bytes=9"), "9");
  EXPECT_EQ(part("f.txt?bytes=8-4095"), "89");
  EXPECT_EQ(part("f.txt?bytes=8-18446744073709551615"), "89");
}

TEST_F(ranges, of_bytes_are_narrowed_to_whole_code_points_of_text) {
  root_.write("f.txt", "a日b😀c");  // 1 + 3 + 1 + 4 + 1 bytes
  EXPECT_EQ(part("f.txt?bytes=0-1"), "a");
  EXPECT_EQ(part("f.txt?bytes=0-2"), "a");
  EXPECT_EQ(part("f.txt?bytes=0-3"), "a日");
  EXPECT_EQ(part("f.txt?bytes=1-3"), "日");
  EXPECT_EQ(part("f.txt?bytes=2-4"), "b");
  EXPECT_EQ(part("f.txt?bytes=2-3"), "");
  EXPECT_EQ(part("f.txt?bytes=6-7"), "");
  EXPECT_EQ(part("f.txt?bytes=4-7"), "b");
  EXPECT_EQ(part("f.txt?bytes=5-8"), "😀");
  EXPECT_EQ(part("f.txt?bytes=7-9"), "c");
}

TEST_F(ranges, of_binary_files_are_blobs_to_the_byte_even_where_they_look_like_text) {
  root_.write("f.bin", std::string("text\n\0more\n\xff\xfe", 13));
  const auto answer = read(*files_, root_.uri("f.bin?bytes=0-3"));
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->contents[0].kind, content_kind::blob);
  EXPECT_EQ(bytes_of(answer->contents[0]), "text");
  EXPECT_EQ(complaint("f.bin?lines=1"),
            "The parameter \"lines\" is for text, and this file is not UTF-8 text. Request a part with ?bytes=FIRST-LAST.");
}

TEST_F(ranges, repeat_the_uri_as_it_was_asked) {
  root_.write("f.txt", "one\ntwo\n");
  const auto answer = read(*files_, root_.uri("%66.txt?lines=1-1"));
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->contents[0].uri, std::nullopt);  // empty stands for the URI as asked
  EXPECT_EQ(answer->contents[0].name, "f.txt");
}

TEST_F(ranges, that_are_malformed_name_the_parameter_and_its_form) {
  root_.write("f.txt", "one\ntwo\n");
  for (const char* value :
       {"0-5", "5-3", "-5", "a-b", "1-2-3", "1,2", "+1", "%201", "1-2x", "99999999999999999999", "0x1", "1.5", "%2B1"}) {
    EXPECT_EQ(complaint(std::string("f.txt?lines=") + value),
              "lines=" + std::string(value) +
                  ": expected FIRST-LAST, FIRST- or FIRST, counted from 1, both ends included, such as 10-40.");
    EXPECT_EQ(read_error(*files_, root_.uri("f.txt?lines=" + std::string(value))), errc::invalid_argument) << value;
  }
  for (const char* value : {"5-3", "-5", "x"}) {
    EXPECT_EQ(complaint(std::string("f.txt?bytes=") + value),
              "bytes=" + std::string(value) +
                  ": expected FIRST-LAST, FIRST- or FIRST, counted from 0, both ends included, such as 10-40.");
  }
}

TEST_F(ranges, without_a_value_are_the_whole_file) {
  root_.write("f.txt", "one\ntwo\n");
  for (const char* query : {"?", "?lines=", "?bytes=", "?lines", "?lines=&bytes="})
    EXPECT_EQ(part(std::string("f.txt") + query), "one\ntwo\n") << query;
  EXPECT_EQ(part("f.txt?lines=2&bytes="), "two\n");
}

TEST_F(ranges, of_both_kinds_at_once_or_twice_are_refused) {
  root_.write("f.txt", "one\ntwo\n");
  EXPECT_EQ(complaint("f.txt?lines=1-2&bytes=0-3"), "lines and bytes cannot be combined. Use one of them.");
  EXPECT_EQ(complaint("f.txt?bytes=0-3&lines=1-2"), "lines and bytes cannot be combined. Use one of them.");
  EXPECT_EQ(complaint("f.txt?lines=1&lines=2"), "lines: given more than once. Give it once.");
  EXPECT_EQ(complaint("f.txt?lines=1&"), "no error");
}

TEST_F(ranges, other_parameters_are_named_and_fragments_name_no_resource) {
  root_.write("f.txt", "one\n");
  EXPECT_EQ(complaint("f.txt?line=1"), "unknown parameter \"line\"; file:// knows: lines, bytes.");
  EXPECT_EQ(complaint("f.txt?LINES=1"), "unknown parameter \"LINES\"; file:// knows: lines, bytes.");
  EXPECT_EQ(complaint("f.txt?&lines=1"), "unknown parameter \"\"; file:// knows: lines, bytes.");
  EXPECT_EQ(read_error(*files_, root_.uri("f.txt?line=1")), errc::invalid_argument);
  EXPECT_EQ(read_error(*files_, root_.uri("none.txt?line=1")), errc::resource_not_found);
  EXPECT_EQ(read_error(*files_, root_.uri("f.txt#top")), errc::resource_not_found);
}

TEST_F(ranges, of_large_files_are_streamed_and_bounded_by_the_limit_themselves) {
  std::string text;
  while (text.size() < (3u << 20)) text += "a line of some length, number " + std::to_string(text.size()) + "\n";
  root_.write("large.txt", text);
  const auto whole = read(*files_, root_.uri("large.txt"), 1 << 20);
  ASSERT_FALSE(whole.has_value());
  EXPECT_EQ(whole.error().code, errc::response_too_large);
  const auto part_of_it = read(*files_, root_.uri("large.txt?bytes=1000000-1999999"), 1 << 20);
  ASSERT_TRUE(part_of_it.has_value());
  EXPECT_EQ(bytes_of(part_of_it->contents[0]), text.substr(1'000'000, 1'000'000));
  const auto larger = read(*files_, root_.uri("large.txt?bytes=100000-2999999"));
  ASSERT_TRUE(larger.has_value());
  EXPECT_TRUE(std::holds_alternative<std::shared_ptr<byte_reader>>(larger->contents[0].data));
  EXPECT_EQ(bytes_of(larger->contents[0]), text.substr(100'000, 2'900'000));
  const auto too_much = read(*files_, root_.uri("large.txt?bytes=0-2000000"), 1 << 20);
  ASSERT_FALSE(too_much.has_value());
  EXPECT_EQ(too_much.error().code, errc::response_too_large);
  EXPECT_NE(too_much.error().public_text.find("2000001"), std::string::npos);
}

TEST_F(ranges, of_lines_far_into_a_large_file_are_found_across_windows) {
  std::string text;
  for (int i = 1; i <= 100'000; ++i) (text += std::to_string(i)) += '\n';
  root_.write("numbers.txt", text);
  EXPECT_EQ(part("numbers.txt?lines=100000"), "100000\n");
  EXPECT_EQ(part("numbers.txt?lines=50000-50002"), "50000\n50001\n50002\n");
  EXPECT_EQ(complaint("numbers.txt?lines=100001-"), "The range begins beyond the end: the file has 100000 lines.");
}

TEST(parse_range, reads_every_form) {
  EXPECT_FALSE(parse_range("").value().has_value());
  const auto lines = parse_range("lines=10-40").value();
  ASSERT_TRUE(lines.has_value());
  EXPECT_EQ(lines->unit, range_unit::lines);
  EXPECT_EQ(lines->first, 10u);
  EXPECT_EQ(lines->last, 40u);
  EXPECT_FALSE(parse_range("bytes=7-").value()->last.has_value());
  EXPECT_EQ(parse_range("bytes=7").value()->last, 7u);
  EXPECT_EQ(parse_range("lines=10%2D40").value()->last, 40u);
}

}  // namespace
}  // namespace hondana::files
