/// Templates that are refused: malformed, too large, or impossible to match uniquely.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hondana/uri.hpp>
#include <string>
#include <vector>

namespace {

using hondana::uri_template;
using testing::HasSubstr;

std::string refusal_of_template(const std::string& text) {
  const auto compiled = uri_template::compile(text);
  if (compiled) return "accepted";
  EXPECT_EQ(compiled.error().code, hondana::errc::invalid_argument) << text;
  return compiled.error().public_text;
}

struct malformed_case {
  const char* text;
  const char* position;
};

TEST(uri_template, refuses_malformed_templates_naming_the_position) {
  const malformed_case cases[] = {
      {"{", "at byte 0"},
      {"a{", "at byte 1"},
      {"a{b", "at byte 1"},
      {"a{b:", "at byte 4"},
      {"a{b:3", "at byte 1"},
      {"a{b*", "at byte 1"},
      {"{}", "at byte 1"},
      {"{?}", "at byte 2"},
      {"{a,}", "at byte 3"},
      {"{,a}", "at byte 1"},
      {"a}", "at byte 1"},
      {"{a}}", "at byte 3"},
      {"{{a}}", "at byte 1"},
      {"{/id*", "at byte 0"},
      {"/id*}", "at byte 4"},
      {"{/?id}", "at byte 2"},
      {"{var:prefix}", "at byte 5"},
      {"{var:0}", "at byte 5"},
      {"{var:03}", "at byte 5"},
      {"{var:10000}", "at byte 5"},
      {"{var:-1}", "at byte 5"},
      {"{hello:2*}", "at byte 8"},
      {"{hello*:2}", "at byte 7"},
      {"{??hello}", "at byte 2"},
      {"{!hello}", "at byte 1"},
      {"{=path}", "at byte 1"},
      {"{@x}", "at byte 1"},
      {"{$var}", "at byte 1"},
      {"{|var*}", "at byte 1"},
      {"{*keys?}", "at byte 1"},
      {"{?empty=default,var}", "at byte 7"},
      {"{-prefix|/-/|var}", "at byte 1"},
      {"/h{#hello+}", "at byte 9"},
      {"/people/{~thing}", "at byte 9"},
      {"/sparql{?query){&default*}", "at byte 14"},
      {"/resolution{?x, y}", "at byte 15"},
      {"{a.}", "at byte 2"},
      {"{.a..b}", "at byte 3"},
      {"{..a}", "at byte 2"},
      {"{a%4}", "at byte 2"},
      {"{a%00}", "at byte 2"},
      {"{å}", "at byte 1"},
      {"a b", "at byte 1"},
      {"a\"b", "at byte 1"},
      {"a<b", "at byte 1"},
      {"a\\b", "at byte 1"},
      {"a^b", "at byte 1"},
      {"a`b", "at byte 1"},
      {"a|b", "at byte 1"},
      {"a\nb", "at byte 1"},
      {"a\x7f", "at byte 1"},
      {"a%zz", "at byte 1"},
      {"a%4", "at byte 1"},
      {"a%", "at byte 1"},
      {"a%00", "at byte 1"},
      {"a\xff", "at byte 1"},
      {"a\xc0\xaf", "at byte 1"},
      {"a\xed\xa0\x80", "at byte 1"},
  };
  for (const auto& one : cases) EXPECT_THAT(refusal_of_template(one.text), HasSubstr(one.position)) << one.text;
  EXPECT_THAT(refusal_of_template(std::string("a\0b", 3)), HasSubstr("at byte 1"));
  EXPECT_THAT(refusal_of_template(std::string("{a\0}", 4)), HasSubstr("at byte 2"));
}

TEST(uri_template, accepts_what_the_grammar_allows) {
  for (const char* text : {"", "a", "{a}", "{a_1.b%20.c}", "{42}", "{?x:9999}", "it's", "a%20b", "本棚/{x}", "[::1]:80/{x}",
                           "{+path}{?lines,bytes}", "file:///root/{+path}{?lines,bytes}", "{?id,token}{&keys*}",
                           "{/id*}{?fields,first_name,last.name,token}", "/search.{format}{?q,geocode}",
                           "/base{/group_id,first_name}/pages{/page,lang}{?format,q}", "{name}{.ext}"}) {
    EXPECT_EQ(refusal_of_template(text), "accepted") << text;
  }
}

TEST(uri_template, accepts_64_expressions_8192_bytes_and_256_variables_and_no_more) {
  std::string expressions;
  for (int i = 0; i < 64; ++i) expressions += "/{v" + std::to_string(i) + "}";
  EXPECT_EQ(refusal_of_template(expressions), "accepted");
  EXPECT_THAT(refusal_of_template(expressions + "/{w}"), HasSubstr("more than 64 expressions"));

  EXPECT_EQ(refusal_of_template(std::string(8192, 'a')), "accepted");
  EXPECT_THAT(refusal_of_template(std::string(8193, 'a')), HasSubstr("8193 bytes; at most 8192"));
  EXPECT_THAT(refusal_of_template(std::string(100'000, '{')), HasSubstr("100000 bytes; at most 8192"));

  std::string variables = "{?v0";
  for (int i = 1; i < 256; ++i) variables += ",v" + std::to_string(i);
  EXPECT_EQ(refusal_of_template(variables + "}"), "accepted");
  EXPECT_THAT(refusal_of_template(variables + ",w}"), HasSubstr("more than 256 variables"));
}

struct ambiguous_case {
  const char* text;
  const char* first;
  const char* second;
};

TEST(uri_template, refuses_templates_that_cannot_be_matched_uniquely_naming_both_variables) {
  const ambiguous_case cases[] = {
      {"{a}{b}", "a", "b"},
      {"x{a}{b}y", "a", "b"},
      {"{a}{?q}{b}", "a", "b"},
      {"{a:3}{b}", "a", "b"},
      {"{+a}{b}", "a", "b"},
      {"{a}{+b}", "a", "b"},
      {"{+a}{+b}", "a", "b"},
      {"up{+path}{var}/here", "path", "var"},
      {"{#a}{b}", "a", "b"},
      {"{?q}{b}", "q", "b"},
      {"{;p}{b}", "p", "b"},
      {"{/p}{b}", "p", "b"},
      {"{.p}{b}", "p", "b"},
      {"{a,b}{c,d}", "a", "c"},
      {"{/a*}{/b}", "a", "b"},
      {"{/a*}{?q}{/b}", "a", "b"},
      {"{.a*}{.b}", "a", "b"},
      {"{/a*,b}", "a", "b"},
      {"{a*,b}", "a", "b"},
      {"{+path}{/id}", "path", "id"},
      {"{+path}{.ext}", "path", "ext"},
      {"{?m*}{&n}", "m", "n"},
      {"{?m*}{&n*}", "m", "n"},
      {"{?a,b}{&b}", "b", "b"},
      {"{;a*}{;b}", "a", "b"},
  };
  for (const auto& one : cases) {
    EXPECT_EQ(refusal_of_template(one.text), std::string("the template cannot be matched uniquely: nothing separates \"") +
                                                 one.first + "\" from \"" + one.second + "\"; put other text between them")
        << one.text;
  }
  EXPECT_THAT(refusal_of_template("{?a,b,a}"), HasSubstr("names the parameter \"a\" twice"));
}

TEST(uri_template, tells_neighbours_apart_by_the_sign_between_them) {
  for (const char* text : {"{a}-{b}",  "{a}{/b}",      "{a}{?b}",          "{a}{#b}",   "{a}{;b}",  "{a}{.b}",    "{+a}{?b}",
                           "{+a}{#b}", "{+a}{?b}{#c}", "{+a}{;b}",         "{+a}{&b}",  "{/a}{/b}", "{/a,b}{/c}", "{.a}{.b}",
                           "{?a}{&b}", "{?a}{&b*}",    "{a}{/b*}{?c}{#d}", "{/a*}/{b}", "{a,b,c}",  "{a,b*}"}) {
    EXPECT_EQ(refusal_of_template(text), "accepted") << text;
  }
}

TEST(uri_template, tells_its_text_its_variables_and_its_prefix) {
  const auto compiled = uri_template::compile("file:///棚/%7ea%2f{+path}/{x}{?lines,x}").value();
  EXPECT_EQ(compiled.text(), "file:///棚/%7ea%2f{+path}/{x}{?lines,x}");
  EXPECT_EQ(compiled.variables(), (std::vector<std::string>{"path", "x", "lines"}));
  EXPECT_EQ(compiled.literal_prefix(), "file:///%E6%A3%9A/~a%2F");
  EXPECT_EQ(uri_template::compile("{x}").value().literal_prefix(), "");
  EXPECT_EQ(uri_template::compile("memo:a").value().literal_prefix(), "memo:a");
}

}  // namespace
