/// Names in any bytes: their URIs, and back.
#include <gtest/gtest.h>

#include <hondana/uri.hpp>

#include "scratch_folder.hpp"

namespace hondana::files {
namespace {

/// One file of the given name; its URI's last part as literally expected.
void expect_served(const std::string& name, const std::string& encoded, const std::string& shown) {
  const scratch_folder root;
  root.write(name, "content");
  const auto files = open_provider(root);
  const auto entries = list_all(*files);
  ASSERT_EQ(entries.size(), 2u) << encoded;
  EXPECT_EQ(entries[1].uri, root.uri(encoded));
  EXPECT_EQ(entries[1].name, shown);
  EXPECT_EQ(canonical_uri(entries[1].uri).value_or(""), entries[1].uri);
  EXPECT_EQ(read_text(*files, entries[1].uri), "content") << encoded;
  EXPECT_EQ(read_text(*files, root.uri()), root.uri(encoded) + "\n");
}

// attacks: unicode (names with %, space, #, ?, +, newline)
TEST(names, with_special_characters_are_percent_encoded) {
  expect_served("with space.txt", "with%20space.txt", "with space.txt");
  expect_served("100%.txt", "100%25.txt", "100%.txt");
  expect_served("%41.txt", "%2541.txt", "%41.txt");
  expect_served("a#b.txt", "a%23b.txt", "a#b.txt");
  expect_served("a?b.txt", "a%3Fb.txt", "a?b.txt");
  expect_served("a+b.txt", "a+b.txt", "a+b.txt");
  expect_served("two\nlines.txt", "two%0Alines.txt", "two\nlines.txt");
  expect_served("back\\slash.txt", "back%5Cslash.txt", "back\\slash.txt");
  expect_served("~tilde_-.txt", "~tilde_-.txt", "~tilde_-.txt");
  expect_served("--output=x", "--output=x", "--output=x");
  expect_served("a!$&'()*+,;=:@b", "a!$&'()*+,;=:@b", "a!$&'()*+,;=:@b");
  expect_served("[a]{b}^`|<>\"", "%5Ba%5D%7Bb%7D%5E%60%7C%3C%3E%22", "[a]{b}^`|<>\"");
}

TEST(names, in_japanese_are_percent_encoded_utf_8) {
  expect_served("日本語.txt", "%E6%97%A5%E6%9C%AC%E8%AA%9E.txt", "日本語.txt");
}

// attacks: unicode (Shift_JIS bytes as a name)
TEST(names, in_shift_jis_are_served_byte_for_byte) {
  expect_served("\x93\xfa\x96\x7b.txt", "%93%FA%96%7B.txt", "\uFFFD\uFFFD\uFFFD{.txt");
}

// attacks: unicode (NFC and NFD names)
TEST(names, that_differ_in_normalisation_only_are_different_files) {
  const scratch_folder root;
  root.write("caf\u00e9.txt", "composed");
  root.write("cafe\u0301.txt", "decomposed");
  const auto files = open_provider(root);
  EXPECT_EQ(read_text(*files, root.uri("caf%C3%A9.txt")), "composed");
  EXPECT_EQ(read_text(*files, root.uri("cafe%CC%81.txt")), "decomposed");
  EXPECT_EQ(list_all(*files).size(), 3u);
}

TEST(names, may_be_asked_for_in_other_spellings) {
  const scratch_folder root;
  root.write("a+b 日.txt", "content");
  const auto files = open_provider(root);
  for (const char* spelling : {"a+b%20%E6%97%A5.txt", "a%2Bb%20%e6%97%a5.txt", "a%2bb%20日.txt", "%61+b%20日.txt"}) {
    EXPECT_EQ(read_text(*files, root.uri(spelling)), "content") << spelling;
  }
}

// attacks: traversal (an encoded slash)
TEST(names, an_encoded_slash_matches_no_file) {
  const scratch_folder root;
  root.write("folder/file.txt", "content");
  const auto files = open_provider(root);
  EXPECT_EQ(read_error(*files, root.uri("folder%2Ffile.txt")), errc::resource_not_found);
  EXPECT_EQ(read_error(*files, root.uri("folder%2F")), errc::resource_not_found);
}

// attacks: unicode (overlong UTF-8)
TEST(names, overlong_utf_8_names_nothing_else) {
  const scratch_folder root;
  root.write("a", "content");
  const auto files = open_provider(root);
  EXPECT_FALSE(read(*files, root.uri("%C0%AE%C0%AE/a")).has_value());
  EXPECT_FALSE(read(*files, root.uri("..%C0%AFa")).has_value());
}

TEST(names, of_roots_with_delimiters_are_reached_in_both_spellings) {
  const scratch_folder whole;
  whole.write("c++@(x)/a,b.txt", "content");
  whole.write("c++@(x)/a!/z", "z");
  whole.write("c++@(x)/a/z", "z");
  const auto files = open_provider(serving(whole.path("c++@(x)")));
  EXPECT_EQ(files->claims().front(), whole.uri("c++@(x)"));
  const auto url = "file://localhost" + whole.path("c%2b%2B%40%28x%29/a%2Cb.txt");
  for (const auto& uri : {whole.uri("c++@(x)/a,b.txt"), whole.uri("c%2B%2b%40%28x%29/a%2Cb.txt"), url}) {
    EXPECT_EQ(read_text(*files, uri), "content") << uri;
  }
  const auto offered = uri_template::compile(files->templates().front().uri_template);
  ASSERT_TRUE(offered.has_value());
  const auto canonical = canonical_uri(offered->expand({{"path", "a,b.txt"}}).value_or(""));
  ASSERT_TRUE(canonical.has_value());
  EXPECT_EQ(*canonical, whole.uri("c++@(x)/a,b.txt"));
  EXPECT_TRUE(offered->match(*canonical).has_value());
  EXPECT_EQ(names_of(list_all(*files)), (std::vector<std::string>{"c++@(x)", "a", "a/z", "a!", "a!/z", "a,b.txt"}));
}

TEST(names, of_roots_are_encoded_too) {
  const scratch_folder whole;
  whole.write("日 本/file.txt", "content");
  const auto files = open_provider(serving(whole.path("日 本")));
  EXPECT_EQ(files->claims().front(), whole.uri("%E6%97%A5%20%E6%9C%AC"));
  EXPECT_EQ(files->templates().front().name, "日 本");
  EXPECT_TRUE(uri_template::compile(files->templates().front().uri_template).has_value());
  EXPECT_EQ(read_text(*files, whole.uri("%E6%97%A5%20%E6%9C%AC/file.txt")), "content");
}

}  // namespace
}  // namespace hondana::files
