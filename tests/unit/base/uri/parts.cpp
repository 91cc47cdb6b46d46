/// Splitting, ordering and covering, and percent-encoding.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <hondana/uri.hpp>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace {

using hondana::compare_by_segment;
using hondana::percent_decode;
using hondana::percent_encode;
using hondana::split_uri;
using hondana::uri_covers;

TEST(split_uri, finds_the_five_components) {
  const auto parts = split_uri("http://user@host:80/over/there?name=ferret#nose");
  EXPECT_EQ(parts.scheme, "http");
  EXPECT_EQ(parts.authority, "user@host:80");
  EXPECT_EQ(parts.path, "/over/there");
  EXPECT_EQ(parts.query, "name=ferret");
  EXPECT_EQ(parts.fragment, "nose");
}

TEST(split_uri, tells_absent_from_empty) {
  const auto with = split_uri("x://?#");
  EXPECT_EQ(with.authority, "");
  EXPECT_EQ(with.query, "");
  EXPECT_EQ(with.fragment, "");
  const auto without = split_uri("x:");
  EXPECT_EQ(without.scheme, "x");
  EXPECT_EQ(without.authority, std::nullopt);
  EXPECT_EQ(without.path, "");
  EXPECT_EQ(without.query, std::nullopt);
  EXPECT_EQ(without.fragment, std::nullopt);
}

TEST(split_uri, looks_for_delimiters_in_the_order_of_the_grammar) {
  EXPECT_EQ(split_uri("x:a?b#c?d").query, "b");
  EXPECT_EQ(split_uri("x:a#b?c").query, std::nullopt);
  EXPECT_EQ(split_uri("x:a#b?c").fragment, "b?c");
  EXPECT_EQ(split_uri("x://a?b/c:d").authority, "a");
  EXPECT_EQ(split_uri("x:/a//b").authority, std::nullopt);
  EXPECT_EQ(split_uri("urn:isbn:0451450523").path, "isbn:0451450523");
  EXPECT_EQ(split_uri("/a:b").scheme, "");
  EXPECT_EQ(split_uri(":a").path, ":a");
  EXPECT_EQ(split_uri("").path, "");
}

TEST(compare_by_segment, puts_a_folder_directly_before_its_subtree) {
  std::vector<std::string> uris{"a-b", "a/b/c", "b",     "a",   "a/b", "a b", "a!",   "a/",
                                "a//", "ab",    "a/b-c", "a.b", "",    "/",   "a%2Fb"};
  std::sort(uris.begin(), uris.end(), [](const auto& a, const auto& b) { return compare_by_segment(a, b) < 0; });
  EXPECT_EQ(uris, (std::vector<std::string>{"", "/", "a", "a/", "a//", "a/b", "a/b/c", "a/b-c", "a b", "a!", "a%2Fb", "a-b",
                                            "a.b", "ab", "b"}));
}

TEST(compare_by_segment, compares_bytes_as_unsigned) {
  EXPECT_TRUE(compare_by_segment("a", "\xff") < 0);
  EXPECT_TRUE(compare_by_segment("/", std::string_view("\0", 1)) < 0);
  EXPECT_TRUE(compare_by_segment("", "/") < 0);
  EXPECT_TRUE(compare_by_segment("a/b", "a/b") == 0);
}

std::string random_path(std::mt19937& random) {
  std::string out;
  for (auto length = random() % 7; length > 0; --length) out += "/ab-\xc3%"[random() % 6];
  return out;
}

TEST(compare_by_segment, is_a_strict_total_order_of_texts) {
  std::mt19937 random(1);
  for (int round = 0; round < 20'000; ++round) {
    const std::string a = random_path(random);
    const std::string b = random_path(random);
    const std::string c = random_path(random);
    EXPECT_EQ(compare_by_segment(a, b) == 0, a == b);
    EXPECT_EQ(compare_by_segment(a, b) < 0, compare_by_segment(b, a) > 0);
    if (compare_by_segment(a, b) < 0 && compare_by_segment(b, c) < 0) {
      EXPECT_TRUE(compare_by_segment(a, c) < 0);
    }
  }
}

TEST(compare_by_segment, keeps_every_subtree_contiguous) {
  std::mt19937 random(2);
  std::vector<std::string> uris;
  for (int i = 0; i < 600; ++i) uris.push_back(random_path(random));
  std::sort(uris.begin(), uris.end(), [](const auto& a, const auto& b) { return compare_by_segment(a, b) < 0; });
  uris.erase(std::unique(uris.begin(), uris.end()), uris.end());
  for (auto folder = uris.begin(); folder != uris.end(); ++folder) {
    const auto end = std::find_if_not(folder, uris.end(), [&](const auto& uri) { return uri_covers(*folder, uri); });
    EXPECT_TRUE(std::none_of(end, uris.end(), [&](const auto& uri) { return uri_covers(*folder, uri); })) << *folder;
    EXPECT_TRUE(std::none_of(uris.begin(), folder, [&](const auto& uri) { return uri_covers(*folder, uri); })) << *folder;
  }
}

TEST(covers, ends_at_a_segment_boundary) {
  EXPECT_TRUE(uri_covers("file:///a", "file:///a"));
  EXPECT_TRUE(uri_covers("file:///a", "file:///a/"));
  EXPECT_TRUE(uri_covers("file:///a", "file:///a/b"));
  EXPECT_FALSE(uri_covers("file:///a", "file:///ab"));
  EXPECT_FALSE(uri_covers("file:///a", "file:///"));
  EXPECT_FALSE(uri_covers("file:///a/b", "file:///a"));
}

TEST(covers, leaves_out_the_siblings_of_a_root_that_share_its_prefix) {
  for (const char* sibling : {"project2", "project_backup", "project-old", "project.bak", "project%2F", "project%2Fx"}) {
    EXPECT_FALSE(uri_covers("file:///home/user/project", std::string("file:///home/user/") + sibling)) << sibling;
    EXPECT_FALSE(uri_covers("file:///home/user/project/", std::string("file:///home/user/") + sibling)) << sibling;
  }
  EXPECT_FALSE(uri_covers("file:///home/user/project/", "file:///home/user/project"));
}

TEST(covers, takes_a_prefix_that_ends_in_a_slash_as_it_is) {
  EXPECT_TRUE(uri_covers("file:///a/", "file:///a/"));
  EXPECT_TRUE(uri_covers("file:///a/", "file:///a/b/c"));
  EXPECT_TRUE(uri_covers("file:///", "file:///a"));
  EXPECT_TRUE(uri_covers("memo://", "memo://host/a"));
}

TEST(covers, takes_a_query_or_fragment_as_part_of_the_resource) {
  EXPECT_TRUE(uri_covers("file:///a", "file:///a?lines=1"));
  EXPECT_TRUE(uri_covers("file:///a", "file:///a#top"));
  EXPECT_FALSE(uri_covers("file:///a", "file:///a%3Flines=1"));
}

TEST(percent_encode, escapes_all_but_unreserved_characters) {
  EXPECT_EQ(percent_encode("AZaz09-._~"), "AZaz09-._~");
  EXPECT_EQ(percent_encode("a b/c#d?e%f+g"), "a%20b%2Fc%23d%3Fe%25f%2Bg");
  EXPECT_EQ(percent_encode("a b/c", true), "a%20b/c");
  EXPECT_EQ(percent_encode("本"), "%E6%9C%AC");
  EXPECT_EQ(percent_encode("\xff\n"), "%FF%0A");
  EXPECT_EQ(percent_encode(std::string_view("\0", 1)), "%00");
  EXPECT_EQ(percent_encode(""), "");
}

TEST(percent_decode, decodes_every_escape) {
  EXPECT_EQ(percent_decode("a%20b%2fc%2F%41").value(), "a b/c/A");
  EXPECT_EQ(percent_decode("%252e").value(), "%2e");
  EXPECT_EQ(percent_decode("a+b").value(), "a+b");
  EXPECT_EQ(percent_decode("%00").value(), std::string("\0", 1));
  for (const char* broken : {"ab%", "ab%4", "ab%4g", "ab%g4", "ab%%41"}) {
    const auto decoded = percent_decode(broken);
    ASSERT_FALSE(decoded) << broken;
    EXPECT_EQ(decoded.error().code, hondana::errc::invalid_argument);
    EXPECT_THAT(decoded.error().public_text, testing::HasSubstr("at byte 2")) << broken;
  }
}

TEST(percent_decode, inverts_percent_encode_for_every_byte) {
  std::string bytes;
  for (int byte = 0; byte < 256; ++byte) bytes += static_cast<char>(byte);
  EXPECT_EQ(percent_decode(percent_encode(bytes)).value(), bytes);
  EXPECT_EQ(percent_decode(percent_encode(bytes, true)).value(), bytes);
}

TEST(key_before, lies_between_what_starts_with_the_prefix_and_everything_before_it) {
  const std::string letters = "/-.0a";
  std::vector<std::string> all{""};
  for (std::size_t i = 0; i < all.size() && all[i].size() < 4; ++i) {
    for (const char c : letters) all.push_back(all[i] + c);
  }
  for (const std::string prefix : {"/", "0", ".", "a", "a/", "a0", "a/0", "a//", "-.", "a-"}) {
    const auto key = hondana::key_before(prefix);
    for (const auto& uri : all) {
      const bool is_after = std::is_gt(compare_by_segment(uri, key));
      const bool is_from_there_on = uri.starts_with(prefix) || std::is_gt(compare_by_segment(uri, prefix));
      EXPECT_EQ(is_after, is_from_there_on) << prefix << " " << uri;
    }
  }
  EXPECT_EQ(hondana::key_before(""), "");
}

}  // namespace
