/// The canonical form of random texts: its properties, and Boost.URL as a second opinion on the grammar.
#include <gtest/gtest.h>

#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>
#include <hondana/uri.hpp>
#include <random>
#include <string>

namespace {

using hondana::canonical_uri;
using hondana::split_uri;

std::string random_uri(std::mt19937& random) {
  static const char* const units[] = {
      ":", "/", "//",  "/./", "/../", ".", "..",   "%2e", "%2E",     "%2f",  "%41",       "%00", "%",   "?",  "#",    "@",
      "[", "]", "::1", "1",   "80",   "a", "Z",    "~",   "!",       "&",    " ",         "\\",  "é",   "本", "\xff", "%ff",
      "+", "=", ",",   ";",   "'",    "(", "v1.x", "^",   "1.2.3.4", "[::]", "[fe80::1]", "%2B", "%3a", "%40"};
  static const char* const starts[] = {"",    "x:",       "file://", "FILE:///",        "http://h", "http://u@h:8",
                                       "x:/", "http://[", "file:/",  "file://localhost"};
  std::string out = starts[random() % std::size(starts)];
  for (auto count = random() % 8; count > 0; --count) out += units[random() % std::size(units)];
  return out;
}

bool has_dot_segment(std::string_view path) {
  while (!path.empty()) {
    path.remove_prefix(1);
    const auto segment = path.substr(0, path.find('/'));
    if (segment == "." || segment == "..") return true;
    path.remove_prefix(segment.size());
  }
  return false;
}

TEST(canonical_uri, is_idempotent_printable_and_free_of_dot_segments) {
  std::mt19937 random(3);
  int accepted = 0;
  for (int round = 0; round < 200'000; ++round) {
    const std::string text = random_uri(random);
    const auto once = canonical_uri(text);
    if (!once) continue;
    ++accepted;
    const auto twice = canonical_uri(*once);
    ASSERT_TRUE(twice) << text << " gave " << *once << ": " << twice.error().public_text;
    ASSERT_EQ(*twice, *once) << text;
    for (const char c : *once) ASSERT_TRUE(c > ' ' && c < '\x7f') << text;
    const auto parts = split_uri(*once);
    if (parts.path.starts_with('/')) {
      ASSERT_FALSE(has_dot_segment(parts.path)) << text << " gave " << *once;
    }
  }
  EXPECT_GT(accepted, 20'000);
}

/// Boost.URL 1.81 lets a path without its slash follow an authority (`http://h:8a` is port 8 and path `a`), which RFC 3986
/// section 3.3 rules out.
bool misread(const boost::urls::url_view& uri) {
  return uri.has_authority() && !uri.encoded_path().empty() && uri.encoded_path()[0] != '/';
}

TEST(canonical_uri, accepts_what_boost_url_takes_for_an_absolute_uri) {
  std::mt19937 random(4);
  int accepted = 0;
  int refused = 0;
  for (int round = 0; round < 200'000; ++round) {
    const std::string text = random_uri(random);
    const auto ours = canonical_uri(text);
    if (!ours && ours.error().public_text.find("two slashes") != std::string::npos) continue;
    // What the two define differently: raw UTF-8 is RFC 3987, NUL is refused by intent.
    if (text.find("%00") != std::string::npos) continue;
    bool ascii = true;
    for (const char c : text) ascii = ascii && static_cast<unsigned char>(c) < 0x80U;
    if (!ascii) continue;
    const auto uri = boost::urls::parse_uri(text);
    if (uri && misread(*uri)) continue;
    const bool theirs = uri.has_value();
    ASSERT_EQ(ours.has_value(), theirs) << text << ": " << (ours ? *ours : ours.error().public_text);
    ++(theirs ? accepted : refused);
  }
  EXPECT_GT(accepted, 10'000);
  EXPECT_GT(refused, 10'000);
}

TEST(canonical_uri, is_split_as_boost_url_splits_it) {
  std::mt19937 random(5);
  for (int round = 0; round < 100'000; ++round) {
    const auto uri = canonical_uri(random_uri(random));
    if (!uri) continue;
    const auto theirs = boost::urls::parse_uri(*uri);
    ASSERT_TRUE(theirs) << *uri;
    if (misread(*theirs)) continue;
    const auto ours = split_uri(*uri);
    const auto text = [](boost::urls::string_view view) { return std::string_view(view.data(), view.size()); };
    ASSERT_EQ(ours.scheme, text(theirs->scheme()));
    ASSERT_EQ(ours.authority.has_value(), theirs->has_authority()) << *uri;
    ASSERT_EQ(ours.path, text(theirs->encoded_path())) << *uri;
    ASSERT_EQ(ours.query.has_value(), theirs->has_query()) << *uri;
    ASSERT_EQ(ours.query.value_or(""), text(theirs->encoded_query())) << *uri;
    ASSERT_EQ(ours.fragment.has_value(), theirs->has_fragment()) << *uri;
    ASSERT_EQ(ours.fragment.value_or(""), text(theirs->encoded_fragment())) << *uri;
  }
}

}  // namespace
