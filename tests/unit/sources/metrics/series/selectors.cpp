/// Bodies of selectors, whole and half typed.
#include <random>

#include <gtest/gtest.h>

#include "sources/metrics/series/selector.hpp"

namespace hondana::series {
namespace {

using relation = matcher::match_type;

TEST(series_matchers, are_read_with_all_relations_and_quotes) {
  const auto all = parse_matchers(" a=\"b\" , c=~'d.*',\te!=`f\\n`, g !~ \"h\\\"\\x41\\101\\u5bd2\\U0001d11e\\t\", ");
  ASSERT_TRUE(all) << all.error().public_text;
  ASSERT_EQ(all->size(), 4u);
  EXPECT_EQ((*all)[0].to_text(), "a=\"b\"");
  EXPECT_EQ((*all)[1].to_text(), "c=~\"d.*\"");
  EXPECT_EQ((*all)[2].value(), "f\\n");
  EXPECT_EQ((*all)[2].type(), relation::not_equal);
  EXPECT_EQ((*all)[3].value(), "h\"AA\xe5\xaf\x92\xf0\x9d\x84\x9e\t");
  EXPECT_TRUE(parse_matchers("")->empty());
  EXPECT_TRUE(parse_matchers("  ")->empty());
}

TEST(series_matchers, are_refused_with_the_byte_where_something_else_was_expected) {
  const std::vector<std::pair<std::string, std::string>> all{{"a", "byte 2"},
                                                             {"a=", "byte 3"},
                                                             {"a=b", "byte 3"},
                                                             {"a==\"b\"", "byte 3"},
                                                             {"a~\"b\"", "byte 2"},
                                                             {"a=\"b\" c=\"d\"", "byte 7"},
                                                             {"a=\"b\",,", "byte 7"},
                                                             {",", "byte 1"},
                                                             {"a=\"b", "byte 5"},
                                                             {"a=\"\\q\"", "byte 4"},
                                                             {"a=\"\\'\"", "byte 4"},
                                                             {"a=\"\\x4g\"", "byte 7"},
                                                             {"a=\"\\400\"", "byte 4"},
                                                             {"a=\"\\ud800\"", "byte 4"},
                                                             {"a=\"\\U00110000\"", "byte 4"},
                                                             {"a=\"\\xff\"", "byte 3"},
                                                             {"a=\"\xC8\\x80\"", "expected UTF-8"},
                                                             {"a=\"\n\"", "byte 4"},
                                                             {"1a=\"b\"", "byte 1"},
                                                             {"a=\"b\"}", "byte 6"},
                                                             {"a=\"b\"} or up{", "byte 6"},
                                                             {"__name__=\"up\"", "__name__"},
                                                             {"a=~\"(\"", "expression"},
                                                             {"a=~\"(?=x)\"", "expression"},
                                                             {"a=~\"((x{100}){100}){100}\"", "expression"}};
  for (const auto& [text, part] : all) {
    const auto read = parse_matchers(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().code, errc::invalid_argument);
    EXPECT_NE(read.error().public_text.find(part), std::string::npos) << text << ": " << read.error().public_text;
  }
}

TEST(series_matchers, of_half_a_character_are_none_yet_and_of_other_bytes_never) {
  EXPECT_EQ(parse_partial_matchers("a=\"d\xE3\x81").value().typed, "d");
  EXPECT_FALSE(parse_partial_matchers("a=\"\xC8\\x80\""));
  EXPECT_FALSE(parse_partial_matchers("\xFF, a=\"d"));
}

TEST(series_matchers, have_caps) {
  std::string many;
  for (std::size_t i = 0; i < selector::max_matchers; ++i) many += "a" + std::to_string(i) + "=\"\",";
  EXPECT_TRUE(parse_matchers(many));
  EXPECT_FALSE(parse_matchers(many + "b=\"\""));
  EXPECT_TRUE(parse_matchers("a=\"" + std::string(matcher::max_value_bytes, 'x') + "\""));
  EXPECT_FALSE(parse_matchers("a=\"" + std::string(matcher::max_value_bytes + 1, 'x') + "\""));
  EXPECT_FALSE(parse_matchers(std::string(10'000'000, ' ')));
}

TEST(series_matchers, admit_what_prometheus_would) {
  const auto admits = [](relation how, std::string value, std::string_view what) {
    return matcher::create("a", how, std::move(value))->matches(what);
  };
  EXPECT_TRUE(admits(relation::equal, "", ""));
  EXPECT_TRUE(admits(relation::not_equal, "x", ""));
  EXPECT_TRUE(admits(relation::matches, "a|bc", "bc"));
  EXPECT_FALSE(admits(relation::matches, "a|bc", "abc"));
  EXPECT_FALSE(admits(relation::matches, "b", "abc"));
  EXPECT_TRUE(admits(relation::matches_not, "b", "abc"));
  EXPECT_TRUE(admits(relation::matches, "a.b", "a\nb"));
  EXPECT_FALSE(admits(relation::matches, "a", "a\n"));
  EXPECT_TRUE(admits(relation::matches, "", ""));
  const identity one{"up", {{"a", "1"}}};
  EXPECT_TRUE(
      (selector{"up", {*matcher::create("a", relation::equal, "1"), *matcher::create("b", relation::equal, "")}}.matches(one)));
  EXPECT_FALSE((selector{"down", {}}.matches(one)));
}

TEST(series_matchers, take_linear_time_on_costly_expressions) {
  const auto costly = matcher::create("a", relation::matches, "(x+x+)+y");
  ASSERT_TRUE(costly);
  EXPECT_FALSE(costly->matches(std::string(4096, 'x')));
}

TEST(series_selectors, read_back_whatever_their_values_hold) {
  std::mt19937 chance(std::random_device{}());
  for (int round = 0; round < 2000; ++round) {
    std::string value;
    for (auto length = chance() % 12; length > 0; --length) {
      const auto which = chance() % 5;
      if (which == 0) value += "\"'`\\{}=,"[chance() % 8];
      if (which == 1) value += static_cast<char>(chance() % 0x20);
      if (which == 2) value += "nxu0\x7f"[chance() % 5];
      if (which == 3) value += "\xef\xbf\xbd";
      if (which == 4) value += "\xe6\xb8\xa9";
    }
    const auto made = matcher::create("label", relation::not_equal, value);
    ASSERT_TRUE(made);
    const auto text = made->to_text();
    for (const char c : text) ASSERT_GE(static_cast<unsigned char>(c), 0x20) << text;
    const auto again = parse_matchers(text + "," + text);
    ASSERT_TRUE(again) << text << ": " << again.error().public_text;
    ASSERT_EQ(again->size(), 2u);
    ASSERT_EQ((*again)[1].value(), value);
  }
}

TEST(series_selectors, name_metrics_so_that_nothing_else_is_meant) {
  EXPECT_EQ((selector{"up", {}}.to_text()), "up");
  EXPECT_EQ((selector{"Inf", {}}.to_text()), "{__name__=\"Inf\"}");
  EXPECT_EQ((selector{"sum", {*matcher::create("a", relation::equal, "b")}}.to_text()), "{__name__=\"sum\",a=\"b\"}");
  EXPECT_EQ((selector{"", {*matcher::create("a", relation::equal, "b")}}.to_text()), "{a=\"b\"}");
}

struct typed_case {
  std::string text;
  std::size_t whole;
  std::string before, label_name, typed, candidate, completed;
};

TEST(series_partial_matchers, say_what_is_being_typed) {
  const std::vector<typed_case> all{{"", 0, "", "", "", "mode", "mode"},
                                    {"mo", 0, "", "", "mo", "mode", "mode"},
                                    {"a=\"b\", mo", 1, "a=\"b\", ", "", "mo", "mode", "a=\"b\", mode"},
                                    {"a=\"b\",", 1, "a=\"b\",", "", "", "c", "a=\"b\",c"},
                                    {"a=", 0, "a=", "a", "", "x\"y", "a=\"x\\\"y\""},
                                    {"a!", 0, "a!=", "a", "", "x", "a!=\"x\""},
                                    {"a =~ ", 0, "a =~ ", "a", "", "x", "a =~ \"x\""},
                                    {"a=\"us", 0, "a=\"", "a", "us", "user", "a=\"user\""},
                                    {"a='u\\'", 0, "a='", "a", "u'", "u's", "a='u\\'s'"},
                                    {"a=`u", 0, "a=`", "a", "u", "u`s", "a=\"u`s\""},
                                    {"a=\"u\\", 0, "a=\"", "a", "u", "user", "a=\"user\""},
                                    {"a=\"u\\x4", 0, "a=\"", "a", "u", "user", "a=\"user\""},
                                    {"a=\"u\xe6\xb8", 0, "a=\"", "a", "u", "user", "a=\"user\""},
                                    {"a=~\"(us", 0, "a=~\"", "a", "(us", "user", "a=~\"user\""},
                                    {"a=\"us\"", 0, "a=\"", "a", "us", "user", "a=\"user\""}};
  for (const auto& one : all) {
    const auto read = parse_partial_matchers(one.text);
    ASSERT_TRUE(read) << one.text << ": " << read.error().public_text;
    EXPECT_EQ(read->matchers.size(), one.whole) << one.text;
    EXPECT_EQ(read->prefix, one.before) << one.text;
    EXPECT_EQ(read->label_name, one.label_name) << one.text;
    EXPECT_EQ(read->typed, one.typed) << one.text;
    EXPECT_EQ(read->completed(one.candidate), one.completed) << one.text;
    if (!read->label_name.empty()) {
      EXPECT_TRUE(parse_matchers(one.completed)) << one.completed;
    }
  }
}

TEST(series_partial_matchers, are_refused_where_nothing_helps) {
  for (const char* const one : {"a b", "a=b", "=", "a=\"b\" c", "a=\"\\q", "a~", "a=\"b\"}", "__name__=\"u", "a=~\"(\", b"})
    EXPECT_FALSE(parse_partial_matchers(one)) << one;
}

}  // namespace
}  // namespace hondana::series
