/// JSON as trees with places.
#include <string>

#include <gtest/gtest.h>

#include "unit/text/located/told.hpp"

namespace {

using namespace hondana;
using located::config_format;
using test::told;

std::string of_json(std::string_view text) { return told(config_format::json, text); }

TEST(json_tree, has_the_place_of_every_value_and_key) {
  EXPECT_EQ(of_json("// settings\n"
                    "{\n"
                    "  \"a\": 1, /* two, \"x\": 3 */ \"b\" : [ true, null, // one\n"
                    "    \"t\\u00e9\\n\",\n"
                    "  ],\n"
                    "  \"c\"\n"
                    "    : {\"d\": {}, \"e\": [],},\n"
                    "}\n// the end\n"),
            "3 a = 1 <1>\n3 b[0] = true <true>\n3 b[1] = null <null>\n4 b[2] = \"té\\n\" <\"t\\u00e9\\n\">\n"
            "7 c(6).d = {} <{}>\n7 c(6).e = [] <[]>\n");
}

TEST(json_tree, keeps_the_digits_of_integers) {
  EXPECT_EQ(of_json("[123456789012345678901234567890, -9223372036854775809, 1.50, 1e2, -0]"),
            "1 [0] = 123456789012345678901234567890 <123456789012345678901234567890>\n"
            "1 [1] = -9223372036854775809 <-9223372036854775809>\n1 [2] = 1.5 <1.50>\n1 [3] = 100.0 <1e2>\n1 [4] = -0 <-0>\n");
  EXPECT_EQ(of_json("[1,\n1e400]"), "failed: line 2: an invalid or too large number");
}

TEST(json_tree, remarks_keys_that_are_given_again) {
  EXPECT_EQ(of_json("{\"a\": {\"x\": [1, {\"y\": \"]\"}]},\n\"b\": 1,\n\"\\u0061\": [2],\n\"a\": 3}"),
            "2 b = 1 <1>\n4 a = 3 <3>\n! line 4: the key \"a\" is repeated; this value is used\n");
}

TEST(json_tree, takes_any_value_alone) {
  EXPECT_EQ(of_json(" 7 "), "1  = 7 <7>\n");
  EXPECT_EQ(of_json("\"x\""), "1  = \"x\" <\"x\">\n");
  EXPECT_EQ(of_json("\xEF\xBB\xBF{\"a\":\"棚\"}"), "1 a = \"棚\" <\"棚\">\n");
}

TEST(json_tree, refuses_what_is_wrong_by_its_line_and_without_its_words) {
  EXPECT_EQ(of_json(""), "failed: line 1: the value is missing");
  EXPECT_EQ(of_json("// nothing\n"), "failed: line 2: the value is missing");
  EXPECT_EQ(of_json("{\"a\": 1} x"), "failed: line 1: unexpected text after the value");
  EXPECT_EQ(of_json("{\n\"a\": 01}"), "failed: line 2: not a valid JSON number");
  EXPECT_EQ(of_json("{\n\"a\": 1-2}").find("1-2"), std::string::npos);
  for (const std::string text : {"{\n\n\"a\": hunter2hunter2}", "{\n\n\"a\": \"hunter2hunter2", "{\n\n\"a\": 'hunter2hunter2'}",
                                 "{\n\n\"a\": \"\\qhunter2hunter2\"}", "{\n\n\"a\" \"hunter2hunter2\"}"}) {
    const auto said = of_json(text);
    EXPECT_EQ(said.find("hunter2"), std::string::npos) << said;
    EXPECT_TRUE(said.starts_with("failed: line 3: ")) << said;
  }
}

TEST(json_tree, refuses_half_surrogate_pairs) {
  EXPECT_EQ(of_json(R"(["\ud83d\uDE00"])"), "1 [0] = \"😀\" <\"\\ud83d\\uDE00\">\n");
  EXPECT_EQ(of_json(R"(["\\ud83d"])"), "1 [0] = \"\\\\ud83d\" <\"\\\\ud83d\">\n");
  const std::string half = "failed: line 2: half of a surrogate pair is not a character";
  EXPECT_EQ(of_json("[\n\"\\ud888\\u1234\"]"), half);
  EXPECT_EQ(of_json("[\n\"\\ud888\"]"), half);
  EXPECT_EQ(of_json("[\n\"\\ud888\\ud888\"]"), half);
  EXPECT_EQ(of_json("[\n\"\\udc00\"]"), half);
  EXPECT_EQ(of_json("{\n\"\\udc00\": 1}"), half);
}

TEST(json_tree, refuses_control_characters_in_strings) {
  const std::string control = "failed: line 2: a control character in a string; write it as an escape, or close the string";
  EXPECT_EQ(of_json("[\n\"a\nb\"]"), control);
  EXPECT_EQ(of_json("[\n\"a\tb\"]"), control);
  EXPECT_EQ(of_json("{\n\"a\x01\": 1}"), control);
  EXPECT_EQ(of_json("[\n\"a\x7F\"]"), "2 [0] = \"a\x7F\" <\"a\x7F\">\n");
}

TEST(json_tree, stops_at_its_limits) {
  EXPECT_EQ(of_json(std::string(1 << 20, '[')), "failed: line 1: lists and tables are nested deeper than 100 levels");
  EXPECT_EQ(of_json(std::string(100, '[') + std::string(100, ']')).substr(0, 2), "1 ");
  std::string many = "[0";
  for (int i = 0; i < 1'000'000; ++i) many += ",0";
  EXPECT_EQ(of_json(many + ']'), "failed: line 1: more than 200000 values");
  EXPECT_EQ(told(config_format::json, "[1,2,3]", {.max_bytes = 100, .max_depth = 5, .max_values = 3}),
            "failed: line 1: more than 3 values, counting each repetition by an alias");
  EXPECT_EQ(told(config_format::json, "[1,2,3]", {.max_bytes = 6, .max_depth = 5, .max_values = 9}),
            "failed: This has 7 bytes, but at most 6 are read as configuration.");
}

}  // namespace
