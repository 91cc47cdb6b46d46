/// What lists say of documents, and whose word counts.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/sources/docs/served_documents.hpp"

namespace hondana::docs {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsSupersetOf;

struct listed_documents : served_documents {};

TEST_F(listed_documents, come_with_their_outline_and_folders) {
  write("README.md", "# Book\n\nAbout all of it.\n");
  write("guide/はじめに.md", "# はじめに\n");
  write("guide/picture.png", "x");
  const auto from = serve();
  EXPECT_THAT(listed(*from), ElementsAre("docs://book/", "docs://book/README.md", "docs://book/guide",
                                         "docs://book/guide/%E3%81%AF%E3%81%98%E3%82%81%E3%81%AB.md"));
  const auto entry = entry_at(*from, "docs://book/README.md");
  EXPECT_EQ(entry.kind, "document");
  EXPECT_EQ(entry.mime_type, "text/markdown");
  EXPECT_EQ(entry.title, "Book");
  EXPECT_EQ(entry.description, "About all of it.");
  EXPECT_TRUE(entry.annotations.last_modified);
  EXPECT_EQ(text_at(*from, "docs://book/guide"), "docs://book/guide/%E3%81%AF%E3%81%98%E3%82%81%E3%81%AB.md\n");
  children_request below;
  below.uri = "docs://book/guide";
  const auto page = from->children(below);
  ASSERT_TRUE(page);
  EXPECT_EQ(page->entries.size(), 1u);
  below.uri = "docs://book";
  EXPECT_EQ(from->children(below).value().entries.size(), 2u);
  EXPECT_EQ(surveyed(*from, false).at("guide/picture.png"), "not a document by its name");
}

TEST_F(listed_documents, say_of_themselves_more_than_rules_and_names_do) {
  write(".hondana-docs.toml",
        "[[rule]]\nmatch = [\"*.md\"]\npriority = \"low\"\naudience = [\"assistant\"]\nlang = \"de\"\ntitle = \"Ruled\"\n");
  write("own.md", "---\ntitle: Eigenes\npriority: 0.75\naudience: [user]\nlang: ja\n---\n# Other\n\nText.\n");
  write("ruled.md", "# Other\n");
  write("index.txt", "Plain words\n");
  const auto from = serve();
  const auto own = entry_at(*from, "docs://book/own.md");
  EXPECT_EQ(own.title, "Eigenes");
  EXPECT_EQ(own.annotations.priority, 0.75);
  EXPECT_THAT(own.annotations.audience, ElementsAre(chat_role::user));
  EXPECT_EQ(fact_of(own.metadata, "lang"), "ja");
  const auto ruled = entry_at(*from, "docs://book/ruled.md");
  EXPECT_EQ(ruled.title, "Ruled");
  EXPECT_EQ(ruled.annotations.priority, 0.2);
  EXPECT_THAT(ruled.annotations.audience, ElementsAre(chat_role::assistant));
  EXPECT_EQ(fact_of(ruled.metadata, "lang"), "de");
  const auto why = surveyed(*from, true);
  EXPECT_THAT(why.at("own.md"), HasSubstr("priority 0.75: set in its front matter"));
  EXPECT_THAT(why.at("ruled.md"), HasSubstr("priority 0.2: set by the rule in line 1 of .hondana-docs.toml"));
  EXPECT_THAT(why.at("index.txt"), HasSubstr("named like an index or introduction"));
}

TEST_F(listed_documents, with_front_matter_of_the_wrong_type_are_served_and_warned_of) {
  write("odd.md", "---\ntitle: [a, b]\npriority: {x: 1}\naudience: 7\nlang: true\n---\n# Odd\n");
  write("broken.md", "---\n: : [\n---\n# Broken\n");
  const auto from = serve();
  EXPECT_EQ(entry_at(*from, "docs://book/odd.md").title, "Odd");
  EXPECT_TRUE(entry_at(*from, "docs://book/odd.md").annotations.audience.empty());
  const auto why = surveyed(*from, true);
  for (const auto* word : {"title is", "priority is not a number", "audience is not", "lang is not a language"}) {
    EXPECT_THAT(why.at("odd.md"), HasSubstr(word));
  }
  EXPECT_THAT(why.at("broken.md"), HasSubstr("front matter: "));
}

TEST_F(listed_documents, keep_the_rules_that_were_good_while_the_file_is_broken) {
  write(".hondana-docs.toml",
        "[[rule]]\nmatch = \"a.md\"\npriority = 0.11\n\n[[rule]]\nmatch = \"secret.md\"\nexclude = true\n");
  write("a.md", "# A\n");
  write("secret.md", "# Secret\n");
  const auto from = serve();
  EXPECT_THAT(listed(*from), ElementsAre("docs://book/", "docs://book/a.md"));
  write(".hondana-docs.toml", "[[rule]\nmatch = \n");
  EXPECT_THAT(listed(*from), ElementsAre("docs://book/", "docs://book/a.md"));
  EXPECT_EQ(entry_at(*from, "docs://book/a.md").annotations.priority, 0.11);
  EXPECT_FALSE(from->health().is_healthy);
  EXPECT_THAT(from->health().detail, HasSubstr(".hondana-docs.toml:"));
  EXPECT_THAT(log, testing::Contains(HasSubstr("the rules file is invalid")));
  write(".hondana-docs.toml", "");
  EXPECT_THAT(listed(*from), IsSupersetOf({"docs://book/secret.md"}));
  EXPECT_TRUE(from->health().is_healthy);
}

TEST_F(listed_documents, are_none_while_the_first_rules_file_is_broken_since_it_may_exclude_some) {
  write("a.md", "# A\n");
  write(".hondana-docs.toml", "[[rule]]\nmatch = \"a.md\"\nexclude = \"yes\"\n");
  const auto from = serve();
  const auto page = from->list({});
  ASSERT_FALSE(page);
  EXPECT_EQ(page.error().code, errc::source_unavailable);
  EXPECT_THAT(page.error().public_text, HasSubstr(".hondana-docs.toml:3"));
  fs::remove(root / ".hondana-docs.toml");
  fs::create_symlink("/dev/null", root / ".hondana-docs.toml");
  EXPECT_FALSE(from->list({}));
  fs::remove(root / ".hondana-docs.toml");
  EXPECT_TRUE(from->list({}));
}

TEST_F(listed_documents, matter_more_when_others_link_to_them) {
  write("core.md", "# Core\n");
  for (int i = 0; i < 6; ++i) write("p" + std::to_string(i) + ".md", "# P\n\nSee [core](core.md#x).\n");
  const auto from = serve();
  EXPECT_GT(*entry_at(*from, "docs://book/core.md").annotations.priority,
            *entry_at(*from, "docs://book/p0.md").annotations.priority);
  EXPECT_THAT(surveyed(*from, true).at("core.md"), HasSubstr("6 documents link to it"));
}

TEST_F(listed_documents, that_link_to_nothing_are_shown_in_check) {
  write("a.md",
        "# A\n\n[gone](no/such.md) [b](b.md) [web](https://example.org/x) [pic](p.png) [out](../x.md) [site](b.html)\n");
  write("b.md", "# B\n");
  write("p.png", "x");
  const auto from = serve();
  EXPECT_THAT(surveyed(*from, true).at("a.md"), HasSubstr("1 link leads nowhere: no/such.md"));
}

TEST_F(listed_documents, are_chosen_by_patterns_in_either_normal_form_and_in_any_encoding_of_names) {
  const std::string composed = "\xE3\x81\x8C";               // が
  const std::string apart = "\xE3\x81\x8B\xE3\x82\x99";      // か and its mark
  const std::string name_in_shift_jis = "\x8E\x91\x97\xBF";  // 資料
  write("a/" + composed + ".md", "# A\n");
  write("b/" + apart + ".md", "# B\n");
  write("c/" + name_in_shift_jis + ".md", "# C\n");
  write("d/d.md", "# D\n");
  for (const auto& written : {composed, apart}) {
    auto how = plain_options();
    how.exclude = {written + ".md", "資料*"};
    auto from = serve(how);
    EXPECT_THAT(listed(*from), ElementsAre("docs://book/", "docs://book/d", "docs://book/d/d.md")) << written;
    how.exclude.clear();
    how.include = {"**/" + written + ".*", "資料.md"};
    from = serve(how);
    EXPECT_EQ(listed(*from).size(), 7u) << written;
    write(".hondana-docs.toml",
          "[[rule]]\nmatch = \"" + written + "*\"\nexclude = true\n\n[[rule]]\nmatch = \"資料.*\"\nlang = \"de\"\n");
    from = serve();
    EXPECT_THAT(listed(*from), testing::Not(testing::Contains(HasSubstr("docs://book/a/")))) << written;
    EXPECT_THAT(listed(*from), testing::Not(testing::Contains(HasSubstr("docs://book/b/")))) << written;
    EXPECT_EQ(fact_of(entry_at(*from, "docs://book/c/%8E%91%97%BF.md").metadata, "lang"), "de") << written;
    fs::remove(root / ".hondana-docs.toml");
  }
}

TEST_F(listed_documents, obey_ignore_files_include_and_exclude) {
  write(".gitignore", "build/\n");
  write("build/x.md", "# X\n");
  write("drafts/y.md", "# Y\n");
  write("notes.log", "a line\n");
  write("a.md", "# A\n");
  auto how = plain_options();
  how.include = {"*.md", "*.log"};
  how.exclude = {"drafts/"};
  const auto from = serve(how);
  EXPECT_THAT(listed(*from), ElementsAre("docs://book/", "docs://book/a.md", "docs://book/notes.log"));
  EXPECT_THAT(surveyed(*from, false).at("build"), HasSubstr("ignored by .gitignore:1"));
  EXPECT_EQ(surveyed(*from, false).at("drafts"), "excluded by the configuration");
  EXPECT_EQ(text_at(*from, "docs://book/notes.log"), "a line\n");
  EXPECT_EQ(error_at(*from, "docs://book/build/x.md"), errc::resource_not_found);
  how.exclude = {""};
  EXPECT_FALSE(docs_provider::open(how));
}

TEST_F(listed_documents, have_versions_that_reads_and_descriptions_share) {
  write("a.md", "# A\n");
  settle("a.md");
  const auto from = serve();
  describe_request request;
  request.uri = "docs://book/a.md";
  const auto described = from->describe(request);
  ASSERT_TRUE(described);
  const auto got = read(*from, request.uri);
  EXPECT_EQ(described->version, got->version);
  EXPECT_FALSE(described->version.empty());
  EXPECT_EQ(entry_at(*from, request.uri).version, got->version);
  write("a.md", "# A, longer\n");
  EXPECT_NE(from->describe(request)->version, got->version);
  settle("a.md");
  EXPECT_EQ(from->describe(request)->version, read(*from, request.uri)->version);
}

}  // namespace
}  // namespace hondana::docs
