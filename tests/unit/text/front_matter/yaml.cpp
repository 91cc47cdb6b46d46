/// YAML to JSON: the core schema, what JSON cannot say, and texts made to cost too much.
#include "text/front_matter/yaml.hpp"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace {

using hondana::errc;
using hondana::front_matter::parse_yaml;

std::string json_of(std::string_view text) {
  const auto parsed = parse_yaml(text);
  return parsed ? parsed->to_text() : "error: " + parsed.error().public_text;
}

TEST(yaml, plain_scalars_are_those_of_the_core_schema) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"", "null"},
      {"~", "null"},
      {"Null", "null"},
      {"true", "true"},
      {"FALSE", "false"},
      {"yes", "\"yes\""},
      {"on", "\"on\""},
      {"tRue", "\"tRue\""},
      {"0", "0"},
      {"+12", "12"},
      {"-12", "-12"},
      {"012", "12"},
      {"0o17", "15"},
      {"0x1F", "31"},
      {"0b11", "\"0b11\""},
      {"0.1e-309", "1e-310"},
      {"0x", "\"0x\""},
      {"-0x1F", "\"-0x1F\""},
      {"1_000", "\"1_000\""},
      {"9223372036854775807", "9223372036854775807"},
      {"1.5", "1.5"},
      {".5", "0.5"},
      {"-2.50", "-2.5"},
      {"1e3", "1000.0"},
      {"1e-400", "0.0"},
      {"-1e-400", "-0.0"},
      {"0.1e-400", "0.0"},
      {"0." + std::string(400, '0') + "1", "0.0"},
      {std::string(400, '1') + "e-800", "0.0"},
      {"1e-99999999999999999999", "0.0"},
      {"1.5E-1", "0.15"},
      {"1e", "\"1e\""},
      {".", "\".\""},
      {"1.2.3", "\"1.2.3\""},
      {"2024-01-31", "\"2024-01-31\""},
      {"12:30:45", "\"12:30:45\""},
      {"MIT", "\"MIT\""},
  };
  for (const auto& [written, meant] : cases) EXPECT_EQ(json_of("a: " + written), "{\"a\":" + meant + '}') << written;
}

TEST(yaml, a_version_keeps_its_value_and_a_quoted_one_its_text) {
  const auto parsed = parse_yaml("a: 1.0\nb: \"1.0\"\nc: '2'\n");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(*parsed->find("a")->as_number(), 1.0);
  EXPECT_EQ(*parsed->find("b")->as_string(), "1.0");
  EXPECT_EQ(*parsed->find("c")->as_string(), "2");
}

TEST(yaml, structures_blocks_and_comments_are_read) {
  EXPECT_EQ(json_of("# first\nname: x # behind\ntags: [a, 'b c', 3]\nmetadata:\n  author: me\n  deep: {k: v}\n"),
            R"({"name":"x","tags":["a","b c",3],"metadata":{"author":"me","deep":{"k":"v"}}})");
  EXPECT_EQ(json_of("folded: >-\n  one\n  two\n\n  three\nkept: |\n  a\n   b\n"),
            R"({"folded":"one two\nthree","kept":"a\n b\n"})");
  EXPECT_EQ(json_of("list:\r\n- a\r\n- b\r\n"), R"({"list":["a","b"]})");
  EXPECT_EQ(json_of("a: \"\\u672c\\t\\x41\""), "{\"a\":\"\xE6\x9C\xAC\\tA\"}");
}

TEST(yaml, keys_are_the_text_that_was_written) {
  EXPECT_EQ(json_of("1.0: a\ntrue: b\n~: c\n\"q\": d\n"), R"({"1.0":"a","true":"b","~":"c","q":"d"})");
  EXPECT_EQ(json_of("<<: a\n"), R"({"<<":"a"})");
}

TEST(yaml, tags_that_say_what_json_can_say_are_obeyed) {
  EXPECT_EQ(json_of("a: !!str 1\nb: ! 2\nc: !!int 3\nd: !!float 4\ne: !!null ''\nf: !!seq [1]\ng: !!map {h: 1}\n"),
            R"({"a":"1","b":"2","c":3,"d":4,"e":null,"f":[1],"g":{"h":1}})");
  EXPECT_EQ(json_of("a: !!int x"),
            "error: line 1: the tag tag:yaml.org,2002:int does not fit the value or has no equivalent in JSON");
  EXPECT_EQ(json_of("a: 1\nb: !mine {x: 1}"), "error: line 2: the tag !mine has no equivalent in JSON");
  EXPECT_EQ(json_of("a: !!binary aGk="),
            "error: line 1: the tag tag:yaml.org,2002:binary does not fit the value or has no equivalent in JSON");
}

TEST(yaml, aliases_are_resolved) {
  EXPECT_EQ(json_of("a: &x [1, &y z]\nb: *x\nc: *y\n*y : d\n"), R"({"a":[1,"z"],"b":[1,"z"],"c":"z","z":"d"})");
  EXPECT_EQ(json_of("a: *nobody"), "error: line 1: *nobody does not refer to a value that ends before it");
  EXPECT_EQ(json_of("a: &a [*a]"), "error: line 1: *a does not refer to a value that ends before it");
  EXPECT_EQ(json_of("a: &x 1\n*x : d\n"), "error: line 2: a key is not text");
}

TEST(yaml, what_json_cannot_say_is_refused_with_its_line) {
  EXPECT_EQ(json_of("a: .inf"), "error: line 1: .inf is a number that JSON cannot represent");
  EXPECT_EQ(json_of("a: -.INF"), "error: line 1: -.INF is a number that JSON cannot represent");
  EXPECT_EQ(json_of("a: 1\nb: .nan"), "error: line 2: .nan is a number that JSON cannot represent");
  EXPECT_EQ(json_of("a: 1e999"), "error: line 1: 1e999 is a number that JSON cannot represent");
  EXPECT_EQ(json_of("a: -0.1e400"), "error: line 1: -0.1e400 is a number that JSON cannot represent");
  EXPECT_EQ(json_of("a: 1e99999999999999999999"),
            "error: line 1: 1e99999999999999999999 is a number that JSON cannot represent");
  EXPECT_EQ(json_of("a: 0.00001e+400"), "error: line 1: 0.00001e+400 is a number that JSON cannot represent");
  EXPECT_EQ(json_of("a: 1\nb: 2\na: 3\n"), "error: line 3: the key \"a\" occurs twice");
  EXPECT_EQ(json_of("? [a]\n: b\n"), "error: line 1: a key is a list or a mapping, which JSON does not support");
  EXPECT_EQ(json_of("a: 1\n---\nb: 2\n"), "error: line 2: a second document begins; only one is allowed");
}

TEST(yaml, malformed_texts_are_refused) {
  for (const std::string text : {"a: [1", "a: 'x", "a: b: c", "\ta: 1", "a: \"\\q\"", "a: \"\\ud800\"", "- a\nb: c", "a: @x",
                                 "%YAML 3.0\n---\na", "a: \x01", "}", "*"}) {
    const auto parsed = parse_yaml(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().code, errc::invalid_argument);
    EXPECT_EQ(parsed.error().public_text.substr(0, 5), "line ") << parsed.error().public_text;
  }
}

TEST(yaml, what_would_cost_too_much_is_refused) {
  EXPECT_EQ(json_of(std::string(31, '[') + std::string(31, ']')).substr(0, 2), "[[");
  EXPECT_EQ(json_of(std::string(33, '[') + std::string(33, ']')), "error: line 1: nested deeper than 32 levels");
  EXPECT_FALSE(parse_yaml(std::string(60'000, '[')));
  EXPECT_FALSE(parse_yaml(std::string(60'000, '{')));
  std::string laughs = "a: &a [x, x, x, x, x, x, x, x, x, x]\n";
  for (char c = 'b'; c < 'k'; ++c) {
    laughs += std::string(1, c) + ": &" + c + " [";
    for (int i = 0; i < 10; ++i) laughs += (i == 0 ? "*" : ", *") + std::string(1, static_cast<char>(c - 1));
    laughs += "]\n";
  }
  EXPECT_NE(json_of(laughs).find("more than 128 KiB as JSON in memory, with aliases resolved"), std::string::npos);
  EXPECT_EQ(json_of("a: " + std::string(64 * 1024, 'x')), "error: line 1: longer than 64 KiB");
}

TEST(yaml, aliases_do_not_nest_deeper_than_brackets) {
  // The mapping is a level, and so is each sequence.
  const auto chain = [](int levels) {
    std::string text = "a1: &a1 []\n";
    for (int i = 2; i <= levels; ++i) {
      const auto own = std::to_string(i);
      text += "a" + own + ": &a" + own + " [*a" + std::to_string(i - 1) + "]\n";
    }
    return text;
  };
  EXPECT_TRUE(parse_yaml(chain(31)));
  EXPECT_EQ(json_of(chain(32)), "error: line 32: nested deeper than 32 levels");
  EXPECT_EQ(json_of("a: &a " + std::string(20, '[') + std::string(20, ']') + "\nb: " + std::string(12, '[') + "*a" +
                    std::string(12, ']')),
            "error: line 2: nested deeper than 32 levels");
  // The deepest member counts, not the last.
  EXPECT_FALSE(parse_yaml("a: &a [" + std::string(30, '[') + std::string(30, ']') + ", 1]\nb: [*a]"));
}

TEST(yaml, costs_what_its_json_has_in_bytes_and_in_memory) {
  const auto is_refused = [](const std::string& text) {
    return json_of(text).find("more than 128 KiB as JSON in memory") != std::string::npos;
  };
  const auto repeated = [](const std::string& what, std::size_t count) {
    std::string all;
    for (std::size_t i = 0; i < count; ++i) all += what;
    return all;
  };
  // The longest text that is one word, with a quote in every line, is taken whole.
  EXPECT_FALSE(is_refused("a: |\n" + repeated("  " + std::string(76, 'x') + "\"\n", 800)));
  // Four bytes each in the file, six in JSON.
  EXPECT_FALSE(is_refused("a: \"" + repeated("\\x01", 10'000) + '"'));
  EXPECT_TRUE(is_refused("a: &a \"" + repeated("\\x01", 10'000) + "\"\nb: [*a, *a]"));
  // Two bytes each in the file, and a value in memory.
  EXPECT_FALSE(is_refused("a: [" + repeated("1,", 2'000) + "]"));
  EXPECT_TRUE(is_refused("a: [" + repeated("1,", 30'000) + "]"));
  EXPECT_TRUE(is_refused("a: [" + repeated("[],", 20'000) + "]"));
}

}  // namespace
