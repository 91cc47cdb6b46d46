/// Matching of the named operators `? & ;`.
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "unit/base/uri/template_values.hpp"

namespace {

using uri_test::array;
using uri_test::list;
using uri_test::match;
using uri_test::values;

TEST(uri_template_parameters, may_be_absent_partial_or_reordered) {
  EXPECT_EQ(match("/x{?a,b}", "/x"), values{});
  EXPECT_EQ(match("/x{?a,b}", "/x?a=1"), (values{{"a", "1"}}));
  EXPECT_EQ(match("/x{?a,b}", "/x?b=2"), (values{{"b", "2"}}));
  EXPECT_EQ(match("/x{?a,b}", "/x?a=1&b=2"), (values{{"a", "1"}, {"b", "2"}}));
  EXPECT_EQ(match("/x{?a,b}", "/x?b=2&a=1"), (values{{"a", "1"}, {"b", "2"}}));
}

TEST(uri_template_parameters, are_refused_when_unknown_repeated_or_malformed) {
  for (const char* uri :
       {"/x?c=1", "/x?a=1&c=2", "/x?a=1&a=2", "/x?a=1&b=2&a=1", "/x?", "/x?a", "/x?a&b=1", "/x?a=1&", "/x?&a=1", "/x?=1",
        "/x?A=1", "/x?aa=1", "/x?a=1;b=2", "/x&a=1", "/x?a=1?b=2", "/x?a=1#", "/x?a==", "/x?a=b=c"}) {
    EXPECT_EQ(match("/x{?a,b}", uri), std::nullopt) << uri;
  }
}

TEST(uri_template_parameters, may_be_empty) {
  EXPECT_EQ(match("/x{?a,b}", "/x?a="), (values{{"a", ""}}));
  EXPECT_EQ(match("/x{?a,b}", "/x?a=&b="), (values{{"a", ""}, {"b", ""}}));
  EXPECT_EQ(match("/x{;a,b}", "/x;a;b=1"), (values{{"a", ""}, {"b", "1"}}));
  EXPECT_EQ(match("/x{;a,b}", "/x;b=;a"), (values{{"a", ""}, {"b", ""}}));
}

TEST(uri_template_parameters, decode_values_and_split_lists_at_raw_commas) {
  EXPECT_EQ(match("{?q}", "?q=a%26b%3Dc%20%2Fd"), (values{{"q", "a&b=c /d"}}));
  EXPECT_EQ(match("{?q}", "?q=a,b%2Cc,"), (values{{"q", list{"a", "b,c", ""}}}));
  EXPECT_EQ(match("{?q:3}", "?q=a,b"), std::nullopt);
  EXPECT_EQ(match("{?q:3}", "?q=abc"), (values{{"q", "abc"}}));
  EXPECT_EQ(match("{?q:3}", "?q=abcd"), std::nullopt);
  EXPECT_EQ(match("{?q}", "?q=a/b"), std::nullopt);
}

TEST(uri_template_parameters, have_names_of_which_one_may_begin_another) {
  EXPECT_EQ(match("{?a,ab,abc}", "?ab=1&abc=2&a=3"), (values{{"a", "3"}, {"ab", "1"}, {"abc", "2"}}));
  EXPECT_EQ(match("{;a,ab,abc}", ";ab;abc;a"), (values{{"a", ""}, {"ab", ""}, {"abc", ""}}));
  EXPECT_EQ(match("{?last.name,%41}", "?A=1&last.name=2"), (values{{"last.name", "2"}, {"%41", "1"}}));
  EXPECT_EQ(match("/lookup{?Stra%C3%9Fe}", "/lookup?Stra%C3%9Fe=Gr%C3%BCner%20Weg"), (values{{"Stra%C3%9Fe", "Grüner Weg"}}));
}

TEST(uri_template_parameters, continue_a_query) {
  EXPECT_EQ(match("/x?fixed=yes{&a,b}", "/x?fixed=yes"), values{});
  EXPECT_EQ(match("/x?fixed=yes{&a,b}", "/x?fixed=yes&b=1&a=2"), (values{{"a", "2"}, {"b", "1"}}));
  EXPECT_EQ(match("/x?fixed=yes{&a,b}", "/x?a=2&fixed=yes"), std::nullopt);
  EXPECT_EQ(match("{?a}{&b}", "?a=1&b=2"), (values{{"a", "1"}, {"b", "2"}}));
  EXPECT_EQ(match("{?a}{&b}", "&b=2"), (values{{"b", "2"}}));
  EXPECT_EQ(match("{?id,token}{&keys*}", "?id=admin&token=1&key1=val1&key2=val2"),
            (values{{"id", "admin"}, {"token", "1"}, {"keys", array{{"key1", "val1"}, {"key2", "val2"}}}}));
}

TEST(uri_template_parameters, explode_to_a_list_of_their_own_name_or_an_array_of_others) {
  EXPECT_EQ(match("{?a*}", "?a=1"), (values{{"a", list{"1"}}}));
  EXPECT_EQ(match("{?a*}", "?a=1&a=&a=3"), (values{{"a", list{"1", "", "3"}}}));
  EXPECT_EQ(match("{?a*}", "?x=1&y%20z=%26"), (values{{"a", array{{"x", "1"}, {"y z", "&"}}}}));
  EXPECT_EQ(match("{?a*}", "?x=1&x=2"), std::nullopt);
  EXPECT_EQ(match("{?a*}", "?x=1&a=2"), (values{{"a", array{{"x", "1"}, {"a", "2"}}}}));
  EXPECT_EQ(match("{?a*,b}", "?a=1&b=2&a=3"), (values{{"a", list{"1", "3"}}, {"b", "2"}}));
  EXPECT_EQ(match("{?a*,b}", "?x=1&b=2&y=3"), (values{{"a", array{{"x", "1"}, {"y", "3"}}}, {"b", "2"}}));
  EXPECT_EQ(match("{?a*,b*}", "?a=1&b=2&a=3"), (values{{"a", list{"1", "3"}}, {"b", list{"2"}}}));
  EXPECT_EQ(match("{?a*,b*}", "?x=1&b=2"), (values{{"a", array{{"x", "1"}}}, {"b", list{"2"}}}));
  EXPECT_EQ(match("{;a*}", ";a;a=1;a"), (values{{"a", list{"", "1", ""}}}));
  EXPECT_EQ(match("{;a*}", ";x;y=1"), (values{{"a", array{{"x", ""}, {"y", "1"}}}}));
  EXPECT_EQ(match("{;a*}", ";"), std::nullopt);
  EXPECT_EQ(match("{?a:1,m*}", "?a=xy"), std::nullopt);
}

TEST(uri_template_parameters, end_where_the_literal_behind_them_begins) {
  EXPECT_EQ(match("{?a}&b={c}", "?a=1&b=2"), (values{{"a", "1"}, {"c", "2"}}));
  EXPECT_EQ(match("{?a}/end", "?a=1/end"), (values{{"a", "1"}}));
  EXPECT_EQ(match("{?a}end", "?a=endend"), (values{{"a", "end"}}));
  EXPECT_EQ(match("{;a}bc", ";abc"), (values{{"a", ""}}));
  EXPECT_EQ(match("{;a}=b", ";a=b"), (values{{"a", ""}}));
  EXPECT_EQ(match("{;m*}bc", ";xbc"), (values{{"m", array{{"x", ""}}}}));
}

TEST(uri_template_parameters, are_those_of_real_templates) {
  EXPECT_EQ(match("/base{/group_id,first_name}/pages{/page,lang}{?format,q}",
                  "/base/12345/John/pages/5/en?q=URI%20Templates&format=json"),
            (values{{"group_id", "12345"},
                    {"first_name", "John"},
                    {"page", "5"},
                    {"lang", "en"},
                    {"format", "json"},
                    {"q", "URI Templates"}}));
  EXPECT_EQ(match("/search.{format}{?q,geocode,lang}", "/search.json?q=x&geocode=37.76,-122.427"),
            (values{{"format", "json"}, {"q", "x"}, {"geocode", list{"37.76", "-122.427"}}}));
}

}  // namespace
