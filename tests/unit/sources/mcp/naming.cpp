/// URIs of another server under our prefix, and back.
#include "sources/mcp/uri_mapping.hpp"

#include <gtest/gtest.h>

namespace hondana::mcp {
namespace {

const uri_mapping& everything() {
  static const uri_mapping one("mcp://everything/");
  return one;
}

std::string ours(std::string_view theirs) {
  const auto made = everything().to_local(theirs);
  return made ? *made : "refused: " + made.error().public_text;
}

TEST(naming, puts_the_prefix_before_a_uri_and_takes_it_away) {
  for (const auto* theirs : {"demo://resource/1", "file:///a/b%2Fc?lines=1-2#x", "urn:isbn:1", "memo:///a//b", "relative/x"}) {
    EXPECT_EQ(ours(theirs), "mcp://everything/" + std::string(theirs));
    EXPECT_EQ(everything().to_remote(ours(theirs)), theirs);
  }
}

TEST(naming, escapes_what_no_uri_has) {
  EXPECT_EQ(ours("my notes [1].md"), "mcp://everything/my%20notes%20%5B1%5D.md");
  EXPECT_EQ(ours("a%zz{b}\n"), "mcp://everything/a%25zz%7Bb%7D%0A");
  EXPECT_EQ(ours("x#a#b"), "mcp://everything/x#a%23b");
  EXPECT_EQ(ours("メモ"), "mcp://everything/%E3%83%A1%E3%83%A2");
}

TEST(naming, never_leads_out_of_the_mount) {
  const uri_mapping team("mcp://team/docs/");
  EXPECT_EQ(team.to_local("../other/x").error().public_text, "it leads outside the mount's prefix");
  EXPECT_EQ(team.to_local("a/../../x").error().public_text, "it leads outside the mount's prefix");
  EXPECT_EQ(team.to_local(".").error().public_text, "it leads outside the mount's prefix");
  EXPECT_EQ(team.to_local("a/../b").value(), "mcp://team/docs/b");
}

TEST(naming, refuses_what_is_empty_too_long_or_not_text) {
  EXPECT_EQ(ours(""), "refused: an empty URI");
  EXPECT_EQ(ours(std::string(9000, 'a')), "refused: longer than 8192 bytes");
  EXPECT_TRUE(ours("a\xFF").starts_with("refused: "));
  EXPECT_TRUE(ours(std::string(8190, 'a')).starts_with("refused: "));
}

TEST(naming, knows_only_what_lies_behind_its_prefix) {
  EXPECT_EQ(everything().to_remote("mcp://everything/"), std::nullopt);
  EXPECT_EQ(everything().to_remote("mcp://everything"), std::nullopt);
  EXPECT_EQ(everything().to_remote("mcp://other/x"), std::nullopt);
}

TEST(rules, hold_for_paths_that_a_server_reads_otherwise_than_they_are_written) {
  const uri_filter public_only({"file:///pub/**"}, {});
  EXPECT_EQ(public_only.rejection_reason("file:///pub/a%20b/c"), "");
  EXPECT_EQ(public_only.rejection_reason("file:///pub/a%2Fb"), "");
  for (const auto* evasive : {"file:///pub/..%2Fsecret", "file:///pub/%2e%2e%2fsecret", "file:///pub/a/..%5C..%5Csecret",
                              "file:///pub/x\\..\\..\\secret"})
    EXPECT_EQ(public_only.rejection_reason(evasive), "no include pattern matches it") << evasive;
  const uri_filter no_secrets({}, {"file:///srv/secret/**"});
  EXPECT_EQ(no_secrets.rejection_reason("file:///srv/open/x"), "");
  for (const auto* evasive : {"file:///srv//secret/x", "file:///srv%2Fsecret/x", "file:///srv/./secret/x",
                              "file:////srv/secret/x", "file:///srv/a/%2E%2E/secret/x?lines=1"})
    EXPECT_EQ(no_secrets.rejection_reason(evasive), "it matches the exclude pattern \"file:///srv/secret/**\"") << evasive;
}

TEST(naming, counts_how_often_something_has_come_through) {
  EXPECT_EQ(everything().count_passes("demo://x"), 0u);
  EXPECT_EQ(everything().count_passes("mcp://b/mcp://everything/mcp://b/mcp://everything/x"), 2u);
}

TEST(mount_rules, serve_everything_unless_they_say_otherwise) {
  EXPECT_EQ(uri_filter({}, {}).rejection_reason("demo://x"), "");
  const uri_filter some({"demo://a/**", "memo:///*"}, {"**/*.key"});
  EXPECT_EQ(some.rejection_reason("demo://a/b/c"), "");
  EXPECT_EQ(some.rejection_reason("memo:///x"), "");
  EXPECT_EQ(some.rejection_reason("memo:///x/y"), "no include pattern matches it");
  EXPECT_EQ(some.rejection_reason("demo://a/b/id.key"), "it matches the exclude pattern \"**/*.key\"");
}

TEST(mount_rules, hold_for_parts_of_a_resource_and_for_other_spellings_of_it) {
  const uri_filter without({}, {"file:///secret", "wiki://host/private/**"});
  for (const char* uri :
       {"file:///secret", "FILE:///secret", "file:///secret?lines=1-9", "file:///secret#top", "file:///secret/",
        "File:///open/../s%65cret?x", "WIKI://Host/private/a", "wiki://host/private/?all"}) {
    EXPECT_NE(without.rejection_reason(uri), "") << uri;
  }
  for (const char* uri :
       {"file:///secrets", "file:///secret/more", "wiki://host/public?private/a", "file:///x?file:///secret"}) {
    EXPECT_EQ(without.rejection_reason(uri), "") << uri;
  }
  const uri_filter only({"file:///docs/*"}, {});
  EXPECT_EQ(only.rejection_reason("file:///docs/a?lines=1/2"), "");
  EXPECT_EQ(only.rejection_reason("file:///docs/../other"), "no include pattern matches it");
}

}  // namespace
}  // namespace hondana::mcp
