/// What Office files hold beside the text that they become, and what of it is too much.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "text/rendering/poppler.hpp"
#include "unit/text/rendering/files.hpp"

namespace hondana::rendering {
namespace {

using namespace hondana_test;
using testing::HasSubstr;
using testing::Not;

const std::string space_of_word = "xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\"";
const std::string space_of_drawings = "xmlns:a=\"http://schemas.openxmlformats.org/drawingml/2006/main\"";

std::string relations_to(const std::string& type, const std::string& part) {
  return "<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\"><Relationship Id=\"rId1\" "
         "Type=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships/" +
         type + "\" Target=\"" + part + "\"/></Relationships>";
}

document office_file_with(format what, const std::string& file) {
  auto made = office_text(what, file);
  EXPECT_TRUE(made) << made.error().public_text << made.error().private_text;
  return made.value_or(document());
}

TEST(text_beside, has_headers_and_charts_of_a_word_document_with_their_runs_together) {
  const auto body = "<w:p><w:r><w:t>Body</w:t></w:r></w:p>";
  const auto header =
      "<w:hdr " + space_of_word + "><w:p><w:r><w:t>gh</w:t></w:r> <w:r><w:rPr/><w:t>p_1</w:t></w:r></w:p></w:hdr>";
  const auto with_header = office_file_with(
      format::docx,
      docx(body, {{"word/_rels/footnotes.xml.rels", relations_to("header", "header1.xml")}, {"word/header1.xml", header}}));
  EXPECT_EQ(with_header.text, "Body\n");
  EXPECT_THAT(with_header.extra_text, HasSubstr("ghp_1"));
  EXPECT_FALSE(with_header.is_truncated);
  const auto chart = "<c:chart xmlns:c=\"urn:c\" " + space_of_drawings +
                     "><c:v>first</c:v><c:v>second</c:v><a:p><a:r><a:t>Ti</a:t></a:r>" +
                     "<a:r><a:t>tle</a:t></a:r></a:p></c:chart>";
  const auto with_chart = office_file_with(
      format::docx,
      docx(body, {{"word/_rels/footnotes.xml.rels", relations_to("chart", "charts/c1.xml")}, {"word/charts/c1.xml", chart}}));
  EXPECT_THAT(with_chart.extra_text, HasSubstr("first\nsecond\nTitle\n"));
  // One that is damaged leaves the text as it is, and is not known.
  const auto damaged = office_file_with(
      format::docx,
      docx(body, {{"word/_rels/footnotes.xml.rels", relations_to("chart", "charts/c1.xml")}, {"word/charts/c1.xml", "<c"}}));
  EXPECT_EQ(damaged.text, "Body\n");
  EXPECT_TRUE(damaged.is_truncated);
}

TEST(text_beside, is_unknown_where_a_file_lies_within) {
  const auto made =
      office_file_with(format::docx, docx("<w:p><w:r><w:t>Body</w:t></w:r></w:p>",
                                          {{"word/_rels/footnotes.xml.rels", relations_to("package", "embeddings/a.xlsx")}}));
  EXPECT_TRUE(made.is_truncated) << "it is named, and is not there";
}

TEST(text_beside, has_what_stands_in_the_workbook_behind_a_chart) {
  const auto with = [](const std::string& workbook, const std::string& name = "a.xlsx") {
    return office_file_with(format::docx,
                            docx("<w:p><w:r><w:t>Body</w:t></w:r></w:p>",
                                 {{"word/charts/_rels/c1.xml.rels", relations_to("package", "../embeddings/" + name)},
                                  {"word/embeddings/" + name, workbook}}));
  };
  const std::string rows =
      "<row r=\"1\"><c r=\"A1\" t=\"inlineStr\"><is><r><t>gh</t></r><r><t>p_1</t></r></is></c><c r=\"B1\"><v>42</v></c></row>";
  const auto made = with(xlsx(rows));
  EXPECT_EQ(made.text, "Body\n");
  EXPECT_THAT(made.extra_text, HasSubstr("ghp_1\n42\n"));
  EXPECT_FALSE(made.is_truncated);
  EXPECT_TRUE(with("PK and no more").is_truncated) << "damaged";
  EXPECT_TRUE(with(xlsx(rows), "a.bin").is_truncated) << "of another kind";
  EXPECT_TRUE(with(xlsx(rows, {{"xl/embeddings/b.xlsx", xlsx(rows)}})).is_truncated) << "with another one within";
  EXPECT_TRUE(with(xlsx(rows, {{"xl/vbaProject.bin", "code"}})).is_truncated);
  EXPECT_FALSE(with(xlsx(rows, {{"xl/media/image1.PNG", "picture"}})).is_truncated);
  EXPECT_TRUE(with(xlsx("<row r=\"1\"><c r=\"A1\"><v>" + std::string(5u << 20, 'x') + "</v></c></row>")).is_truncated)
      << "too much";
}

TEST(text_beside, has_feet_of_slides_and_margins_of_printed_sheets) {
  const auto slides = office_file_with(
      format::pptx,
      pptx({"<p:sp><p:nvSpPr><p:nvPr><p:ph type=\"ftr\"/></p:nvPr></p:nvSpPr><p:txBody><a:p><a:r><a:t>At the foot</a:t></a:r>"
            "</a:p></p:txBody></p:sp>"}));
  EXPECT_THAT(slides.text, Not(HasSubstr("At the foot")));
  EXPECT_THAT(slides.extra_text, HasSubstr("At the foot"));
  const auto sheet = office_file_with(
      format::xlsx, xlsx("<row r=\"1\"><c r=\"A1\"><v>1</v></c></row></sheetData><headerFooter><oddHeader>On paper"
                         "</oddHeader></headerFooter><sheetData>"));
  EXPECT_THAT(sheet.text, Not(HasSubstr("On paper")));
  EXPECT_THAT(sheet.extra_text, HasSubstr("On paper\n"));
}

TEST(text_beside, has_masters_shapes_and_objects_of_open_document) {
  const std::string spaces =
      "xmlns:office=\"urn:oasis:names:tc:opendocument:xmlns:office:1.0\" "
      "xmlns:text=\"urn:oasis:names:tc:opendocument:xmlns:text:1.0\"";
  const auto text = office_file_with(
      format::odt, open_document("<office:text><text:p>Body</text:p></office:text>", {},
                                 {{"Object 1/content.xml",
                                   "<office:document-content " + spaces +
                                       "><text:p>In <text:span>a</text:span>n object</text:p></office:document-content>"}}));
  EXPECT_EQ(text.text, "Body\n");
  EXPECT_THAT(text.extra_text, HasSubstr("In an object\n"));
  const auto sheet = office_file_with(
      format::ods,
      open_document("<office:spreadsheet><table:table><table:shapes><text:p>On a shape</text:p></table:shapes><table:table-row>"
                    "<table:table-cell><text:p>Cell</text:p></table:table-cell></table:table-row></table:table>"
                    "</office:spreadsheet>"));
  EXPECT_THAT(sheet.text, Not(HasSubstr("On a shape")));
  EXPECT_EQ(sheet.extra_text, "On a shape\n");
}

TEST(text_beside, of_a_pdf_is_what_it_says_of_itself) {
  EXPECT_EQ(parse_pdf_info("Title:  T\nSubject:        S\nKeywords:  a b\nCreator: w\nPages: 2\n").extra_text, "T\nS\na b\n");
}

TEST(text_left_out, of_a_table_that_is_too_wide_is_said) {
  const auto table = [](int cells) {
    std::string row;
    for (int i = 0; i < cells; ++i) row += "<w:tc><w:p><w:r><w:t>x</w:t></w:r></w:p></w:tc>";
    return docx("<w:tbl><w:tr>" + row + "</w:tr></w:tbl><w:p><w:r><w:t>Behind</w:t></w:r></w:p>");
  };
  EXPECT_FALSE(office_file_with(format::docx, table(256)).is_truncated);
  const auto wide = office_file_with(format::docx, table(257));
  EXPECT_TRUE(wide.is_truncated);
  EXPECT_THAT(wide.text, HasSubstr("Behind"));
}

TEST(text_left_out, of_a_cell_or_a_paragraph_that_is_too_long_is_said) {
  const std::string megabyte(1u << 20, 'x');
  const auto cell = [&](const std::string& more) {
    return xlsx("<row r=\"1\"><c r=\"A1\" t=\"inlineStr\"><is><t>" + megabyte + "</t><t>" + more + "</t></is></c></row>");
  };
  EXPECT_FALSE(office_file_with(format::xlsx, cell("")).is_truncated);
  EXPECT_TRUE(office_file_with(format::xlsx, cell("more")).is_truncated);
  const auto slide =
      "<p:sp><p:txBody><a:p><a:r><a:t>" + megabyte + "</a:t></a:r><a:r><a:t>more</a:t></a:r></a:p></p:txBody></p:sp>";
  EXPECT_TRUE(office_file_with(format::pptx, pptx({slide})).is_truncated);
}

}  // namespace
}  // namespace hondana::rendering
