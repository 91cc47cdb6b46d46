/// Words of a command line as the values that the schema of a tool wants.
#include "app/cli/verbs/typed_words.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace hondana::cli {
namespace {

value json_value(std::string_view text) { return value::parse(text).value(); }

std::string typed_as(std::string_view text, std::string_view schema) {
  const auto got = parse_typed_value(text, json_value(schema));
  return got ? got->to_text() : got.error().public_text;
}

std::string typed_words(const std::vector<std::string>& words, std::string_view schema) {
  const auto got = parse_tool_arguments(words, json_value(schema));
  return got ? got->to_text() : got.error().public_text;
}

TEST(typed_values, a_word_gets_the_type_of_the_schema) {
  EXPECT_EQ(typed_as("12", R"({"type":"string"})"), "\"12\"");
  EXPECT_EQ(typed_as("12", R"({"type":"integer"})"), "12");
  EXPECT_EQ(typed_as("1.5", R"({"type":"number"})"), "1.5");
  EXPECT_EQ(typed_as("true", R"({"type":"boolean"})"), "true");
  EXPECT_EQ(typed_as("no", R"({"type":"boolean"})"), "false");
  EXPECT_EQ(typed_as("[1,2]", R"({"type":"array","items":{"type":"integer"}})"), "[1,2]");
  EXPECT_EQ(typed_as("7", R"({"type":"array","items":{"type":"string"}})"), "[\"7\"]");
  EXPECT_EQ(typed_as(R"({"a":1})", R"({"type":"object"})"), R"({"a":1})");
  EXPECT_EQ(typed_as("3", R"({"type":["null","string"]})"), "\"3\"");
}

TEST(typed_values, without_a_type_it_is_json_where_it_can_be) {
  EXPECT_EQ(typed_as("12", "{}"), "12");
  EXPECT_EQ(typed_as("null", "{}"), "null");
  EXPECT_EQ(typed_as("twelve", "{}"), "\"twelve\"");
  EXPECT_EQ(typed_as("", "{}"), "\"\"");
}

TEST(typed_values, a_word_of_another_type_is_named) {
  EXPECT_EQ(typed_as("many", R"({"type":"integer"})"), "\"many\" is not a whole number");
  EXPECT_EQ(typed_as("1.5", R"({"type":"integer"})"), "\"1.5\" is not a whole number");
  EXPECT_EQ(typed_as("many", R"({"type":"number"})"), "\"many\" is not a number");
  EXPECT_EQ(typed_as("maybe", R"({"type":"boolean"})"), "\"maybe\" is not a boolean: write true or false");
  EXPECT_EQ(typed_as("[1]", R"({"type":"object"})"), "\"[1]\" is not a JSON object");
}

TEST(typed_values, arguments_are_gathered_by_name_and_repeated_ones_make_an_array) {
  constexpr auto schema =
      R"({"type":"object","properties":{"n":{"type":"integer"},"tags":{"type":"array"},"q":{"type":"string"}}})";
  EXPECT_EQ(typed_words({"n=3", "q=a=b", "tags=x", "tags=y"}, schema), R"({"n":3,"q":"a=b","tags":["x","y"]})");
  EXPECT_EQ(typed_words({"other=1", "other=2"}, schema), R"({"other":[1,2]})");
  EXPECT_EQ(typed_words({"q="}, schema), R"({"q":""})");
  EXPECT_EQ(typed_words({}, schema), "{}");
}

TEST(typed_values, a_wrong_argument_is_answered_with_those_there_are) {
  constexpr auto schema = R"({"properties":{"a":{"type":"integer"},"b":{}},"additionalProperties":false})";
  EXPECT_EQ(typed_words({"a"}, schema), "\"a\" is not NAME=VALUE; the tool's arguments: a, b.");
  EXPECT_EQ(typed_words({"=1"}, schema), "\"=1\" is not NAME=VALUE; the tool's arguments: a, b.");
  EXPECT_EQ(typed_words({"c=1"}, schema), "The tool has no argument \"c\"; it has: a, b.");
  EXPECT_EQ(typed_words({"a=x"}, schema), "a: \"x\" is not a whole number.");
  EXPECT_EQ(typed_words({"x"}, "{}"), "\"x\" is not NAME=VALUE; the tool's arguments: none.");
}

std::string lack_of(std::string_view arguments, std::string_view schema) {
  tool called;
  called.name = "find";
  called.input_schema = json_value(schema);
  const auto whole = check_required_arguments(json_value(arguments), called);
  return whole ? "" : whole.error().public_text;
}

TEST(typed_values, what_a_tool_requires_is_named_with_how_it_is_given) {
  constexpr std::string_view schema =
      R"({"type":"object","properties":{"q":{"type":"string","description":"Words"},"n":{"type":"integer"},"o":{}},)"
      R"("required":["q","n","x"]})";
  EXPECT_EQ(lack_of(R"({"q":"a","n":1,"x":null})", schema), "");
  EXPECT_EQ(lack_of(R"({"n":1,"x":2})", schema),
            "The tool find needs q (Words). Give it as q=STRING, or in the object of --arguments.");
  EXPECT_EQ(lack_of("{}", schema),
            "The tool find needs q (Words), n, x. Give it as q=STRING n=INTEGER x=VALUE, or in the object of --arguments.");
  for (const auto* other : {"{}", R"({"required":"q"})", R"({"required":[7]})"}) EXPECT_EQ(lack_of("{}", other), "") << other;
}

}  // namespace
}  // namespace hondana::cli
