/// What the reader refuses, and what it says.
#include "base/json/reader.hpp"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace {

using namespace std::string_view_literals;
using hondana::json::document;

std::string failure_of(std::string_view text) {
  const auto result = document::parse(text);
  return result ? "no error" : result.error().message;
}

std::string nested(std::size_t depth, std::string_view open, std::string_view inner, std::string_view close) {
  std::string text;
  for (std::size_t i = 0; i < depth; ++i) text += open;
  text += inner;
  for (std::size_t i = 0; i < depth; ++i) text += close;
  return text;
}

constexpr std::string_view empty = "the text is empty; send one JSON value";
constexpr std::string_view not_utf8 = "the text is not well-formed UTF-8";
constexpr std::string_view too_deep = "arrays and objects are nested deeper than 128 levels";
constexpr std::string_view bad_number = "not JSON: a number is malformed or too large";
constexpr std::string_view bad_string = "not JSON: a string contains an invalid escape, such as a lone surrogate";
constexpr std::string_view bad_control = "not JSON: a string contains an unescaped control character";
constexpr std::string_view unclosed = "not JSON: a string is not closed";
constexpr std::string_view bad_shape = "not JSON: a value, comma, colon or bracket is missing, misplaced or left over";

TEST(json_reader_malformed, empty_and_blank_texts) {
  EXPECT_EQ(failure_of(""), empty);
  EXPECT_EQ(failure_of(std::string_view()), empty);
  EXPECT_EQ(failure_of("   "), empty);
  EXPECT_EQ(failure_of("\r\n\t"), empty);
  EXPECT_EQ(failure_of(std::string(200000, ' ')), empty);
}

TEST(json_reader_malformed, content_behind_the_value) {
  for (const auto text : {"{}{}"sv, "{} x"sv, "[1] 2"sv, "1 1"sv, "{},"sv, "null null"sv, "\"a\" \"b\""sv, "{}]"sv, "{}\0"sv}) {
    EXPECT_EQ(failure_of(text), bad_shape) << text;
  }
}

TEST(json_reader_malformed, structure_that_is_missing_or_misplaced) {
  for (const auto text : {"{"sv,         "["sv,          "]"sv,       "{\"a\""sv, "{\"a\":"sv, "{\"a\":1"sv, "[1"sv, "[1,"sv,
                          "[1,]"sv,      "{\"a\":1,}"sv, "{\"a\"}"sv, "{a:1}"sv,  "{1:2}"sv,   "{'a':1}"sv,  ","sv,  "[1 2]"sv,
                          "{\"a\" 1}"sv, "/*x*/1"sv,     "[1}"sv,     "\0"sv,     "+1"sv,      ".5"sv}) {
    EXPECT_EQ(failure_of(text), bad_shape) << text;
  }
}

TEST(json_reader_malformed, words_that_are_none_of_json) {
  for (const auto text : {"tru"sv, "nulll"sv, "nan"sv, "NaN"sv, "Infinity"sv, "True"sv, "NULL"sv, "[fals]"sv, "undefined"sv}) {
    EXPECT_EQ(failure_of(text), bad_shape) << text;
  }
}

TEST(json_reader_malformed, every_truncation_of_a_message) {
  constexpr std::string_view message =
      R"({"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"file:///\u672c","n":[1.5e3,true,null]}})";
  ASSERT_EQ(failure_of(message), "no error");
  for (std::size_t size = 0; size < message.size(); ++size) EXPECT_NE(failure_of(message.substr(0, size)), "no error") << size;
}

TEST(json_reader_malformed, numbers) {
  for (const auto text : {"01"sv, "-"sv, "--1"sv, "1."sv, "1.e1"sv, "1e"sv, "1e+"sv, "0x10"sv, "-01"sv, "1_000"sv, "1e400"sv,
                          "-1e400"sv, "18446744073709551616"sv, "-9223372036854775809"sv, "[1,00]"sv}) {
    EXPECT_EQ(failure_of(text), bad_number) << text;
  }
}

TEST(json_reader_malformed, strings) {
  EXPECT_EQ(failure_of("\"abc"), unclosed);
  EXPECT_EQ(failure_of("\"abc\\\""), unclosed);
  EXPECT_EQ(failure_of(R"("\x41")"), bad_string);
  EXPECT_EQ(failure_of(R"("\u12g4")"), bad_string);
  EXPECT_EQ(failure_of(R"("\u12")"), bad_string);
  EXPECT_EQ(failure_of(R"({"\q":1})"), bad_string);
  for (char c = 0; c < 0x20; ++c) EXPECT_EQ(failure_of(std::string("[\"a") + c + "b\"]"), bad_control) << int{c};
}

TEST(json_reader_malformed, lone_surrogates) {
  for (const auto text :
       {R"("\ud800")"sv, R"("\udc00")"sv, R"("\udfff")"sv, R"("\ud800\u0041")"sv, R"("\ud800\ud800")"sv, R"("\ud800x")"sv,
        R"("\ud800\n")"sv, R"("\udc00\ud800")"sv, R"("x\ud800")"sv, R"({"\ud800":1})"sv, R"("\uDBFF\uE000")"sv}) {
    EXPECT_EQ(failure_of(text), bad_string) << text;
  }
  EXPECT_EQ(failure_of(R"("\ud83d\ude00")"), "no error");
}

TEST(json_reader_malformed, bytes_that_are_not_utf8) {
  for (const auto bad : {"\xFF\xFE"sv, "\xFF"sv, "\x80"sv, "\xC0\xAF"sv, "\xE0\x80\xAF"sv, "\xED\xA0\x80"sv,
                         "\xF4\x90\x80\x80"sv, "\xE6\x9C"sv}) {
    EXPECT_EQ(failure_of(bad), not_utf8);
    for (std::size_t before = 0; before < 130; ++before) {
      EXPECT_EQ(failure_of("{\"a\":\"" + std::string(before, 'x') + std::string(bad) + "\"}"), not_utf8) << before;
    }
  }
}

TEST(json_reader_malformed, a_byte_order_mark) {
  EXPECT_EQ(failure_of("\xEF\xBB\xBF{}"), "the text starts with a byte order mark; send UTF-8 without one");
  EXPECT_EQ(failure_of("\xEF\xBB\xBF"), "the text starts with a byte order mark; send UTF-8 without one");
}

TEST(json_reader_malformed, nesting_beyond_128) {
  EXPECT_EQ(failure_of(nested(128, "[", "1", "]")), "no error");
  EXPECT_EQ(failure_of(nested(129, "[", "1", "]")), too_deep);
  EXPECT_EQ(failure_of(nested(128, "{\"a\":", "1", "}")), "no error");
  EXPECT_EQ(failure_of(nested(129, "{\"a\":", "1", "}")), too_deep);
  EXPECT_EQ(failure_of(nested(64, "[{\"a\":", "1", "}]")), "no error");
  EXPECT_EQ(failure_of(nested(65, "[{\"a\":", "1", "}]")), too_deep);
  EXPECT_EQ(failure_of(nested(130, "[", "", "]")), too_deep);
}

TEST(json_reader_malformed, nesting_of_ten_thousand_and_a_million) {
  EXPECT_EQ(failure_of(nested(10000, "[", "", "]")), too_deep);
  EXPECT_EQ(failure_of(nested(10000, "{\"a\":", "1", "}")), too_deep);
  EXPECT_EQ(failure_of(nested(1000000, "[", "", "]")), too_deep);
  EXPECT_EQ(failure_of(std::string(10000, '[')), bad_shape);
}

TEST(json_reader_malformed, a_failure_leaves_the_next_text_unharmed) {
  for (const auto bad : {"{"sv, "\xFF"sv, "\"\\ud800\""sv, ""sv}) {
    EXPECT_NE(failure_of(bad), "no error");
    EXPECT_EQ(document::parse("[1]")->root().to_json(), "[1]");
  }
}

}  // namespace
