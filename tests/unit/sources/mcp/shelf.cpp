/// Lists of another server as they are served here.
#include "sources/mcp/upstream_lists.hpp"

#include <gtest/gtest.h>

#include "sources/mcp/sanitizer.hpp"

namespace hondana::mcp {
namespace {

const uri_mapping& names() {
  static const uri_mapping one("mcp://far/");
  return one;
}

list_snapshot shelved(server_lists from, const uri_filter& which = uri_filter({}, {})) {
  for (auto& one : from.entries) sanitize_fields(one, true);
  for (auto& one : from.templates) sanitize_fields(one, true);
  return {std::move(from), names(), which};
}

std::vector<std::string> uris(const list_snapshot& of) {
  std::vector<std::string> all;
  all.reserve(of.entries().size());
  for (std::size_t i = 0; i < of.entries().size(); ++i) all.push_back(of.entries().at(i).uri);
  return all;
}

TEST(mount_shelf, has_entries_in_segment_order_under_the_prefix) {
  const auto made = shelved(
      {.entries = {{.uri = "demo://b", .name = "b"}, {.uri = "demo://a-b", .name = "ab"}, {.uri = "demo://a/b", .name = "a"}}});
  EXPECT_EQ(uris(made), (std::vector<std::string>{"mcp://far/demo://a/b", "mcp://far/demo://a-b", "mcp://far/demo://b"}));
}

TEST(mount_shelf, passes_on_what_entries_say) {
  resource entry{.uri = "demo://a", .name = "A", .title = "The A", .description = "D", .mime_type = "text/plain", .size = 7};
  entry.annotations = {{chat_role::user}, 0.5, {}};
  entry.kind = "note";
  entry.version = "v1";
  auto expected = entry;
  expected.uri = "mcp://far/demo://a";
  EXPECT_EQ(shelved({.entries = {entry}}).entries().at(0), expected);
}

TEST(mount_shelf, remembers_spellings_that_are_not_canonical) {
  const auto made = shelved(
      {.entries = {
           {.uri = "notes/my file.md", .name = "n"}, {.uri = "demo://x%7e", .name = "x"}, {.uri = "demo://y", .name = "y"}}});
  EXPECT_EQ(made.remote_uri_of("mcp://far/notes/my%20file.md"), "notes/my file.md");
  EXPECT_EQ(made.remote_uri_of("mcp://far/demo://x~"), "demo://x%7e");
  EXPECT_EQ(made.remote_uri_of("mcp://far/demo://y"), std::nullopt);
}

// attacks: traversal (a rule got round by another spelling)
TEST(mount_shelf, finds_entries_by_the_canonical_form_of_what_is_listed) {
  const auto made =
      shelved({.entries = {{.uri = "FILE:///srv//keys", .name = "odd"}, {.uri = "file:///srv/a", .name = "plain"}}});
  EXPECT_EQ(made.find_entry("mcp://far/FILE:///srv//keys")->name, "odd");
  ASSERT_TRUE(made.find_entry("mcp://far/file:///srv//keys"));
  EXPECT_EQ(made.find_entry("mcp://far/file:///srv//keys")->name, "odd");
  EXPECT_EQ(made.find_entry("mcp://far/file:///srv/a")->name, "plain");
  EXPECT_FALSE(made.find_entry("mcp://far/file:///srv/b"));
}

TEST(mount_shelf, serves_the_first_of_two_entries_with_one_uri) {
  const auto made = shelved({.entries = {{.uri = "demo://~", .name = "first"}, {.uri = "demo://%7E", .name = "second"}}});
  ASSERT_EQ(made.entries().size(), 1u);
  EXPECT_EQ(made.entries().at(0).name, "first");
  ASSERT_EQ(made.skipped().size(), 1u);
  EXPECT_EQ(made.skipped().front().reason, "it is listed twice");
}

TEST(mount_shelf, leaves_out_what_rules_and_uris_forbid_and_says_why) {
  const auto made =
      shelved({.entries = {{.uri = "demo://a.key", .name = "key"}, {.uri = ".", .name = "out"}, {.uri = "", .name = "none"}}},
              uri_filter({}, {"**/*.key"}));
  EXPECT_EQ(made.entries().size(), 0u);
  ASSERT_EQ(made.skipped().size(), 3u);
  EXPECT_EQ(made.skipped()[0].name, "key (demo://a.key)");
  EXPECT_EQ(made.skipped()[0].reason, "it matches the exclude pattern \"**/*.key\"");
  EXPECT_EQ(made.skipped()[1].reason, "its URI cannot be used: it leads outside the mount's prefix");
  EXPECT_EQ(made.skipped()[2].reason, "its URI cannot be used: an empty URI");
}

TEST(mount_shelf, leaves_out_what_has_come_round) {
  const auto made = shelved({.entries = {{.uri = "mcp://b/mcp://far/mcp://b/mcp://far/demo://a", .name = "a"},
                                         {.uri = "mcp://far/demo://a", .name = "b"}}});
  EXPECT_EQ(uris(made), std::vector<std::string>{"mcp://far/mcp://far/demo://a"});
  EXPECT_EQ(made.skipped().front().reason, "it already passed through this mount");
}

TEST(mount_shelf, has_the_templates_that_can_be_matched) {
  const auto made = shelved({.templates = {{.uri_template = "demo://{a}{b}", .name = "two"},
                                           {.uri_template = "demo://b/{x}", .name = "b"},
                                           {.uri_template = "demo://a/{x}", .name = ""},
                                           {.uri_template = "{scheme}://x", .name = "any"}}});
  ASSERT_EQ(made.templates().size(), 3u);
  EXPECT_EQ(made.templates()[0].uri_template, "mcp://far/demo://a/{x}");
  EXPECT_EQ(made.templates()[0].name, "demo://a/{x}");
  EXPECT_EQ(made.templates()[1].uri_template, "mcp://far/demo://b/{x}");
  EXPECT_EQ(made.templates()[2].uri_template, "mcp://far/{scheme}://x");
  ASSERT_EQ(made.skipped().size(), 1u);
  EXPECT_NE(made.skipped().front().reason.find("the template cannot be used: "), std::string::npos);
}

TEST(mount_shelf, has_skills_with_all_their_files_under_the_prefix) {
  skill one;
  one.uri = "skill://git/SKILL.md";
  one.frontmatter = value::object{{"name", "git"}};
  one.files = std::vector<skill_file>{{"skill://git/b.md", "sha256:0", 1}, {"skill://git/SKILL.md", "sha256:1", 2}};
  const auto made = shelved({.skills = {one}});
  ASSERT_EQ(made.skills().size(), 1u);
  EXPECT_EQ(made.skills()[0].uri, "mcp://far/skill://git/SKILL.md");
  EXPECT_EQ(made.skills()[0].files->at(0).uri, "mcp://far/skill://git/SKILL.md");
  EXPECT_EQ(made.skills()[0].files->at(1), (skill_file{"mcp://far/skill://git/b.md", "sha256:0", 1}));
}

TEST(mount_shelf, has_skills_without_the_files_that_are_left_out) {
  skill one;
  one.uri = "skill://git/SKILL.md";
  one.frontmatter = value::object{{"name", "git"}};
  one.files = std::vector<skill_file>{{"skill://git/SKILL.md", "sha256:1", 2}, {"skill://git/keys/a.pem", "sha256:0", 1}};
  const list_snapshot made({.skills = {one}}, uri_mapping("mcp://far/"), uri_filter({}, {"**/keys/**"}));
  ASSERT_EQ(made.skills().size(), 1u);
  ASSERT_EQ(made.skills()[0].files->size(), 1u);
  EXPECT_EQ(made.skills()[0].files->at(0).uri, "mcp://far/skill://git/SKILL.md");
}

TEST(mount_shelf, tells_whether_clients_would_see_a_difference) {
  const server_lists some{.entries = {{.uri = "demo://a", .name = "a"}},
                          .templates = {{.uri_template = "demo://{x}", .name = "x"}}};
  EXPECT_TRUE(shelved(some).is_equivalent(shelved(some)));
  auto renamed = some;
  renamed.entries[0].title = "A";
  EXPECT_FALSE(shelved(some).is_equivalent(shelved(renamed)));
  auto fewer = some;
  fewer.templates.clear();
  EXPECT_FALSE(shelved(some).is_equivalent(shelved(fewer)));
}

TEST(mount_shelf, says_when_it_is_not_all) {
  EXPECT_EQ(shelved({}).truncation_note(), "");
  EXPECT_EQ(shelved({.entries = {{.uri = "demo://a", .name = "a"}}, .has_more_entries = true, .has_more_templates = true})
                .truncation_note(),
            "only the first 1 entries, the first 0 templates of the mounted server are served; raise max_entries or "
            "max_templates, unless its lists are larger than 64 MiB");
}

}  // namespace
}  // namespace hondana::mcp
