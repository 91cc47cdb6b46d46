/// The writer: commas, numbers, repair of ill-formed text, and that what it writes reads back.
#include "base/json/writer.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "base/json/reader.hpp"

namespace {

using namespace std::string_view_literals;
using hondana::json::document;
using hondana::json::kind;
using hondana::json::writer;

template <class Write>
std::string written(Write write) {
  std::string out;
  writer to(out);
  write(to);
  return out;
}

std::string number(double value) {
  return written([&](writer& to) { to.number(value); });
}

TEST(json_writer, puts_commas_between_members_and_elements_only) {
  EXPECT_EQ(written([](writer& to) {
              to.begin_object()
                  .key("a")
                  .begin_array()
                  .integer(1)
                  .begin_array()
                  .end_array()
                  .begin_object()
                  .end_object()
                  .boolean(true)
                  .end_array()
                  .member("b", "x")
                  .key("c")
                  .begin_object()
                  .member("d", "")
                  .end_object()
                  .key("e")
                  .null()
                  .key("f")
                  .raw("[1, 2]")
                  .key("g")
                  .boolean(false)
                  .end_object();
            }),
            R"({"a":[1,[],{},true],"b":"x","c":{"d":""},"e":null,"f":[1, 2],"g":false})");
}

TEST(json_writer, leaves_out_an_empty_optional_member) {
  EXPECT_EQ(
      written([](writer& to) { to.begin_object().member_if("a", "").member_if("b", "x").member_if("c", "").end_object(); }),
      R"({"b":"x"})");
}

TEST(json_writer, writes_the_bounds_of_integers) {
  EXPECT_EQ(written([](writer& to) {
              to.begin_array()
                  .integer(0)
                  .integer(-1)
                  .integer(std::numeric_limits<std::int64_t>::min())
                  .integer(std::numeric_limits<std::int64_t>::max())
                  .unsigned_integer(std::numeric_limits<std::uint64_t>::max())
                  .end_array();
            }),
            "[0,-1,-9223372036854775808,9223372036854775807,18446744073709551615]");
}

TEST(json_writer, writes_doubles_in_the_shortest_form_that_reads_back) {
  EXPECT_EQ(number(0.1), "0.1");
  EXPECT_EQ(number(1.5), "1.5");
  EXPECT_EQ(number(1), "1");
  EXPECT_EQ(number(-0.0), "-0");
  EXPECT_EQ(number(1e23), "1e+23");
  EXPECT_EQ(number(5e-324), "5e-324");
  EXPECT_EQ(number(1.7976931348623157e308), "1.7976931348623157e+308");
  for (const double value : {0.1, 1.0 / 3, 1e22, 5e-324, -2.2250738585072014e-308, 1.7976931348623157e308, 123456789.125}) {
    const auto parsed = document::parse(number(value));
    ASSERT_TRUE(parsed);
    EXPECT_EQ(parsed->root().as_number("").value(), value);
  }
}

TEST(json_writer, writes_null_for_what_json_has_no_number_for) {
  EXPECT_EQ(number(std::numeric_limits<double>::infinity()), "null");
  EXPECT_EQ(number(-std::numeric_limits<double>::infinity()), "null");
  EXPECT_EQ(number(std::nan("")), "null");
  EXPECT_EQ(written([](writer& to) { to.begin_array().number(std::nan("")).number(1).end_array(); }), "[null,1]");
}

TEST(json_writer, escapes_strings_and_keys) {
  EXPECT_EQ(hondana::json::quoted("a\"b\\c\n\x01"), R"("a\"b\\c\n\u0001")");
  EXPECT_EQ(hondana::json::quoted("\0"sv), R"("\u0000")");
  EXPECT_EQ(hondana::json::quoted(""), R"("")");
  EXPECT_EQ(hondana::json::quoted("本棚"), "\"本棚\"");
  EXPECT_EQ(written([](writer& to) { to.begin_object().member("a\"\n", "x").end_object(); }), R"({"a\"\n":"x"})");
}

TEST(json_writer, replaces_ill_formed_text_wherever_it_stands) {
  EXPECT_EQ(hondana::json::quoted("\xFF\xFE"), "\"\uFFFD\uFFFD\"");
  EXPECT_EQ(hondana::json::quoted("a\xE6\x9C\"\n"), "\"a\uFFFD\\\"\\n\"");
  EXPECT_EQ(hondana::json::quoted("\xED\xA0\x80"), "\"\uFFFD\uFFFD\uFFFD\"");
  EXPECT_EQ(written([](writer& to) { to.begin_object().member("\xFF", "\xC0").end_object(); }), "{\"\uFFFD\":\"\uFFFD\"}");
  for (const std::size_t before : {0U, 7U, 8U, 63U, 64U, 65U, 255U, 256U, 257U, 5000U}) {
    EXPECT_EQ(hondana::json::quoted(std::string(before, 'x') + "\xFFz"), '"' + std::string(before, 'x') + "\uFFFDz\"");
  }
}

TEST(json_writer, every_byte_string_reads_back_as_written) {
  for (std::size_t size = 0; size <= 300; ++size) {
    std::string text;
    for (std::size_t i = 0; i < size; ++i) text += static_cast<char>((size * 7 + i * 31) % 128);
    const auto parsed = document::parse(hondana::json::quoted(text));
    ASSERT_TRUE(parsed) << parsed.error().message;
    ASSERT_EQ(parsed->root().as_string("").value(), text) << size;
  }
}

TEST(json_writer, what_the_reader_writes_afresh_is_the_same_text) {
  for (const auto text :
       {R"({"a":[1,-2,18446744073709551615,1.5,1e+300,true,false,null,"x\"\\\n\u0001本",[],{}],"b":{"c":{"d":[[]]}}})"sv,
        "null"sv, "true"sv, "\"\""sv, "[]"sv, "{}"sv, "-9223372036854775808"sv, "1.0"sv, "-0.0"sv, "0.1"sv}) {
    const auto parsed = document::parse(text);
    ASSERT_TRUE(parsed) << text;
    EXPECT_EQ(parsed->root().to_json(), text);
  }
}

TEST(json_writer, a_double_stays_a_double_when_written_afresh) {
  const auto parsed = document::parse("[1.0, 1e3, 100000000000000000000.0]");
  ASSERT_TRUE(parsed);
  const auto again = document::parse(parsed->root().to_json());
  ASSERT_TRUE(again);
  for (const auto& one : again->root().as_array("")->elements()) EXPECT_EQ(one.type(), kind::number);
}

}  // namespace
