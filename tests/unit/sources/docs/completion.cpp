/// Completing paths and headings.
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hondana/clock.hpp>

#include "unit/sources/docs/served_documents.hpp"

namespace hondana::docs {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

using chosen = std::vector<std::pair<std::string, std::string>>;

struct completed_documents : served_documents {
  const manual_clock clock;  // a rendering may take as long as it takes
};

TEST_F(completed_documents, fit_japanese_in_any_width_and_normal_form) {
  write("設計/ガイド.md", "# ガイド\n");
  write("設計/概要.md", "# 概要\n");
  write("ABC手順.md", "# 手順\n");
  const auto from = serve();
  EXPECT_THAT(completed(*from, "{+path}{?section}", "path", "設"), ElementsAre("設計/概要.md", "設計/ガイド.md"));
  EXPECT_THAT(completed(*from, "{+path}{?section}", "path", "設計/ｶﾞ"), ElementsAre("設計/ガイド.md"));
  EXPECT_THAT(completed(*from, "{+path}{?section}", "path", "設計/カ\u3099"), ElementsAre("設計/ガイド.md"));
  EXPECT_THAT(completed(*from, "{+path}{?section}", "path", "ａｂｃ"), ElementsAre("ABC手順.md"));
}

TEST_F(completed_documents, fit_by_their_titles_too_and_better_ones_come_first) {
  write("a/x1.md", "# 運用マニュアル\n");
  write("運用.md", "# Other\n");
  const auto from = serve();
  EXPECT_THAT(completed(*from, "{+path}{?format}", "path", "運用"), ElementsAre("運用.md", "a/x1.md"));
}

TEST_F(completed_documents, have_headings_and_pages_of_the_chosen_one) {
  write("guide.md", "# ガイド\n\n## インストール\n\n## 設定\n");
  write("spec.pdf", "%PDF-1.7\na\n\fb\n\f");
  const auto from = serve_rendered();
  const chosen guide{{"path", "guide.md"}};
  EXPECT_THAT(completed(*from, "{+path}{?section}", "section", "", guide), ElementsAre("ガイド", "インストール", "設定"));
  EXPECT_THAT(completed(*from, "{+path}{?section}", "section", "ｲﾝ", guide), ElementsAre("インストール"));
  EXPECT_THAT(completed(*from, "{+path}{?section}", "section", "", {{"path", "none.md"}}), IsEmpty());
  EXPECT_THAT(completed(*from, "{+path}{?pages}", "pages", "", {{"path", "spec.pdf"}}), ElementsAre("1", "2"));
  EXPECT_THAT(completed(*from, "{+path}{?pages}", "path", ""), ElementsAre("spec.pdf"));
  EXPECT_THAT(completed(*from, "{+path}{?format}", "format", "o"), Contains("outline"));
  EXPECT_THAT(completed(*from, "{?format}", "format", "j"), ElementsAre("json"));
}

TEST_F(completed_documents, and_outlines_have_nothing_that_the_view_hides) {
  write("open.md", "# Open\n\nSee [it](hidden.md).\n");
  write("hidden.md", "# Hidden title\n\n## Hidden heading\n");
  const auto from = serve();
  const auto who = somebody("hidden");
  EXPECT_THAT(completed(*from, "{+path}{?section}", "path", "", {}, who), ElementsAre("open.md"));
  EXPECT_THAT(completed(*from, "{+path}{?section}", "path", "Hidden", {}, who), IsEmpty());
  EXPECT_THAT(completed(*from, "{+path}{?section}", "section", "", {{"path", "hidden.md"}}, who), IsEmpty());
  EXPECT_THAT(completed(*from, "{+path}{?section}", "section", "", {{"path", "HIDDEN.md"}}, who), IsEmpty());
  for (const auto* uri : {"docs://book/", "docs://book/?format=json", "docs://book/open.md?format=json", "docs://book"}) {
    EXPECT_EQ(text_at(*from, uri, who).find("Hidden title"), std::string::npos) << uri;
    EXPECT_EQ(text_at(*from, uri, who).find("docs://book/hidden.md"), std::string::npos) << uri;
  }
  EXPECT_THAT(listed(*from, who), Not(Contains("docs://book/hidden.md")));
  EXPECT_NE(text_at(*from, "docs://book/").find("Hidden title"), std::string::npos);
}

}  // namespace
}  // namespace hondana::docs
