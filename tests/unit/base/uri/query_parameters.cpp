/// Queries that are parsed by a table of parameters.
#include "base/uri/query_parameters.hpp"

#include <array>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace hondana::uri {
namespace {

constexpr std::array<std::string_view, 2> memo_formats{"json", "markdown"};
constexpr auto memo_parameters = std::to_array<query_parameter>({
    {.name = "grep", .max_bytes = 8},
    {.name = "path", .type = parameter_type::bytes},
    {.name = "format", .type = parameter_type::choice, .choices = memo_formats},
    {.name = "limit", .type = parameter_type::integer, .min = 1, .max = 50},
    {.name = "share", .type = parameter_type::number, .max = 1},
    {.name = "above", .type = parameter_type::number, .min = -std::numeric_limits<double>::infinity()},
    {.name = "lines", .type = parameter_type::range, .min = 1},
    {.name = "field", .type = parameter_type::list, .max = 3},
});

query_values parsed_memo(std::string_view query) {
  auto values = parse_query(query, memo_parameters, "memo://");
  EXPECT_TRUE(values) << query << ": " << (values ? "" : values.error().public_text);
  return values ? *std::move(values) : query_values();
}

std::string memo_error(std::string_view query) {
  const auto values = parse_query(query, memo_parameters, "memo://");
  if (values) return "accepted";
  EXPECT_EQ(values.error().code, errc::invalid_argument) << query;
  return values.error().public_text;
}

TEST(query_parameters, are_read_by_type_in_any_order) {
  const std::string query =
      "lines=10-40&above=-1e9&share=0.5&limit=50&format=markdown&path=%FF%2Fa%00&grep=a+b%20c&field=x%2Cy,z&field=w";
  const auto values = parsed_memo(query);
  EXPECT_EQ(values.text("grep"), "a+b c") << "a plus is a plus";
  EXPECT_EQ(values.text("path"), std::string_view("\xFF/a\0", 4));
  EXPECT_EQ(values.text("format"), "markdown");
  EXPECT_EQ(values.integer("limit"), 50U);
  EXPECT_EQ(values.number("share"), 0.5);
  EXPECT_EQ(values.number("above"), -1e9);
  EXPECT_EQ(values.range("lines"), (value_range{10, 40}));
  EXPECT_EQ(values.list("field"), (std::vector<std::string>{"x,y", "z", "w"}));
  EXPECT_EQ(values.count(), 10U);
}

TEST(query_parameters, without_a_value_are_absent) {
  for (const auto* query : {"", "grep", "grep=", "grep=&limit=&lines=&format=&share=", "field=&field=,,&field", "limit=&"}) {
    const auto values = parsed_memo(query);
    EXPECT_EQ(values.count(), 0U) << query;
    for (const auto& parameter : memo_parameters) EXPECT_FALSE(values.has(parameter.name)) << query;
    EXPECT_EQ(values.text("grep"), "") << query;
    EXPECT_FALSE(values.integer("limit") || values.number("share") || values.range("lines")) << query;
    EXPECT_TRUE(values.list("field").empty()) << query;
  }
  EXPECT_EQ(parse_query(std::nullopt, memo_parameters, "memo://")->count(), 0U);
}

TEST(query_parameters, ranges_have_three_forms) {
  EXPECT_EQ(parsed_memo("lines=7").range("lines"), (value_range{7, 7}));
  EXPECT_EQ(parsed_memo("lines=7-").range("lines"), (value_range{7, std::nullopt}));
  EXPECT_EQ(parsed_memo("lines=7%2D9").range("lines"), (value_range{7, 9}));
  EXPECT_EQ(parsed_memo("lines=1-18446744073709551615").range("lines")->last, std::numeric_limits<std::uint64_t>::max());
}

TEST(query_parameters, that_are_wrong_are_named_as_written) {
  const std::string known = "; memo:// knows: grep, path, format, limit, share, above, lines, field.";
  const std::string range = ": expected FIRST-LAST, FIRST- or FIRST, counted from 1, both ends included, such as 10-40.";
  const std::string escape =
      "the value has a broken percent-escape. Write % and two hexadecimal digits, and a percent sign itself "
      "as %25.";
  const std::vector<std::pair<std::string, std::string>> cases{
      {"linse=1", "unknown parameter \"linse\"" + known},
      {"linse=", "unknown parameter \"linse\"" + known},
      {"LINES=1", "unknown parameter \"LINES\"" + known},
      {"l%69nes=1", "unknown parameter \"l%69nes\"" + known},
      {"&lines=1", "unknown parameter \"\"" + known},
      {"lines=1&&", "unknown parameter \"\"" + known},
      {"=1", "unknown parameter \"\"" + known},
      {std::string(65, 'x') + "=1", "unknown parameter \"" + std::string(64, 'x') + "...\"" + known},
      {"a\"\n\xFF=1", "unknown parameter \"a\"??\"" + known},
      {"lines=1&lines=2", "lines: given more than once. Give it once."},
      {"lines=&lines=2", "lines: given more than once. Give it once."},
      {"grep=%", "grep: " + escape},
      {"grep=%4", "grep: " + escape},
      {"path=%zz", "path: " + escape},
      {"field=a,%f", "field: " + escape},
      {"grep=123456789", "grep: the value is longer than 8 bytes."},
      {"path=" + std::string(8193, 'a'), "path: the value is longer than 8192 bytes."},
      {"grep=%FF", "grep: the value is not valid UTF-8 or contains a NUL."},
      {"limit=%C3%28", "limit: the value is not valid UTF-8 or contains a NUL."},
      {"grep=a%00", "grep: the value is not valid UTF-8 or contains a NUL."},
      {"format=xml", "format=xml: unknown value; known: json, markdown."},
      {"format=JSON", "format=JSON: unknown value; known: json, markdown."},
      {"format=%20json", "format=%20json: unknown value; known: json, markdown."},
      {"limit=0", "limit=0: expected a whole number from 1 to 50."},
      {"limit=51", "limit=51: expected a whole number from 1 to 50."},
      {"limit=-1", "limit=-1: expected a whole number from 1 to 50."},
      {"limit=1.5", "limit=1.5: expected a whole number from 1 to 50."},
      {"limit=99999999999999999999", "limit=99999999999999999999: expected a whole number from 1 to 50."},
      {"share=-0.1", "share=-0.1: expected a number from 0 to 1."},
      {"share=nan", "share=nan: expected a number from 0 to 1."},
      {"above=inf", "above=inf: expected a number, such as 0.9 or 1e9."},
      {"above=high", "above=high: expected a number, such as 0.9 or 1e9."},
      {"lines=0", "lines=0" + range},
      {"lines=9-3", "lines=9-3" + range},
      {"lines=-5", "lines=-5" + range},
      {"lines=1-2-3", "lines=1-2-3" + range},
      {"lines=%2B1", "lines=%2B1" + range},
      {"lines=18446744073709551616", "lines=18446744073709551616" + range},
      {"field=a,b&field=c,d", "field: more than 3 values."},
      {"field=a,b,c,d", "field: more than 3 values."},
  };
  for (const auto& [query, error] : cases) EXPECT_EQ(memo_error(query), error) << query;
  EXPECT_EQ(parse_query("linse=1", {}, "memo://targets").error().public_text,
            "unknown parameter \"linse\"; memo://targets knows none.");
}

TEST(query_parameters, errors_of_sources_have_the_same_form) {
  const auto values = parsed_memo("grep=%28&lines=1");
  EXPECT_EQ(values.label("grep"), "grep=%28");
  EXPECT_EQ(values.invalid("grep", "expected an expression.").value().public_text, "grep=%28: expected an expression.");
  EXPECT_EQ(invalid_parameter("until", "it is not after since.").value().public_text, "until: it is not after since.");
  EXPECT_TRUE(values.allow_one_of({"grep", "path", "limit"}));
  EXPECT_EQ(values.allow_one_of({"path", "grep", "lines"}).error().public_text,
            "grep and lines cannot be combined. Use one of them.");
}

TEST(query_parameters, are_written_as_an_expression_of_a_template) {
  EXPECT_EQ(query_template(memo_parameters), "{?grep,path,format,limit,share,above,lines,field}");
}

}  // namespace
}  // namespace hondana::uri
