/// Skills in memory: what is a skill, what belongs to it, and how it is listed, read and walked.
#include <hondana/skill_provider.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/sources/skills/skill_texts.hpp"

namespace {

using namespace hondana;
using namespace hondana::skills;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using strings = std::vector<std::string>;

struct skills_in_memory : testing::Test {
  skill_provider books{"books"};
  std::string added(const std::string& path, skill_provider::files files) {
    const auto done = books.add(path, std::move(files));
    return done ? "added" : done.error().public_text;
  }
};

// requires: 2026-07-28/skills.complete_files 2026-07-28/skills.digest
TEST_F(skills_in_memory, list_every_file_once_with_size_and_sha256) {
  EXPECT_EQ(added("pdf", {{"scripts/a.py", "print(1)\n"}, {"SKILL.md", skill_text("pdf")}, {"empty", ""}}), "added");
  const auto one = skill_at(books, "skill://pdf/SKILL.md");
  ASSERT_TRUE(one);
  EXPECT_EQ(one->uri, "skill://pdf/SKILL.md");
  EXPECT_EQ(one->frontmatter.to_text(), R"({"name":"pdf","description":"About pdf"})");
  ASSERT_EQ(one->files->size(), 3);
  EXPECT_EQ(one->files->at(0).uri, "skill://pdf/SKILL.md");
  EXPECT_EQ(one->files->at(0).size, skill_text("pdf").size());
  EXPECT_EQ(one->files->at(1).uri, "skill://pdf/empty");
  EXPECT_EQ(one->files->at(1).digest, "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(one->files->at(1).size, 0);
  EXPECT_EQ(one->files->at(2).uri, "skill://pdf/scripts/a.py");
  // printf 'print(1)\n' | sha256sum
  EXPECT_EQ(one->files->at(2).digest, "sha256:cc42155088fca5730758db72b2a5bca33112a941dfaa2d43098ec422ce4ea213");
}

TEST_F(skills_in_memory, describe_folders_with_the_version_that_a_read_gives) {
  EXPECT_EQ(added("acme/refunds", {{"SKILL.md", skill_text("refunds")}}), "added");
  const auto before = describe(books, "skill://acme/refunds");
  ASSERT_TRUE(before);
  EXPECT_EQ(before->kind, "folder");
  EXPECT_FALSE(before->version.empty());
  EXPECT_EQ(before->version, read(books, "skill://acme/refunds")->version);
  EXPECT_EQ(added("acme/refunds", {{"SKILL.md", skill_text("refunds")}, {"x", "1"}}), "added");
  EXPECT_NE(describe(books, "skill://acme/refunds")->version, before->version);
  EXPECT_EQ(describe(books, "skill://none").error().code, errc::resource_not_found);
}

TEST_F(skills_in_memory, are_ordinary_resources_too) {
  EXPECT_EQ(added("acme/refunds", {{"SKILL.md", skill_text("refunds")}, {"examples/mail.md", "Dear"}}), "added");
  const auto page = books.list({});
  ASSERT_TRUE(page);
  ASSERT_THAT(listed_uris(books), ElementsAre("skill://acme", "skill://acme/refunds", "skill://acme/refunds/SKILL.md",
                                              "skill://acme/refunds/examples", "skill://acme/refunds/examples/mail.md"));
  EXPECT_EQ(page->entries[0].mime_type, "inode/directory");
  EXPECT_EQ(page->entries[0].kind, "folder");
  EXPECT_EQ(page->entries[2].name, "refunds");
  EXPECT_EQ(page->entries[2].description, "About refunds");
  EXPECT_EQ(page->entries[2].mime_type, "text/markdown");
  EXPECT_EQ(page->entries[2].kind, "skill");
  EXPECT_EQ(page->entries[4].name, "mail.md");
  EXPECT_EQ(page->entries[4].size, 4);
  EXPECT_EQ(read_text(books, "skill://acme/refunds/examples/mail.md"), "Dear");
  EXPECT_EQ(read_text(books, "skill://acme/refunds"), "skill://acme/refunds/SKILL.md\nskill://acme/refunds/examples\n");
  EXPECT_EQ(read_text(books, "skill://acme/refunds/none"), "error: resource_not_found");
  EXPECT_EQ(read(books, "skill://acme/refunds/SKILL.md")->version, page->entries[2].version);
}

// requires: 2026-07-28/skills.nested_complete 2026-07-28/skills.listing_flat
TEST_F(skills_in_memory, nest_and_the_outer_one_has_the_inner_ones_files) {
  EXPECT_EQ(added("outer", {{"SKILL.md", skill_text("outer")}}), "added");
  EXPECT_EQ(added("outer/more/inner", {{"SKILL.md", skill_text("inner")}, {"x", "1"}}), "added");
  EXPECT_THAT(skill_uris(books), ElementsAre("skill://outer/SKILL.md", "skill://outer/more/inner/SKILL.md"));
  EXPECT_THAT(file_uris(books, "skill://outer/SKILL.md"),
              ElementsAre("skill://outer/SKILL.md", "skill://outer/more/inner/SKILL.md", "skill://outer/more/inner/x"));
  EXPECT_THAT(file_uris(books, "skill://outer/more/inner/SKILL.md"),
              ElementsAre("skill://outer/more/inner/SKILL.md", "skill://outer/more/inner/x"));
  EXPECT_TRUE(books.remove("outer/more/inner"));
  EXPECT_FALSE(books.remove("outer/more/inner"));
  EXPECT_THAT(file_uris(books, "skill://outer/SKILL.md"), ElementsAre("skill://outer/SKILL.md"));
}

TEST_F(skills_in_memory, that_cannot_be_served_are_refused_and_change_nothing) {
  EXPECT_EQ(added("good", {{"SKILL.md", skill_text("good")}}), "added");
  EXPECT_EQ(added("bad", {{"a", "b"}}), "The skill bad has no SKILL.md. Add one.");
  EXPECT_THAT(added("bad", {{"SKILL.md", "# none"}}), HasSubstr("has no front matter"));
  EXPECT_THAT(added("bad", {{"SKILL.md", skill_text("other")}}), HasSubstr("differs from the folder name"));
  EXPECT_THAT(added("good", {{"SKILL.md", "---\nname: [\n---\n"}}), HasSubstr("is not valid YAML: line"));
  EXPECT_THAT(added("good/in", {{"SKILL.md", "# none"}}), HasSubstr("The skill good/in cannot be served"));
  EXPECT_THAT(added("Team/good", {{"SKILL.md", skill_text("good")}}), HasSubstr("\"Team\" cannot begin a URI"));
  for (const std::string path : {"", "/a", "a/", "a//b", "../a", "a/./b"}) {
    EXPECT_THAT(added(path, {{"SKILL.md", skill_text("a")}}), HasSubstr("cannot be")) << path;
    EXPECT_THAT(added("a", {{"SKILL.md", skill_text("a")}, {path, ""}}), HasSubstr("cannot have a file")) << path;
  }
  EXPECT_EQ(added("a", {{"SKILL.md", skill_text("a")}, {"x", ""}, {"x", ""}}), "The skill a has the file x twice.");
  EXPECT_EQ(added("good", {{"SKILL.md", skill_text("good")}, {"in/SKILL.md", skill_text("in")}}), "added");
  EXPECT_EQ(added("good/in", {{"SKILL.md", skill_text("in")}}),
            "The file good/in/SKILL.md is in two skills. Remove it from one of them.");
  EXPECT_THAT(skill_uris(books), ElementsAre("skill://good/SKILL.md", "skill://good/in/SKILL.md"));
}

// requires: 2026-07-28/skills.limits
TEST_F(skills_in_memory, have_at_most_512_files_and_16_mebibytes) {
  skill_provider::files files{{"SKILL.md", skill_text("full")}};
  for (int i = 1; i < 512; ++i) files.emplace_back(std::to_string(i), "");
  EXPECT_EQ(added("full", files), "added");
  files.emplace_back("512", "");
  EXPECT_EQ(added("full", files), "The skill full cannot be served: it has 513 files; a skill has at most 512.");
  EXPECT_EQ(file_uris(books, "skill://full/SKILL.md").size(), 512);

  const auto text = skill_text("big");
  EXPECT_EQ(added("big", {{"SKILL.md", text}, {"rest", std::string(16'777'216 - text.size(), 'x')}}), "added");
  EXPECT_THAT(added("big", {{"SKILL.md", text}, {"rest", std::string(16'777'217 - text.size(), 'x')}}),
              HasSubstr("have 16777217 bytes in total; a skill has at most 16777216"));
}

TEST_F(skills_in_memory, spell_names_as_uris_that_are_canonical) {
  EXPECT_EQ(added("a", {{"SKILL.md", skill_text("a")}, {"x y+(1)%.md", ""}, {"\xE6\x9C\xAC", ""}, {"\xFF", ""}}), "added");
  const auto all = file_uris(books, "skill://a/SKILL.md");
  EXPECT_THAT(all, ElementsAre("skill://a/%E6%9C%AC", "skill://a/%FF", "skill://a/SKILL.md", "skill://a/x%20y+(1)%25.md"));
  for (const auto& uri : all) {
    EXPECT_EQ(*canonical_uri(uri), uri);
    EXPECT_EQ(read_text(books, uri).substr(0, 6), uri.ends_with("SKILL.md") ? "---\nna" : "") << uri;
  }
}

// requires: 2026-07-28/skills.directory_children
TEST_F(skills_in_memory, list_the_direct_children_of_every_folder) {
  EXPECT_EQ(added("a", {{"SKILL.md", skill_text("a")}, {"t/1", ""}, {"t/u/2", ""}, {"t/u/3", ""}, {"t-x", ""}}), "added");
  EXPECT_EQ(added("b/c", {{"SKILL.md", skill_text("c")}}), "added");
  EXPECT_THAT(child_uris(books, "skill://"), ElementsAre("skill://a", "skill://b"));
  EXPECT_THAT(child_uris(books, "skill://a"), ElementsAre("skill://a/SKILL.md", "skill://a/t", "skill://a/t-x"));
  EXPECT_THAT(child_uris(books, "skill://a/t"), ElementsAre("skill://a/t/1", "skill://a/t/u"));
  EXPECT_THAT(child_uris(books, "skill://b"), ElementsAre("skill://b/c"));
  EXPECT_EQ(books.children(children_of("skill://a/t/1")).error().code, errc::invalid_argument);
  EXPECT_EQ(books.children(children_of("skill://a/none")).error().code, errc::resource_not_found);
}

TEST_F(skills_in_memory, page_through_skills_in_order) {
  for (const std::string name : {"c", "a", "b"}) EXPECT_EQ(added(name, {{"SKILL.md", skill_text(name)}}), "added");
  list_request next;
  next.limit = 2;
  const auto first = books.skills(next);
  ASSERT_TRUE(first && first->next_key);
  EXPECT_EQ(first->skills.size(), 2);
  next.after_key = *first->next_key;
  const auto second = books.skills(next);
  ASSERT_EQ(second->skills.size(), 1);
  EXPECT_EQ(second->skills.front().uri, "skill://c/SKILL.md");
  EXPECT_FALSE(second->next_key);
}

TEST_F(skills_in_memory, tell_what_comes_goes_and_changes) {
  const auto told = std::make_shared<recorder>();
  books.set_listener(told);
  EXPECT_EQ(added("a", {{"SKILL.md", skill_text("a")}, {"x", "1"}}), "added");
  EXPECT_THAT(told->heard, testing::IsSupersetOf({"skill://a", "skill://a/SKILL.md", "skill://a/x", "list"}));
  told->heard.clear();
  EXPECT_EQ(added("a", {{"SKILL.md", skill_text("a")}, {"x", "2"}}), "added");
  EXPECT_THAT(told->heard, ElementsAre("skill://a/x"));
  told->heard.clear();
  EXPECT_EQ(added("a", {{"SKILL.md", skill_text("a", "b: c\n")}, {"x", "2"}}), "added");
  EXPECT_THAT(told->heard, ElementsAre("skill://a/SKILL.md", "list"));
  told->heard.clear();
  EXPECT_EQ(added("a", {{"SKILL.md", skill_text("a", "b: c\n")}}), "added");
  EXPECT_THAT(told->heard, ElementsAre("skill://a/x", "skill://a", "list"));
  told->heard.clear();
  books.set_listener(nullptr);
  EXPECT_TRUE(books.remove("a"));
  EXPECT_THAT(told->heard, IsEmpty());
}

TEST_F(skills_in_memory, are_in_a_folder_that_is_described_and_tells_of_its_changes) {
  const auto before = describe(books, "skill://");
  ASSERT_TRUE(before);
  EXPECT_EQ(before->uri, "skill://");
  EXPECT_EQ(before->mime_type, "inode/directory");
  EXPECT_EQ(before->version, read(books, "skill://")->version);
  const auto told = std::make_shared<recorder>();
  books.set_listener(told);
  EXPECT_EQ(added("a", {{"SKILL.md", skill_text("a")}}), "added");
  EXPECT_THAT(told->heard, testing::Contains("skill://"));
  const auto after = describe(books, "skill://");
  ASSERT_TRUE(after);
  EXPECT_NE(after->version, before->version);
  EXPECT_EQ(after->version, read(books, "skill://")->version);
  told->heard.clear();
  EXPECT_TRUE(books.remove("a"));
  EXPECT_THAT(told->heard, testing::Contains("skill://"));
}

TEST(skills_with_a_prefix, are_claimed_and_served_below_it) {
  skill_provider acme("acme", "acme/billing");
  ASSERT_TRUE(acme.add("refunds", {{"SKILL.md", skill_text("refunds")}}));
  EXPECT_THAT(acme.claims(), ElementsAre("skill://acme/billing"));
  EXPECT_THAT(skill_uris(acme), ElementsAre("skill://acme/billing/refunds/SKILL.md"));
  EXPECT_THAT(listed_uris(acme),
              ElementsAre("skill://acme/billing", "skill://acme/billing/refunds", "skill://acme/billing/refunds/SKILL.md"));
  EXPECT_THAT(child_uris(acme, "skill://acme/billing"), ElementsAre("skill://acme/billing/refunds"));
}

TEST(skills_that_are_none, leave_an_empty_folder) {
  skill_provider none("none", "acme");
  EXPECT_THAT(listed_uris(none), IsEmpty());
  EXPECT_THAT(child_uris(none, "skill://acme"), IsEmpty());
  EXPECT_TRUE(describe(none, "skill://acme"));
  EXPECT_EQ(skill_at(none, "skill://acme/SKILL.md").error().code, errc::resource_not_found);
}

}  // namespace
