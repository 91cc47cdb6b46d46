/// Presentations and OpenDocument as text.
#include <string>

#include <gtest/gtest.h>

#include "unit/text/rendering/files.hpp"

namespace hondana::rendering {
namespace {

using namespace hondana_test;

std::string slide_shape(std::string_view placeholder, std::string_view text, int level = 0) {
  return "<p:sp><p:nvSpPr><p:nvPr>" + std::string(placeholder) + "</p:nvPr></p:nvSpPr><p:txBody><a:p><a:pPr lvl=\"" +
         std::to_string(level) + "\"/><a:r><a:t>" + std::string(text) + "</a:t></a:r></a:p></p:txBody></p:sp>";
}

TEST(slides, come_in_order_with_titles_and_notes) {
  const auto made = office_text(
      format::pptx,
      pptx({slide_shape("<p:ph idx=\"1\"/>", "要点", 1) + slide_shape("<p:ph type=\"title\"/>", "はじめに") +
                slide_shape("", "Box") + slide_shape("<p:ph type=\"sldNum\"/>", "1"),
            "<p:graphicFrame><a:tbl><a:tr><a:tc><a:p><a:r><a:t>x</a:t></a:r></a:p></a:tc></a:tr></a:tbl></p:graphicFrame>"},
           slide_shape("<p:ph type=\"body\"/>", "Say hello")));
  ASSERT_TRUE(made) << made.error().public_text;
  EXPECT_EQ(made->text, "## はじめに\n\n  - 要点\n\nBox\n\nNotes:\n\nSay hello\n\f## Slide 2\n\n| x |\n| --- |\n\f");
  EXPECT_EQ(made->pages, 2u);
}

TEST(open_documents, texts_have_headings_lists_tables_and_notes) {
  const auto made = office_text(
      format::odt, open_document(
                       R"(<office:text><text:tracked-changes><text:p>deleted</text:p></text:tracked-changes>
          <text:h text:outline-level="2">第一章</text:h><text:p>two   spaces<text:s text:c="2"/>kept<text:line-break/>next
          <office:annotation><text:p>comment</text:p></office:annotation></text:p>
          <text:list text:style-name="L1"><text:list-item><text:p>one</text:p><text:list><text:list-item><text:p>deep</text:p>
          </text:list-item></text:list></text:list-item></text:list>
          <table:table><table:table-row><table:table-cell><text:p>a</text:p></table:table-cell>
          <table:table-cell table:number-columns-repeated="2"/></table:table-row></table:table>
          <text:p>見よ<text:note text:id="n1"><text:note-citation>1</text:note-citation><text:note-body><text:p>注</text:p>
          </text:note-body></text:note></text:p></office:text>)",
                       R"(<text:list-style style:name="L1"><text:list-level-style-number text:level="1"/></text:list-style>)"));
  ASSERT_TRUE(made) << made.error().public_text;
  EXPECT_EQ(made->text,
            "## 第一章\n\ntwo spaces  kept\nnext\n\n1. one\n   1. deep\n\n| a |  |  |\n| --- | --- | --- "
            "|\n\n見よ[^n1]\n\n[^n1]: 注\n");
  EXPECT_EQ(made->language, "en-GB");
}

TEST(open_documents, sheets_are_tables) {
  const auto made = office_text(
      format::ods,
      open_document(R"(<office:spreadsheet><table:table table:name="表1">
          <table:table-row><table:table-cell office:value-type="date" office:date-value="2024-04-01"><text:p>R6.4.1</text:p>
          </table:table-cell><table:table-cell office:value-type="float" office:value="1.5"><text:p>1.50</text:p></table:table-cell>
          <table:table-cell table:number-columns-repeated="16000"/></table:table-row>
          <table:table-row table:number-rows-repeated="2"><table:table-cell><text:p>x</text:p></table:table-cell></table:table-row>
          <table:table-row table:number-rows-repeated="1048000"><table:table-cell/></table:table-row></table:table>
          <table:table table:name="Hidden" table:style-name="ta1"><table:table-row><table:table-cell><text:p>no</text:p>
          </table:table-cell></table:table-row></table:table></office:spreadsheet>)",
                    R"(<style:style style:name="ta1"><style:table-properties table:display="false"/></style:style>)"));
  ASSERT_TRUE(made) << made.error().public_text;
  EXPECT_EQ(made->text, "## 表1\n\n| 2024-04-01 | 1.50 |\n| --- | --- |\n| x |\n| x |\n");
  EXPECT_FALSE(made->is_truncated);
}

TEST(open_documents, slides_have_titles_and_notes) {
  const auto made = office_text(format::odp, open_document(R"(<office:presentation><draw:page draw:name="page1">
      <draw:frame presentation:class="title"><draw:text-box><text:p>題</text:p></draw:text-box></draw:frame>
      <draw:frame presentation:class="outline"><draw:text-box><text:list><text:list-item><text:p>point</text:p></text:list-item>
      </text:list></draw:text-box></draw:frame><presentation:notes><draw:frame><draw:text-box><text:p>note</text:p>
      </draw:text-box></draw:frame></presentation:notes></draw:page><draw:page draw:name="page2"/></office:presentation>)"));
  ASSERT_TRUE(made) << made.error().public_text;
  EXPECT_EQ(made->text, "## 題\n\n- point\n\nNotes:\n\nnote\n\f## page2\n\f");
  EXPECT_EQ(made->pages, 2u);
}

TEST(open_documents, a_cell_that_stands_for_millions_is_cut) {
  const auto made = office_text(format::ods, open_document(R"(<office:spreadsheet><table:table table:name="t">
      <table:table-row table:number-rows-repeated="4000000000"><table:table-cell table:number-columns-repeated="4000000000">
      <text:p>x</text:p></table:table-cell></table:table-row></table:table></office:spreadsheet>)"));
  ASSERT_TRUE(made) << made.error().public_text;
  EXPECT_TRUE(made->is_truncated);
  EXPECT_LE(made->text.size(), limits().max_output_bytes);
}

}  // namespace
}  // namespace hondana::rendering
