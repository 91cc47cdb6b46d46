/// Every example of RFC 6570 section 3.2, expanded, and matched back where the expansion says what it came from.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hondana/uri.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "base/uri/template_syntax.hpp"

namespace {

using hondana::uri_template;
using hondana::uri_template_values;
using list = std::vector<std::string>;
using array = std::vector<std::pair<std::string, std::string>>;

/// The variables the examples of section 3.2 share.
const uri_template_values& given() {
  static const uri_template_values values{
      {"count", list{"one", "two", "three"}},
      {"dom", list{"example", "com"}},
      {"dub", "me/too"},
      {"hello", "Hello World!"},
      {"half", "50%"},
      {"var", "value"},
      {"who", "fred"},
      {"base", "http://example.com/home/"},
      {"path", "/foo/bar"},
      {"list", list{"red", "green", "blue"}},
      {"keys", array{{"semi", ";"}, {"dot", "."}, {"comma", ","}}},
      {"v", "6"},
      {"x", "1024"},
      {"y", "768"},
      {"empty", ""},
      {"empty_keys", array{}},
  };
  return values;
}

enum class back {
  same,       ///< Matching gives the defined variables of the template again.
  different,  ///< The expansion does not say which values it came from.
  refused,    ///< The template cannot be matched uniquely.
};

struct example {
  const char* text;
  const char* expansion;
  back matched = back::same;
};

std::ostream& operator<<(std::ostream& out, const example& one) { return out << one.text; }

class rfc6570 : public testing::TestWithParam<example> {};

TEST_P(rfc6570, expands_as_the_rfc_says) {
  const auto syntax = hondana::uri::parse_template(GetParam().text);
  ASSERT_TRUE(syntax) << syntax.error().public_text;
  EXPECT_EQ(hondana::uri::expand_template(*syntax, given()).value(), GetParam().expansion);
}

TEST_P(rfc6570, matches_its_expansion_back) {
  const auto compiled = uri_template::compile(GetParam().text);
  ASSERT_EQ(compiled.has_value(), GetParam().matched != back::refused);
  if (!compiled) return;
  EXPECT_EQ(compiled->expand(given()).value(), GetParam().expansion);

  uri_template_values defined;
  for (const std::string& name : compiled->variables()) {
    if (name != "empty_keys" && given().contains(name)) defined.insert(*given().find(name));
  }
  const auto values = compiled->match(GetParam().expansion);
  if (GetParam().matched == back::same) {
    ASSERT_TRUE(values);
    EXPECT_EQ(*values, defined);
  } else {
    EXPECT_NE(values, defined);
  }
}

INSTANTIATE_TEST_SUITE_P(section_3_2_1_variables, rfc6570,
                         testing::Values(example{"{count}", "one,two,three", back::different},
                                         example{"{count*}", "one,two,three"}, example{"{/count}", "/one,two,three"},
                                         example{"{/count*}", "/one/two/three"}, example{"{;count}", ";count=one,two,three"},
                                         example{"{;count*}", ";count=one;count=two;count=three"},
                                         example{"{?count}", "?count=one,two,three"},
                                         example{"{?count*}", "?count=one&count=two&count=three"},
                                         example{"{&count*}", "&count=one&count=two&count=three"}));

INSTANTIATE_TEST_SUITE_P(section_3_2_2_simple, rfc6570,
                         testing::Values(example{"{var}", "value"}, example{"{hello}", "Hello%20World%21"},
                                         example{"{half}", "50%25"}, example{"O{empty}X", "OX", back::different},
                                         example{"O{undef}X", "OX"}, example{"{x,y}", "1024,768"},
                                         example{"{x,hello,y}", "1024,Hello%20World%21,768"}, example{"?{x,empty}", "?1024,"},
                                         example{"?{x,undef}", "?1024"}, example{"?{undef,y}", "?768", back::different},
                                         example{"{var:3}", "val", back::different}, example{"{var:30}", "value"},
                                         example{"{list}", "red,green,blue", back::different},
                                         example{"{list*}", "red,green,blue"},
                                         example{"{keys}", "semi,%3B,dot,.,comma,%2C", back::different},
                                         example{"{keys*}", "semi=%3B,dot=.,comma=%2C", back::different}));

INSTANTIATE_TEST_SUITE_P(
    section_3_2_3_reserved, rfc6570,
    testing::Values(example{"{+var}", "value"}, example{"{+hello}", "Hello%20World!"}, example{"{+half}", "50%25"},
                    example{"{base}index", "http%3A%2F%2Fexample.com%2Fhome%2Findex"},
                    example{"{+base}index", "http://example.com/home/index"}, example{"O{+empty}X", "OX", back::different},
                    example{"O{+undef}X", "OX"}, example{"{+path}/here", "/foo/bar/here"},
                    example{"here?ref={+path}", "here?ref=/foo/bar"},
                    example{"up{+path}{var}/here", "up/foo/barvalue/here", back::refused},
                    example{"{+x,hello,y}", "1024,Hello%20World!,768"}, example{"{+path,x}/here", "/foo/bar,1024/here"},
                    example{"{+path:6}/here", "/foo/b/here", back::different},
                    example{"{+list}", "red,green,blue", back::different}, example{"{+list*}", "red,green,blue"},
                    example{"{+keys}", "semi,;,dot,.,comma,,", back::different},
                    example{"{+keys*}", "semi=;,dot=.,comma=,", back::different}));

INSTANTIATE_TEST_SUITE_P(section_3_2_4_fragment, rfc6570,
                         testing::Values(example{"{#var}", "#value"}, example{"{#hello}", "#Hello%20World!"},
                                         example{"{#half}", "#50%25"}, example{"foo{#empty}", "foo#"},
                                         example{"foo{#undef}", "foo"}, example{"{#x,hello,y}", "#1024,Hello%20World!,768"},
                                         example{"{#path,x}/here", "#/foo/bar,1024/here"},
                                         example{"{#path:6}/here", "#/foo/b/here", back::different},
                                         example{"{#list}", "#red,green,blue", back::different},
                                         example{"{#list*}", "#red,green,blue"},
                                         example{"{#keys}", "#semi,;,dot,.,comma,,", back::different},
                                         example{"{#keys*}", "#semi=;,dot=.,comma=,", back::different}));

INSTANTIATE_TEST_SUITE_P(section_3_2_5_label, rfc6570,
                         testing::Values(example{"{.who}", ".fred"}, example{"{.who,who}", ".fred.fred"},
                                         example{"{.half,who}", ".50%25.fred"}, example{"www{.dom*}", "www.example.com"},
                                         example{"X{.var}", "X.value"}, example{"X{.empty}", "X."}, example{"X{.undef}", "X"},
                                         example{"X{.var:3}", "X.val", back::different},
                                         example{"X{.list}", "X.red,green,blue"}, example{"X{.list*}", "X.red.green.blue"},
                                         example{"X{.keys}", "X.semi,%3B,dot,.,comma,%2C", back::different},
                                         example{"X{.keys*}", "X.semi=%3B.dot=..comma=%2C", back::different},
                                         example{"X{.empty_keys}", "X"}, example{"X{.empty_keys*}", "X"}));

INSTANTIATE_TEST_SUITE_P(section_3_2_6_path, rfc6570,
                         testing::Values(example{"{/who}", "/fred"}, example{"{/who,who}", "/fred/fred"},
                                         example{"{/half,who}", "/50%25/fred"}, example{"{/who,dub}", "/fred/me%2Ftoo"},
                                         example{"{/var}", "/value"}, example{"{/var,empty}", "/value/"},
                                         example{"{/var,undef}", "/value"}, example{"{/var,x}/here", "/value/1024/here"},
                                         example{"{/var:1,var}", "/v/value"}, example{"{/list}", "/red,green,blue"},
                                         example{"{/list*}", "/red/green/blue"},
                                         example{"{/list*,path:4}", "/red/green/blue/%2Ffoo", back::refused},
                                         example{"{/keys}", "/semi,%3B,dot,.,comma,%2C", back::different},
                                         example{"{/keys*}", "/semi=%3B/dot=./comma=%2C", back::different}));

INSTANTIATE_TEST_SUITE_P(
    section_3_2_7_path_parameter, rfc6570,
    testing::Values(example{"{;who}", ";who=fred"}, example{"{;half}", ";half=50%25"}, example{"{;empty}", ";empty"},
                    example{"{;v,empty,who}", ";v=6;empty;who=fred"}, example{"{;v,bar,who}", ";v=6;who=fred"},
                    example{"{;x,y}", ";x=1024;y=768"}, example{"{;x,y,empty}", ";x=1024;y=768;empty"},
                    example{"{;x,y,undef}", ";x=1024;y=768"}, example{"{;hello:5}", ";hello=Hello", back::different},
                    example{"{;list}", ";list=red,green,blue"}, example{"{;list*}", ";list=red;list=green;list=blue"},
                    example{"{;keys}", ";keys=semi,%3B,dot,.,comma,%2C", back::different},
                    example{"{;keys*}", ";semi=%3B;dot=.;comma=%2C"}));

INSTANTIATE_TEST_SUITE_P(section_3_2_8_query, rfc6570,
                         testing::Values(example{"{?who}", "?who=fred"}, example{"{?half}", "?half=50%25"},
                                         example{"{?x,y}", "?x=1024&y=768"}, example{"{?x,y,empty}", "?x=1024&y=768&empty="},
                                         example{"{?x,y,undef}", "?x=1024&y=768"},
                                         example{"{?var:3}", "?var=val", back::different},
                                         example{"{?list}", "?list=red,green,blue"},
                                         example{"{?list*}", "?list=red&list=green&list=blue"},
                                         example{"{?keys}", "?keys=semi,%3B,dot,.,comma,%2C", back::different},
                                         example{"{?keys*}", "?semi=%3B&dot=.&comma=%2C"}));

INSTANTIATE_TEST_SUITE_P(
    section_3_2_9_continuation, rfc6570,
    testing::Values(example{"{&who}", "&who=fred"}, example{"{&half}", "&half=50%25"},
                    example{"?fixed=yes{&x}", "?fixed=yes&x=1024"}, example{"{&x,y,empty}", "&x=1024&y=768&empty="},
                    example{"{&x,y,undef}", "&x=1024&y=768"}, example{"{&var:3}", "&var=val", back::different},
                    example{"{&list}", "&list=red,green,blue"}, example{"{&list*}", "&list=red&list=green&list=blue"},
                    example{"{&keys}", "&keys=semi,%3B,dot,.,comma,%2C", back::different},
                    example{"{&keys*}", "&semi=%3B&dot=.&comma=%2C"}));

TEST(uri_template_expansion, lets_escapes_pass_only_where_reserved_characters_pass) {
  const uri_template_values values{{"id", "admin%2F"}, {"odd", "%foo"}, {"list", list{"red%25", "%2Fgreen", "blue "}}};
  const auto expand = [&](const char* text) { return uri_template::compile(text).value().expand(values).value(); };
  EXPECT_EQ(expand("{+id}"), "admin%2F");
  EXPECT_EQ(expand("{#id}"), "#admin%2F");
  EXPECT_EQ(expand("{id}"), "admin%252F");
  EXPECT_EQ(expand("{+odd}"), "%25foo");
  EXPECT_EQ(expand("{+list}"), "red%25,%2Fgreen,blue%20");
  EXPECT_EQ(expand("{list}"), "red%2525,%252Fgreen,blue%20");
}

TEST(uri_template_expansion, counts_prefixes_in_code_points_and_splits_no_escape) {
  const uri_template_values values{{"word", "本棚hon"}, {"escaped", "%E6ab"}, {"bytes", "\xE6\x9Cx"}};
  const auto expand = [&](const char* text) { return uri_template::compile(text).value().expand(values).value(); };
  EXPECT_EQ(expand("{word:1}"), "%E6%9C%AC");
  EXPECT_EQ(expand("{word:3}"), "%E6%9C%AC%E6%A3%9Ah");
  EXPECT_EQ(expand("{+escaped:2}"), "%E6a");
  EXPECT_EQ(expand("{escaped:2}"), "%25E");
  EXPECT_EQ(expand("{bytes:2}"), "%E6%9C");
}

TEST(uri_template_expansion, escapes_non_ascii_literals_and_names_stay_as_written) {
  const uri_template_values values{{"Stra%C3%9Fe", "Grüner Weg"}, {"x", "1"}};
  EXPECT_EQ(uri_template::compile("memo:///棚/%7e{x}").value().expand(values).value(), "memo:///%E6%A3%9A/%7e1");
  EXPECT_EQ(uri_template::compile("/lookup{?Stra%C3%9Fe}").value().expand(values).value(),
            "/lookup?Stra%C3%9Fe=Gr%C3%BCner%20Weg");
}

TEST(uri_template_expansion, refuses_a_prefix_of_a_list_or_array_and_names_the_variable) {
  for (const char* text : {"{keys:1}", "{+keys:1}", "{;list:3}"}) {
    const auto expansion = uri_template::compile(text).value().expand(given());
    ASSERT_FALSE(expansion) << text;
    EXPECT_EQ(expansion.error().code, hondana::errc::invalid_argument);
    EXPECT_THAT(expansion.error().public_text, testing::HasSubstr(text[1] == 'k' || text[2] == 'k' ? "\"keys\"" : "\"list\""));
  }
}

TEST(uri_template_expansion, keeps_a_hostile_member_name_from_starting_another_parameter) {
  const uri_template_values values{{"map", array{{"a&admin", "1"}, {"b=c", "2"}}}};
  EXPECT_EQ(uri_template::compile("{?map*}").value().expand(values).value(), "?a%26admin=1&b%3Dc=2");
}

}  // namespace
