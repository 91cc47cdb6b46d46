/// Sections, pages and outlines.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/sources/docs/served_documents.hpp"

namespace hondana::docs {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string japanese_guide =
    "# ガイド\n\n前書き\n\n## インストール\n\n手順\n\n## 設定\n\n[A](other.md#設定) [gone](gone.md)\n";

struct parts_of_documents : served_documents {};

TEST_F(parts_of_documents, are_found_by_heading_or_id_in_any_width_and_normal_form) {
  write("guide.md", japanese_guide);
  const auto from = serve();
  const std::string wanted = "## インストール\n\n手順\n\n";
  for (const auto* section : {"インストール", "%E3%82%A4%E3%83%B3%E3%82%B9%E3%83%88%E3%83%BC%E3%83%AB", "ｲﾝｽﾄｰﾙ"}) {
    EXPECT_EQ(text_at(*from, "docs://book/guide.md?section=" + std::string(section)), wanted) << section;
  }
  // ガ as カ with a voiced mark of its own.
  EXPECT_EQ(text_at(*from, "docs://book/guide.md?section=" + percent_encode("カ\u3099イト\u3099")), japanese_guide);
  const auto missing = text_at(*from, "docs://book/guide.md?section=nothing");
  EXPECT_THAT(missing, HasSubstr("error: Section not found"));
  EXPECT_THAT(missing, HasSubstr("インストール"));
}

TEST_F(parts_of_documents, are_found_by_latin_headings_in_any_case_and_width) {
  write("guide.md", "# Guide\n\n## Setup Steps\n\nDo it.\n");
  const auto from = serve();
  for (const auto* section : {"setup-steps", "Setup%20Steps", "SETUP%20STEPS", "Ｓｅｔｕｐ%20Ｓｔｅｐｓ"}) {
    EXPECT_EQ(text_at(*from, "docs://book/guide.md?section=" + std::string(section)), "## Setup Steps\n\nDo it.\n") << section;
  }
}

TEST_F(parts_of_documents, have_entries_of_their_own_when_they_are_asked_for) {
  write("guide.md", japanese_guide);
  settle("guide.md");
  const auto from = serve();
  describe_request request;
  request.uri = canonical_uri("docs://book/guide.md?section=設定").value();
  const auto entry = from->describe(request);
  ASSERT_TRUE(entry) << entry.error().public_text;
  EXPECT_EQ(entry->kind, "section");
  EXPECT_EQ(entry->title, "設定");
  EXPECT_EQ(entry->version, read(*from, request.uri)->version);
}

TEST_F(parts_of_documents, are_listed_with_links_and_their_uris) {
  write("guide.md", japanese_guide);
  write("other.md", "# その他\n\n## 設定\n");
  const auto from = serve();
  EXPECT_THAT(text_at(*from, "docs://book/guide.md?format=outline"),
              HasSubstr("  - [インストール](docs://book/guide.md?section="));
  const auto outline = json_at(*from, "docs://book/guide.md?format=json");
  EXPECT_EQ(outline.string_at("/headings/1/heading").value_or(""), "インストール");
  EXPECT_EQ(outline.string_at("/links/0/target").value_or(""), "other.md#設定");
  EXPECT_EQ(outline.string_at("/links/0/uri").value_or(""), "docs://book/other.md?section=%E8%A8%AD%E5%AE%9A");
  EXPECT_EQ(outline.string_at("/links/0/title").value_or(""), "その他");
  EXPECT_FALSE(outline.string_at("/links/1/uri"));
  EXPECT_EQ(outline.string_at("/lang").value_or(""), "ja");
  // The URI of a link leads to the section.
  EXPECT_EQ(text_at(*from, outline.string_at("/links/0/uri").value_or("")), "## 設定\n");
}

TEST_F(parts_of_documents, of_a_set_are_a_tree_with_what_matters_first) {
  write("zz/index.md", "# 入口\n\nここから。\n");
  write("CHANGELOG.md", "# Changes\n");
  write("a/old.md", "# Old\n");
  const auto from = serve();
  const auto outline = text_at(*from, "docs://book/");
  EXPECT_THAT(outline, HasSubstr("[入口](docs://book/zz/index.md) (0.8, ja): ここから。"));
  EXPECT_LT(outline.find("docs://book/zz"), outline.find("docs://book/a)"));
  const auto all = json_at(*from, "docs://book/?format=json");
  EXPECT_EQ(all.array_at("documents")->size(), 3u);
  EXPECT_EQ(all.string_at("/documents/0/uri").value_or(""), "docs://book/CHANGELOG.md");
  EXPECT_THAT(text_at(*from, "docs://book/zz?format=outline"), Not(HasSubstr("CHANGELOG")));
}

TEST_F(parts_of_documents, that_do_not_go_together_or_are_unknown_are_refused) {
  write("guide.md", japanese_guide);
  const auto from = serve();
  for (const auto* query : {"section=a&pages=1", "format=xml", "lines=1", "pages=0", "pages=3-2", "pages=x",
                            "format=json&format=json", "pages=99999999999999999999"}) {
    EXPECT_EQ(error_at(*from, "docs://book/guide.md?" + std::string(query)), errc::invalid_argument) << query;
  }
  EXPECT_EQ(error_at(*from, "docs://book/guide.md?pages=1"), errc::invalid_argument);
  EXPECT_EQ(error_at(*from, "docs://book/?section=a"), errc::invalid_argument);
}

TEST_F(parts_of_documents, without_a_value_are_the_whole_document_or_folder) {
  write("a/guide.md", "# A\n");
  const auto from = serve();
  for (const auto* query : {"?", "?section=", "?pages=", "?format=", "?format"}) {
    EXPECT_EQ(text_at(*from, std::string("docs://book/a/guide.md") + query), "# A\n") << query;
    EXPECT_EQ(text_at(*from, std::string("docs://book/a") + query), "docs://book/a/guide.md\n") << query;
  }
}

TEST_F(parts_of_documents, are_the_way_round_what_is_too_large) {
  write("guide.md", "# A\n\n" + std::string(5000, 'x') + "\n\n## B\n\nshort\n");
  const auto from = serve();
  const auto got = read(*from, "docs://book/guide.md", {}, 1000);
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, errc::response_too_large);
  EXPECT_THAT(got.error().public_text, HasSubstr("?format=outline"));
  EXPECT_TRUE(read(*from, "docs://book/guide.md?section=b", {}, 1000));
}

}  // namespace
}  // namespace hondana::docs
