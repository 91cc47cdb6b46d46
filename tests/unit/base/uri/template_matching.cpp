/// Matching of literals, values, labels and path segments.
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "unit/base/uri/template_values.hpp"

namespace {

using uri_test::list;
using uri_test::match;
using uri_test::values;

TEST(uri_template, matches_leftmost_greedy) {
  EXPECT_EQ(match("{a}-{b}", "1-2-3"), (values{{"a", "1-2"}, {"b", "3"}}));
  EXPECT_EQ(match("{a}-{b}", "-"), values{});
  EXPECT_EQ(match("{a}x", "xxx"), (values{{"a", "xx"}}));
  EXPECT_EQ(match("/{+a}/{+b}", "/1/2/3"), (values{{"a", "1/2"}, {"b", "3"}}));
  EXPECT_EQ(match("{/a*}/{b}", "/1/2/3"), (values{{"a", list{"1", "2"}}, {"b", "3"}}));
  EXPECT_EQ(match("{/a*}/{b}", "/3"), (values{{"b", "3"}}));
  EXPECT_EQ(match("{/a,b}", "/1"), (values{{"a", "1"}}));
  EXPECT_EQ(match("{a,b}", "1"), (values{{"a", "1"}}));
}

TEST(uri_template, matches_the_whole_uri_only) {
  EXPECT_EQ(match("memo:///{id}", "memo:///a"), (values{{"id", "a"}}));
  EXPECT_EQ(match("memo:///{id}", "xmemo:///a"), std::nullopt);
  EXPECT_EQ(match("memo:///{id}/end", "memo:///a/end/"), std::nullopt);
  EXPECT_EQ(match("memo:///{id}/end", "memo:///a/en"), std::nullopt);
  EXPECT_EQ(match("memo:///{id}", "memo://"), std::nullopt);
  EXPECT_EQ(match("memo:///a", "memo:///a"), values{});
  EXPECT_EQ(match("memo:///a", "memo:///ab"), std::nullopt);
  EXPECT_EQ(match("", ""), values{});
  EXPECT_EQ(match("", "a"), std::nullopt);
}

TEST(uri_template, matches_literals_as_literals) {
  EXPECT_EQ(match("a.b/{x}", "a.b/1"), (values{{"x", "1"}}));
  for (const char* other : {"aXb/1", "a/b/1", "ab/1", "a..b/1", "a%2Eb/"}) {
    EXPECT_EQ(match("a.b/{x}", other).has_value(), std::string(other) == "a%2Eb/") << other;
  }
  EXPECT_EQ(match("a*b(c)[d]+?{x}", "a*b(c)[d]+?1"), (values{{"x", "1"}}));
  EXPECT_EQ(match("a*{x}", "aaa1"), std::nullopt);
}

TEST(uri_template, compares_escapes_in_canonical_form) {
  EXPECT_EQ(match("/棚/{x}", "/%E6%A3%9A/1"), (values{{"x", "1"}}));
  EXPECT_EQ(match("/棚/{x}", "/%e6%a3%9a/1"), (values{{"x", "1"}}));
  EXPECT_EQ(match("/棚/{x}", "/棚/1"), (values{{"x", "1"}}));
  EXPECT_EQ(match("/%7euser%2f{x}", "/~user%2F1"), (values{{"x", "1"}}));
  EXPECT_EQ(match("/%7euser%2f{x}", "/~user/1"), std::nullopt);
  // NFC and NFD are different names.
  EXPECT_EQ(match("/é/{x}", "/%C3%A9/1"), (values{{"x", "1"}}));
  EXPECT_EQ(match("/é/{x}", "/e%CC%81/1"), std::nullopt);
}

TEST(uri_template, never_splits_an_escape) {
  EXPECT_EQ(match("{a}20", "%20"), std::nullopt);
  EXPECT_EQ(match("{a}0{/b}", "%20/x"), std::nullopt);
  EXPECT_EQ(match("{a}20", "x%2020"), (values{{"a", "x "}}));
}

TEST(uri_template, refuses_broken_escapes_and_nul_in_a_uri) {
  for (const char* text : {"x:%", "x:%4", "x:%zz", "x:a%00", "x:%00a", "x:a%00b"}) {
    EXPECT_EQ(match("x:{+a}", text), std::nullopt) << text;
  }
  EXPECT_EQ(match("x:{+a}", std::string_view("x:a\0b", 5)), std::nullopt);
}

TEST(uri_template, takes_unreserved_characters_and_escapes_in_a_simple_variable) {
  EXPECT_EQ(match("x:{a}", "x:-._~09azAZ%20%2C"), (values{{"a", "-._~09azAZ ,"}}));
  for (const char reserved : std::string(":/?#[]@!$&'()*+,;=")) {
    EXPECT_EQ(match("x:{a}", std::string("x:1") + reserved + "2"), std::nullopt) << reserved;
  }
  for (const char* outside : {"x: ", "x:\"", "x:<", "x:\\", "x:^", "x:`", "x:{", "x:|", "x:}", "x:\n", "x:\x7f"}) {
    EXPECT_EQ(match("x:{a}", outside), std::nullopt) << outside;
    EXPECT_EQ(match("x:{+a}", outside), std::nullopt) << outside;
  }
}

TEST(uri_template, decodes_a_slash_that_a_client_encoded_in_a_simple_variable) {
  EXPECT_EQ(match("repo:///{path}", "repo:///src%2Fmain.cpp"), (values{{"path", "src/main.cpp"}}));
  EXPECT_EQ(match("repo:///{path}", "repo:///src/main.cpp"), std::nullopt);
  EXPECT_EQ(match("repo:///{path}/raw", "repo:///src%2Fmain.cpp/raw"), (values{{"path", "src/main.cpp"}}));
}

TEST(uri_template, keeps_an_encoded_slash_apart_from_a_slash_in_reserved_expansion) {
  EXPECT_EQ(match("file:///root/{+path}", "file:///root/a%2Fb/c%23d%20%25"), (values{{"path", "a%2Fb/c#d %"}}));
  EXPECT_EQ(match("file:///root/{+path}", "file:///root/..%2F..%2Fetc%2Fpasswd"), (values{{"path", "..%2F..%2Fetc%2Fpasswd"}}));
}

TEST(uri_template, leaves_the_sign_of_a_later_query_or_fragment_out_of_reserved_variables) {
  const char* files = "file:///root/{+path}{?lines,bytes}";
  EXPECT_EQ(match(files, "file:///root/src/a.cpp"), (values{{"path", "src/a.cpp"}}));
  EXPECT_EQ(match(files, "file:///root/"), values{});
  EXPECT_EQ(match(files, "file:///root/?lines=1"), (values{{"lines", "1"}}));
  EXPECT_EQ(match(files, "file:///root/src/a.cpp?lines=10-40"), (values{{"path", "src/a.cpp"}, {"lines", "10-40"}}));
  EXPECT_EQ(match(files, "file:///root/a?bytes=0-9&lines=1"), (values{{"path", "a"}, {"bytes", "0-9"}, {"lines", "1"}}));
  EXPECT_EQ(match(files, "file:///root/a?b"), std::nullopt);
  EXPECT_EQ(match(files, "file:///root/a%3Fb?lines=1"), (values{{"path", "a?b"}, {"lines", "1"}}));
  EXPECT_EQ(match(files, "file:///root/a,b;c=d@e!"), (values{{"path", "a,b;c=d@e!"}}));
  EXPECT_EQ(match("{+path}{?q}{#f}", "/a?q=1#x?y"), (values{{"path", "/a"}, {"q", "1"}, {"f", "x?y"}}));
  EXPECT_EQ(match("{+path}{?q}{#f}", "/a#x"), (values{{"path", "/a"}, {"f", "x"}}));
  EXPECT_EQ(match("{+path}/raw{?q}", "/a/raw?q=1"), (values{{"path", "/a"}, {"q", "1"}}));
  EXPECT_EQ(match("{+path}/raw{?q}", "/a?b/raw"), std::nullopt);
  EXPECT_EQ(match("{+path}", "/a?b#c"), (values{{"path", "/a?b#c"}}));
}

TEST(uri_template, tells_empty_from_undefined_where_a_sign_shows_it) {
  EXPECT_EQ(match("O{a}X", "OX"), values{});
  EXPECT_EQ(match("O{+a}X", "OX"), values{});
  EXPECT_EQ(match("O{#a}", "O#"), (values{{"a", ""}}));
  EXPECT_EQ(match("O{.a}", "O."), (values{{"a", ""}}));
  EXPECT_EQ(match("O{/a}", "O/"), (values{{"a", ""}}));
  EXPECT_EQ(match("{a,b}", ",1"), (values{{"a", ""}, {"b", "1"}}));
  EXPECT_EQ(match("{a,b}", "1,"), (values{{"a", "1"}, {"b", ""}}));
  EXPECT_EQ(match("{/a,b}", "//1"), (values{{"a", ""}, {"b", "1"}}));
  EXPECT_EQ(match("{/a*}", "/"), (values{{"a", list{""}}}));
  EXPECT_EQ(match("{/a*}", ""), values{});
}

TEST(uri_template, matches_labels) {
  EXPECT_EQ(match("/{name}{.ext}", "/a.cpp"), (values{{"name", "a"}, {"ext", "cpp"}}));
  EXPECT_EQ(match("/{name}{.ext}", "/a.tar.gz"), (values{{"name", "a"}, {"ext", "tar.gz"}}));
  EXPECT_EQ(match("/{name}{.ext}", "/a"), (values{{"name", "a"}}));
  EXPECT_EQ(match("/{name}{.ext}", "/.bashrc"), (values{{"ext", "bashrc"}}));
  EXPECT_EQ(match("/{name}.{ext}", "/a.tar.gz"), (values{{"name", "a.tar"}, {"ext", "gz"}}));
  EXPECT_EQ(match("X{.a,b}", "X.1.2"), (values{{"a", "1"}, {"b", "2"}}));
  EXPECT_EQ(match("X{.a,b}", "X.1.2.3"), std::nullopt);
  EXPECT_EQ(match("X{.a}{.b}", "X.1.2"), (values{{"a", "1"}, {"b", "2"}}));
  EXPECT_EQ(match("www{.dom*}", "www.example.com"), (values{{"dom", list{"example", "com"}}}));
}

TEST(uri_template, matches_path_segments) {
  EXPECT_EQ(match("/users{/id*}", "/users"), values{});
  EXPECT_EQ(match("/users{/id*}", "/users/a/b%2Fc"), (values{{"id", list{"a", "b/c"}}}));
  EXPECT_EQ(match("/users{/id*}", "/usersa"), std::nullopt);
  EXPECT_EQ(match("/users{/id}", "/users/a/b"), std::nullopt);
  EXPECT_EQ(match("/users{/id}", "/users/a,b"), (values{{"id", list{"a", "b"}}}));
  EXPECT_EQ(match("/data{/part*}", "/data/year=2024/month=01"), (values{{"part", list{"year=2024", "month=01"}}}));
  EXPECT_EQ(match("{/a}{/b}{/c}", "/1/2"), (values{{"a", "1"}, {"b", "2"}}));
}

TEST(uri_template, matches_lists_without_names_as_lists) {
  EXPECT_EQ(match("{list*}", "a,b%2Cc,"), (values{{"list", list{"a", "b,c", ""}}}));
  EXPECT_EQ(match("{keys*}", "semi=%3B,dot=."), (values{{"keys", list{"semi=;", "dot=."}}}));
  EXPECT_EQ(match("{+list*}", "/a,b=c"), (values{{"list", list{"/a", "b=c"}}}));
  EXPECT_EQ(match("{+list}", "/a,b"), (values{{"list", "/a,b"}}));
  EXPECT_EQ(match("{a,b*}", "1,2,3"), (values{{"a", "1"}, {"b", list{"2", "3"}}}));
}

TEST(uri_template, counts_prefixes_in_code_points) {
  EXPECT_EQ(match("{a:3}", "abc"), (values{{"a", "abc"}}));
  EXPECT_EQ(match("{a:3}", "ab"), (values{{"a", "ab"}}));
  EXPECT_EQ(match("{a:3}", "abcd"), std::nullopt);
  EXPECT_EQ(match("{a:2}", "%E6%9C%AC%E6%A3%9A"), (values{{"a", "本棚"}}));
  EXPECT_EQ(match("{a:1}", "%E6%9C%AC%E6%A3%9A"), std::nullopt);
  EXPECT_EQ(match("{a:1}", "%F0%9F%93%9A"), (values{{"a", "📚"}}));
  EXPECT_EQ(match("{a:2}", "%E6%9C"), (values{{"a", "\xE6\x9C"}}));
  EXPECT_EQ(match("{a:1}", "%E6%9C"), std::nullopt);
  EXPECT_EQ(match("{a:2}x", "axx"), (values{{"a", "ax"}}));
  EXPECT_EQ(match("{a:9999}", std::string(9999, 'a')), (values{{"a", std::string(9999, 'a')}}));
  EXPECT_EQ(match("{a:9999}", std::string(10'000, 'a')), std::nullopt);
}

TEST(uri_template, joins_the_places_where_a_variable_stands) {
  EXPECT_EQ(match("/{a}/{a}", "/1/1"), (values{{"a", "1"}}));
  EXPECT_EQ(match("/{a}/{a}", "/1/2"), std::nullopt);
  EXPECT_EQ(match("/dictionary/{term:1}/{term}", "/dictionary/c/cat"), (values{{"term", "cat"}}));
  EXPECT_EQ(match("/dictionary/{term:1}/{term}", "/dictionary/d/cat"), std::nullopt);
  EXPECT_EQ(match("/dictionary/{term:1}/{term}", "/dictionary/%E6%9C%AC/%E6%9C%AC%E6%A3%9A"), (values{{"term", "本棚"}}));
  EXPECT_EQ(match("{a:1}-{a:3}", "x-xyz"), (values{{"a", "xyz"}}));
  EXPECT_EQ(match("{a:1}-{a:3}", "x-yzw"), std::nullopt);
  EXPECT_EQ(match("{a:3}-{a:1}", "x-x"), (values{{"a", "x"}}));
  EXPECT_EQ(match("/{a}{?a*}", "/1?a=1"), (values{{"a", "1"}}));
  EXPECT_EQ(match("/{a}{?a*}", "/1?a=1&a=2"), std::nullopt);
  EXPECT_EQ(match("/{a}{?a*}", "/1"), std::nullopt) << "would expand to /1?a=1";
  EXPECT_EQ(match("/{a}{?a*}", "/"), values{});
  EXPECT_EQ(match("/{a}{?a}", "/?a="), (values{{"a", ""}}));
  EXPECT_EQ(match("/{a}{?a}", "/?a=1"), std::nullopt);
  EXPECT_EQ(match("{.a,a}", ".1"), std::nullopt);
  EXPECT_EQ(match("/{a:1}/{a}", "//1"), std::nullopt);
}

}  // namespace
