/// The canonical form: what it is, and what has none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <hondana/uri.hpp>
#include <string>
#include <string_view>

namespace {

using hondana::canonical_uri;
using testing::HasSubstr;

std::string canonical(std::string_view text) {
  const auto uri = canonical_uri(text);
  return uri ? *uri : uri.error().public_text;
}

std::string refusal(std::string_view text) {
  const auto uri = canonical_uri(text);
  if (uri) return "accepted: " + *uri;
  EXPECT_EQ(uri.error().code, hondana::errc::invalid_argument) << text;
  return uri.error().public_text;
}

TEST(canonical_uri, keeps_what_is_canonical) {
  for (const char* text : {
           "file:///home/user/a.txt",
           "file:///a//b/",
           "file://",
           "x:",
           "x:?#",
           "http://user:pw@host:80/p;a=1,2/@:!$&'()*+?q=/?:@#f/?:@",
           "urn:isbn:0451450523",
           "mailto:a@b.example",
           "x:/a",
           "x:a/../b",
           "x:./a",
           "a+b-c.9:x",
           "http://[::1]/",
           "http://[2001:db8::7]:8080/",
           "http://[::ffff:192.0.2.1]/",
           "http://[v1.fe80::a+en1]/",
           "http://host:/",
           "http://:80/",
           "http://@/",
           "file:///a%2Fb",
           "file:///%252e%252e/a",
           "file:///..%2F..%2Fetc%2Fpasswd",
           "file:///...",
           "file:///a/.b/c./..d/e..",
           "file:///a?x=../b#../c",
           "file:///%FF%82",
       }) {
    EXPECT_EQ(canonical(text), text);
  }
}

TEST(canonical_uri, lowers_the_scheme_and_keeps_the_case_of_the_rest) {
  EXPECT_EQ(canonical("FILE:///A/b"), "file:///A/b");
  EXPECT_EQ(canonical("HtTp://Host.Example/Path?Q#F"), "http://Host.Example/Path?Q#F");
}

TEST(canonical_uri, writes_escapes_in_one_way) {
  EXPECT_EQ(canonical("x:/%2f%3a%c3%a9"), "x:/%2F%3A%C3%A9");
  EXPECT_EQ(canonical("x:/%41%7a%30%2d%2e%5f%7e"), "x:/Az0-._~");
  EXPECT_EQ(canonical("x://%41%2d?%42#%43"), "x://A-?B#C");
  EXPECT_EQ(canonical("x:/%252e"), "x:/%252e");
  EXPECT_EQ(canonical("x:/%25%32%65"), "x:/%252e");
}

TEST(canonical_uri, writes_delimiters_in_the_path_of_a_file_raw) {
  EXPECT_EQ(canonical("file:///%21%24%26%27%28%29%2a%2B%2c%3B%3d%3a%40"), "file:///!$&'()*+,;=:@");
  EXPECT_EQ(canonical("file:///c%2B%2b%40%28x%29/a"), "file:///c++@(x)/a");
  EXPECT_EQ(canonical("file:///c++@(x)/a"), "file:///c++@(x)/a");
  EXPECT_EQ(canonical("file:///%252B"), "file:///%252B");
  EXPECT_EQ(canonical("file:///%2f%3f%23%5b%5d%25%20%7b"), "file:///%2F%3F%23%5B%5D%25%20%7B");
  EXPECT_EQ(canonical("file:///a?lines=1%2C2#%2B"), "file:///a?lines=1%2C2#%2B");
  EXPECT_EQ(canonical("http://h/%2B%40"), "http://h/%2B%40");
}

TEST(canonical_uri, writes_the_local_host_of_a_file_as_no_host) {
  EXPECT_EQ(canonical("file://localhost/x"), "file:///x");
  EXPECT_EQ(canonical("FILE://LocalHost/x/../y"), "file:///y");
  EXPECT_EQ(canonical("file:/x"), "file:///x");
  EXPECT_EQ(canonical("file:/x?a#b"), "file:///x?a#b");
  EXPECT_EQ(canonical("file:/.//x"), "file:////x");
  EXPECT_EQ(canonical("file://localhost//x"), "file:////x");
  EXPECT_EQ(canonical("file://localhost2/x"), "file://localhost2/x");
  EXPECT_EQ(canonical("file://localhost:1/x"), "file://localhost:1/x");
  EXPECT_EQ(canonical("file://user@localhost/x"), "file://user@localhost/x");
  EXPECT_EQ(canonical("http://localhost/x"), "http://localhost/x");
  EXPECT_EQ(canonical("file:x"), "file:x");
}

TEST(canonical_uri, escapes_raw_utf8_everywhere_but_in_scheme_and_port) {
  EXPECT_EQ(canonical("file:///本棚.md"), "file:///%E6%9C%AC%E6%A3%9A.md");
  EXPECT_EQ(canonical("x://é@ü?ö#📚"), "x://%C3%A9@%C3%BC?%C3%B6#%F0%9F%93%9A");
  EXPECT_THAT(refusal("é:a"), HasSubstr("at byte 0"));
  EXPECT_THAT(refusal("xé:a"), HasSubstr("at byte 1"));
  EXPECT_THAT(refusal("x://a:é"), HasSubstr("at byte 6"));
}

// attacks: unicode (NFC and NFD)
TEST(canonical_uri, keeps_nfc_and_nfd_apart) {
  EXPECT_EQ(canonical("file:///é"), "file:///%C3%A9");
  EXPECT_EQ(canonical("file:///e\xCC\x81"), "file:///e%CC%81");
}

TEST(canonical_uri, removes_dot_segments_however_they_are_written) {
  // RFC 3986 section 5.2.4.
  EXPECT_EQ(canonical("x:/a/b/c/./../../g"), "x:/a/g");
  EXPECT_EQ(canonical("x://h/a/b/c/./../../g"), "x://h/a/g");
  EXPECT_EQ(canonical("file:///a/%2e/b"), "file:///a/b");
  EXPECT_EQ(canonical("file:///a/%2e%2E/b"), "file:///b");
  EXPECT_EQ(canonical("file:///a/.%2e/b"), "file:///b");
  EXPECT_EQ(canonical("file:///a/."), "file:///a/");
  EXPECT_EQ(canonical("file:///a/.."), "file:///");
  EXPECT_EQ(canonical("file:///a/b/.."), "file:///a/");
  EXPECT_EQ(canonical("file:///."), "file:///");
  EXPECT_EQ(canonical("file:///./a"), "file:///a");
  EXPECT_EQ(canonical("file:///a/./?q"), "file:///a/?q");
  EXPECT_EQ(canonical("file:///a//../b"), "file:///a/b");
  EXPECT_EQ(canonical("file:///a/..//b"), "file:////b");
}

// attacks: traversal
TEST(canonical_uri, stays_at_the_root_above_it) {
  EXPECT_EQ(canonical("file:///.."), "file:///");
  EXPECT_EQ(canonical("file:///../../../etc/passwd"), "file:///etc/passwd");
  EXPECT_EQ(canonical("file:///root/../../../etc/passwd"), "file:///etc/passwd");
  EXPECT_EQ(canonical("file:///root/src/../../project2"), "file:///project2");
  EXPECT_EQ(canonical("x://host/../a"), "x://host/a");
  EXPECT_EQ(canonical("x:/../a"), "x:/a");
}

// attacks: traversal (encoded, double-encoded)
TEST(canonical_uri, takes_an_escaped_slash_for_no_slash) {
  EXPECT_EQ(canonical("file:///root/..%2f..%2Fetc%2fpasswd"), "file:///root/..%2F..%2Fetc%2Fpasswd");
  EXPECT_EQ(canonical("file:///root/%2e%2e%2fetc"), "file:///root/..%2Fetc");
  EXPECT_EQ(canonical("file:///root/%252e%252e/etc"), "file:///root/%252e%252e/etc");
}

TEST(canonical_uri, refuses_a_path_that_would_turn_into_an_authority) {
  for (const char* text : {"x:/.//evil/a", "x:/a/..//evil", "x:/%2e//evil", "x:/..//evil"}) {
    EXPECT_THAT(refusal(text), HasSubstr("two slashes")) << text;
  }
  EXPECT_EQ(canonical("x:///.//a"), "x:////a");
}

TEST(canonical_uri, refuses_what_is_no_absolute_uri) {
  EXPECT_EQ(refusal(""), "the URI is empty");
  for (const char* text : {"a", "/", "//", "///", "/etc/passwd", "../etc/passwd", "//host/a", "?q", "#f", ":a", "1x:a", "-x:a",
                           ".:a", "a/b:c", "\\\\server\\share", "%66ile:///a", " file:///a"}) {
    EXPECT_THAT(refusal(text), HasSubstr("at byte 0")) << text;
  }
  EXPECT_THAT(refusal("x y:a"), HasSubstr("at byte 1"));
  EXPECT_THAT(refusal("x_y:a"), HasSubstr("at byte 1"));
}

TEST(canonical_uri, refuses_characters_outside_the_grammar_and_names_where) {
  for (const char c : std::string(" \"<>\\^`{|}\n\r\t\x01\x1f\x7f")) {
    for (const char* start : {"x:/a", "x://a", "x:a?a", "x:/?#"}) {
      const std::string text = std::string(start) + c + "b";
      EXPECT_THAT(refusal(text), HasSubstr("at byte " + std::to_string(std::string(start).size()))) << text;
    }
  }
  EXPECT_EQ(refusal("file:///a b"), "the URI has a space in its path at byte 9; write it as %20");
  EXPECT_THAT(refusal("C:\\x"), HasSubstr("'\\' in its path at byte 2"));
  EXPECT_THAT(refusal("file:///\\\\server\\share"), HasSubstr("at byte 8"));
  EXPECT_THAT(refusal("x:/a[b]"), HasSubstr("at byte 4"));
  EXPECT_THAT(refusal("x:a#b#c"), HasSubstr("at byte 5"));
}

// attacks: traversal (NUL at start, middle and end)
TEST(canonical_uri, refuses_nul_at_start_middle_and_end) {
  using std::string_view_literals::operator""sv;
  EXPECT_THAT(refusal("\0file:///a"sv), HasSubstr("at byte 0"));
  EXPECT_THAT(refusal("file:///a\0b"sv), HasSubstr("at byte 9"));
  EXPECT_THAT(refusal("file:///a\0"sv), HasSubstr("at byte 9"));
  EXPECT_THAT(refusal("%00file:///a"), HasSubstr("at byte 0"));
  EXPECT_THAT(refusal("file:///%00a"), HasSubstr("an escaped NUL at byte 8"));
  EXPECT_THAT(refusal("file:///a%00.txt"), HasSubstr("an escaped NUL at byte 9"));
  EXPECT_THAT(refusal("file:///a?b%00"), HasSubstr("an escaped NUL at byte 11"));
  EXPECT_THAT(refusal("file://a%00/b"), HasSubstr("an escaped NUL at byte 8"));
}

// attacks: unicode (overlong UTF-8)
TEST(canonical_uri, refuses_broken_escapes_and_ill_formed_utf8) {
  for (const char* text : {"x:/a%", "x:/a%4", "x:/a%zz", "x:/a%4z", "x:/a%%41", "x:/a%4/1", "x:/a%?41", "x:/a\xff",
                           "x:/a\xc0\xaf", "x:/a\xc1\x81", "x:/a\xe0\x80\xaf", "x:/a\xed\xa0\x80", "x:/a\xf4\x90\x80\x80",
                           "x:/a\xf0\x80\x80\x80", "x:/a\xe6\x9c", "x:/a\x80", "x:/a\xe6?\x9c", "x:/a\xf5\x80\x80\x80"}) {
    EXPECT_THAT(refusal(text), HasSubstr("at byte 4")) << text;
  }
}

TEST(canonical_uri, refuses_malformed_authorities) {
  for (const char* text : {"x://[::1",
                           "x://[]/",
                           "x://[1::2::3]/",
                           "x://[:1]/",
                           "x://[1:2:3:4:5:6:7]/",
                           "x://[1:2:3:4:5:6:7:8:9]/",
                           "x://[12345::]/",
                           "x://[::1]a/",
                           "x://[::1]]/",
                           "x://[::1.2.3]/",
                           "x://[::1.2.3.256]/",
                           "x://[1.2.3.4::]/",
                           "x://[fe80::1%25eth0]/",
                           "x://[v.a]/",
                           "x://[v1.]/",
                           "x://[g::]/",
                           "x://a@b@c/",
                           "x://a:b:c/",
                           "x://a:8o/",
                           "x://a:-1/",
                           "x://a[b]/",
                           "x://[1::2:]/",
                           "x://[::1:2:3:4:5:6:7:8]/"}) {
    EXPECT_THAT(refusal(text), HasSubstr("at byte ")) << text;
  }
}

std::string path_of(std::size_t count, char c) {
  std::string out = "x:/";
  out.append(count, c);
  return out;
}

TEST(canonical_uri, accepts_8192_bytes_and_no_more_before_and_after_escaping) {
  EXPECT_EQ(canonical(path_of(8189, 'a')).size(), 8192U);
  EXPECT_THAT(refusal(path_of(8190, 'a')), HasSubstr("8193 bytes; at most 8192"));
  EXPECT_THAT(refusal(path_of(100'000, '/')), HasSubstr("100003 bytes; at most 8192"));
  std::string escaped = "x:/";
  for (int i = 0; i < 1'000; ++i) escaped += "本";
  EXPECT_THAT(refusal(escaped), HasSubstr("9003 bytes; at most 8192"));
  std::string deep = "x:/a";
  while (deep.size() < 8'000) deep += "/a/..";
  EXPECT_EQ(canonical(deep), "x:/a/");
}

}  // namespace
