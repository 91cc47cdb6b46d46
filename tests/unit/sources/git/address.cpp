/// URIs of repositories, read and written.
#include "sources/git/git_uri.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <hondana/uri.hpp>

namespace hondana::git {
namespace {

failure address_error(std::string_view uri) {
  auto read = parse_address(uri);
  EXPECT_FALSE(read) << uri;
  return read ? failure{} : std::move(read.error());
}

void expect_misnamed(std::string_view uri, std::string_view variable) {
  const auto why = address_error(uri);
  EXPECT_EQ(why.code, errc::invalid_argument) << uri;
  EXPECT_TRUE(why.public_text.starts_with(std::string(variable) + ": ")) << uri << " said: " << why.public_text;
}

TEST(git_address, what_is_written_is_read_back) {
  const std::vector<address> all{
      {.repo = "shelf"},
      {.repo = "shelf", .kind = resource_kind::branches, .cursor = "refs/heads/a b", .is_json = true},
      {.repo = "a-2",
       .kind = resource_kind::log,
       .path = "src/ü",
       .ref = "feature/x",
       .author = "A & B",
       .grep = "a+?#",
       .since = -5,
       .until = 1'700'000'000,
       .limit = 7,
       .cursor = "x=="},
      {.repo = "shelf", .kind = resource_kind::commit, .rev = "feature/x^2~3"},
      {.repo = "shelf", .kind = resource_kind::tree, .rev = "HEAD"},
      {.repo = "shelf", .kind = resource_kind::tree, .rev = "HEAD", .path = "a b/c%41"},
      {.repo = "shelf",
       .kind = resource_kind::blob,
       .rev = "v1.0",
       .path = "\x83\x65\n?#[x]+.txt",
       .lines = line_range{10, 40}},
      {.repo = "shelf", .kind = resource_kind::blame, .rev = "HEAD", .path = "a", .lines = line_range{10, {}}},
      {.repo = "shelf", .kind = resource_kind::diff, .from_rev = "HEAD~1", .to_rev = "feature/x", .path = "a/b"},
      {.repo = "shelf", .kind = resource_kind::history, .rev = "HEAD", .path = "a", .limit = 3},
      {.repo = "shelf", .kind = resource_kind::changes, .path = "a", .is_json = true},
  };
  for (const auto& one : all) {
    const auto uri = uri_of(one);
    EXPECT_EQ(canonical_uri(uri).value(), uri);
    const auto read = parse_address(uri);
    ASSERT_TRUE(read) << uri << ": " << read.error().public_text;
    EXPECT_EQ(*read, one) << uri;
  }
}

TEST(git_address, a_path_and_a_branch_are_written_as_templates_expand_them) {
  EXPECT_EQ(uri_of({.repo = "shelf", .kind = resource_kind::blob, .rev = "feature/x", .path = "a+b (1)/c d,e.txt"}),
            "git://shelf/blob/feature%2Fx/a+b%20(1)/c%20d,e.txt");
  const auto compiled = uri_template::compile("git://{repo}/blob/{rev}/{+path}{?lines}").value();
  EXPECT_EQ(compiled.expand({{"repo", "shelf"}, {"rev", "feature/x"}, {"path", "a+b (1)/c d,e.txt"}}).value(),
            "git://shelf/blob/feature%2Fx/a+b%20(1)/c%20d,e.txt");
}

TEST(git_address, every_template_compiles_and_matches_what_is_written) {
  const std::vector<std::string> uris{"git://r/overview?format=json",
                                      "git://r/branches?cursor=x",
                                      "git://r/tags",
                                      "git://r/log?ref=a&limit=1",
                                      "git://r/commit/HEAD",
                                      "git://r/tree/HEAD",
                                      "git://r/tree/HEAD/a/b",
                                      "git://r/blob/HEAD/a?lines=1",
                                      "git://r/diff/a..b?path=c",
                                      "git://r/blame/HEAD/a/b",
                                      "git://r/history/HEAD/a",
                                      "git://r/stashes",
                                      "git://r/worktrees",
                                      "git://r/changes?path=a%2Fb"};
  const auto templates = address_templates();
  ASSERT_EQ(templates.size(), uris.size());
  for (std::size_t i = 0; i < uris.size(); ++i) {
    const auto compiled = uri_template::compile(templates[i].uri_template);
    ASSERT_TRUE(compiled) << templates[i].uri_template;
    EXPECT_TRUE(compiled->match(uris[i])) << templates[i].uri_template;
    EXPECT_TRUE(parse_address(uris[i])) << uris[i];
  }
}

TEST(git_address, what_is_none_is_not_found) {
  for (const auto* uri : {"git://shelf", "git://shelf/", "git://shelf/reflog", "git://Shelf/overview", "git://u@shelf/overview",
                          "git:///overview", "file:///overview", "git://shelf/overview/more", "git://shelf/overview#x",
                          "git://shelf/commit/HEAD/x", "git://shelf/blob/HEAD/a//b", "git://shelf/blob/HEAD/a%2Fb"})
    EXPECT_EQ(address_error(uri).code, errc::resource_not_found) << uri;
}

TEST(git_address, an_unknown_parameter_is_told_those_of_its_kind) {
  const auto is = [](std::string_view uri, std::string_view text) {
    const auto why = address_error(uri);
    EXPECT_EQ(why.code, errc::invalid_argument) << uri;
    EXPECT_EQ(why.public_text, text);
  };
  is("git://shelf/overview?lines=1", "unknown parameter \"lines\"; git://REPO/overview knows: format.");
  is("git://shelf/blob/HEAD/a?format=json", "unknown parameter \"format\"; git://REPO/blob knows: lines.");
  is("git://shelf/blame/HEAD/a?bytes=1", "unknown parameter \"bytes\"; git://REPO/blame knows: lines, format.");
  is("git://shelf/tree/HEAD?limit=1", "unknown parameter \"limit\"; git://REPO/tree knows: cursor, format.");
  is("git://shelf/history/HEAD/a?ref=b", "unknown parameter \"ref\"; git://REPO/history knows: limit, cursor, format.");
  is("git://shelf/diff/a..b?limit=1", "unknown parameter \"limit\"; git://REPO/diff knows: path, format.");
  is("git://shelf/log?lines=1",
     "unknown parameter \"lines\"; git://REPO/log knows: ref, path, author, grep, since, until, limit, cursor, format.");
}

TEST(git_address, a_wrong_value_names_its_variable) {
  expect_misnamed("git://shelf/commit/--output=x", "rev");
  expect_misnamed("git://shelf/commit/--output%3Dx", "rev");
  expect_misnamed("git://shelf/commit/HEAD%40%7B1%7D", "rev");
  expect_misnamed("git://shelf/tree/a..b", "rev");
  expect_misnamed("git://shelf/blob/a..b/file", "rev");
  expect_misnamed("git://shelf/commit/", "rev");
  expect_misnamed("git://shelf/diff/HEAD", "from, to");
  expect_misnamed("git://shelf/diff/a...b", "from, to");
  expect_misnamed("git://shelf/diff/a..%2eb", "from, to");
  expect_misnamed("git://shelf/diff/a%2e..b", "from, to");
  expect_misnamed("git://shelf/diff/..b", "from");
  expect_misnamed("git://shelf/diff/a..", "to");
  expect_misnamed("git://shelf/diff/a..b..c", "to");
  expect_misnamed("git://shelf/diff/a..--help", "to");
  expect_misnamed("git://shelf/log?ref=--exec%3Devil", "ref");
  expect_misnamed("git://shelf/log?limit=0", "limit=0");
  expect_misnamed("git://shelf/log?limit=1001", "limit=1001");
  expect_misnamed("git://shelf/log?since=yesterday", "since=yesterday");
  expect_misnamed("git://shelf/log?until=2026-02-30", "until=2026-02-30");
  expect_misnamed("git://shelf/log?ref=a&ref=b", "ref");
  expect_misnamed("git://shelf/log?path=/etc", "path=/etc");
  expect_misnamed("git://shelf/overview?format=xml", "format=xml");
  expect_misnamed("git://shelf/blob/HEAD/a?lines=0", "lines=0");
  expect_misnamed("git://shelf/blob/HEAD/a?lines=9-3", "lines=9-3");
  expect_misnamed("git://shelf/blob/HEAD", "path");
}

TEST(git_address, a_day_is_meant_from_its_first_second_to_its_last) {
  const auto read = parse_address("git://shelf/log?since=2026-01-31&until=2026-01-31").value();
  EXPECT_EQ(read.since, 1'769'817'600);
  EXPECT_EQ(read.until, 1'769'903'999);
  EXPECT_EQ(parse_address("git://shelf/log?since=2026-01-31T09:00:00%2B09:00").value().since, 1'769'817'600);
  EXPECT_EQ(parse_address("git://shelf/log?since=1700000000").value().since, 1'700'000'000);
}

}  // namespace
}  // namespace hondana::git
