/// Workbooks as text.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "text/rendering/office/spreadsheet.hpp"
#include "text/rendering/render_protocol.hpp"
#include "unit/text/rendering/files.hpp"

namespace hondana::rendering {
namespace {

using namespace hondana_test;

const std::string sheet_space = "xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\"";

TEST(sheets, cells_are_shown_as_readers_see_them) {
  const parts more{
      {"xl/sharedStrings.xml", "<sst " + sheet_space +
                                   "><si><t>日付</t><rPh><t>ヒヅケ</t></rPh></si>"
                                   "<si><r><t>a</t></r><r><t>|b</t></r></si></sst>"},
      {"xl/styles.xml", "<styleSheet " + sheet_space +
                            "><numFmts><numFmt numFmtId=\"164\" formatCode=\"[$-411]ggge&quot;年&quot;m&quot;月&quot;d\"/>"
                            "</numFmts><cellStyleXfs><xf numFmtId=\"9\"/></cellStyleXfs><cellXfs><xf numFmtId=\"0\"/>"
                            "<xf numFmtId=\"14\"/><xf numFmtId=\"164\"/><xf numFmtId=\"10\"/></cellXfs></styleSheet>"}};
  const auto made = office_text(format::xlsx, xlsx(R"(<row r="1"><c r="A1" t="s"><v>0</v></c><c r="C1" t="s"><v>1</v></c></row>
      <row r="3"><c r="A3" s="1"><v>45383</v></c><c r="B3" s="2"><v>45383</v></c><c r="C3" s="3"><v>0.125</v></c></row>
      <row r="4"><c r="A4" t="b"><v>1</v></c><c r="B4"><f>1/10*3</f><v>0.30000000000000004</v></c>
        <c r="C4" t="inlineStr"><is><t>inline</t></is></c></row>
      <row r="5"><c r="A5" t="e"><v>#DIV/0!</v></c><c r="B5" t="str"><f>A1</f><v>text</v></c><c r="C5" t="s"><v>99</v></c></row>)",
                                                   more));
  ASSERT_TRUE(made) << made.error().public_text << made.error().private_text;
  EXPECT_EQ(
      made->text,
      "## 売上\n\n| 日付 |  | a\\|b |\n| --- | --- | --- |\n| 2024-04-01 | 2024-04-01 | 12.50% |\n| TRUE | 0.3 | inline |\n"
      "| #DIV/0! | text |  |\n");
}

TEST(sheets, a_million_rows_are_cut) {
  std::string rows;
  for (int i = 1; i <= 1'000'000; ++i) rows += "<row><c><v>" + std::to_string(i) + "</v></c></row>";
  const auto made = office_text(format::xlsx, xlsx(rows));
  ASSERT_TRUE(made) << made.error().public_text;
  EXPECT_TRUE(made->is_truncated);
  EXPECT_TRUE(made->text.ends_with("| 100000 |\n")) << made->text.substr(made->text.size() - 30);
}

TEST(sheets, cells_far_to_the_right_are_left_out) {
  const auto made = office_text(format::xlsx, xlsx(R"(<row><c r="A1"><v>1</v></c><c r="XFD1"><v>2</v></c>
      <c r="ZZZZZZ1"><v>3</v></c><c r="7"><v>4</v></c></row>)"));
  ASSERT_TRUE(made);
  EXPECT_TRUE(made->is_truncated);
  EXPECT_EQ(made->text, "## 売上\n\n| 1 |\n| --- |\n");
}

TEST(sheets, formats_say_what_numbers_mean) {
  EXPECT_EQ(display_number(0.5, parse_number_format("h:mm"), false), "12:00:00");
  EXPECT_EQ(display_number(1.5, parse_number_format("[h]:mm"), false), "36:00:00");
  EXPECT_EQ(display_number(45383.5, parse_number_format("yyyy/mm/dd hh:mm"), false), "2024-04-01 12:00:00");
  EXPECT_EQ(display_number(1, parse_number_format("yyyy-mm-dd"), false), "1900-01-01");
  EXPECT_EQ(display_number(0, parse_number_format("yyyy-mm-dd"), true), "1904-01-01");
  EXPECT_EQ(display_number(1234.5, parse_number_format("#,##0.00 \"days\""), false), "1234.5");
  EXPECT_EQ(display_number(0.256, parse_number_format("0.0%"), false), "25.6%");
  EXPECT_EQ(display_number(1e300, parse_number_format("yyyy"), false), "1e+300");
  EXPECT_EQ(display_number(-1, parse_number_format("yyyy"), false), "-1");
  EXPECT_EQ(parse_number_format("0.00E+00").kind, number_kind::plain);
  EXPECT_EQ(parse_number_format("General").kind, number_kind::plain);
  EXPECT_EQ(parse_column("A1"), 0u);
  EXPECT_EQ(parse_column("AB12"), 27u);
  for (const auto* one : {"", "1", "a1", "AAAAA1", "A"}) EXPECT_EQ(parse_column(one), no_column) << one;
}

/// Cut in this process, through what a child writes.
result<std::vector<sheet>> sheets_of(const std::string& file, const limits& most = {}) {
  const auto made = office_sheets(file, most);
  if (!made) return tl::unexpected(made.error());
  return parse_sheets(made->text);
}

TEST(sheets, each_is_csv_by_itself_with_rows_where_they_stand) {
  const auto made = sheets_of(xlsx(R"(<row r="1"><c r="A1" t="inlineStr"><is><t>a,b</t></is></c><c r="B1"><v>1.5</v></c></row>
      <row r="3"><c r="A3" t="inlineStr"><is><t>say "so"</t></is></c></row>
      <row r="4"><c r="C4" t="inlineStr"><is><t>two
lines</t></is></c></row>)"));
  ASSERT_TRUE(made) << made.error().public_text << made.error().private_text;
  ASSERT_EQ(made->size(), 1u);
  EXPECT_EQ(made->front().name, "売上");
  EXPECT_EQ(made->front().csv, "\"a,b\",1.5,\n,,\n\"say \"\"so\"\"\",,\n,,\"two\nlines\"\n");
  EXPECT_FALSE(made->front().is_truncated);
}

TEST(sheets, a_row_far_below_is_cut_off_and_not_a_million_lines) {
  const auto made =
      sheets_of(xlsx(R"(<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="A1048576"><v>2</v></c></row>)"));
  ASSERT_TRUE(made);
  ASSERT_EQ(made->size(), 1u);
  EXPECT_EQ(made->front().csv, "1\n");
  EXPECT_TRUE(made->front().is_truncated);
}

TEST(sheets, an_empty_sheet_is_there_and_empty) {
  const auto made = sheets_of(xlsx(""));
  ASSERT_TRUE(made);
  ASSERT_EQ(made->size(), 1u);
  EXPECT_EQ(made->front().csv, "");
}

TEST(sheets, what_is_no_workbook_is_refused) {
  EXPECT_FALSE(sheets_of(docx("<w:p/>")));
  EXPECT_FALSE(sheets_of("PK and nothing"));
}

TEST(sheets, lists_of_them_are_read_as_they_were_written) {
  const sheet one{"a \"b\"\n", "1,2\n", true};
  const sheet two{"", "", false};
  const auto text = to_line(one) + to_line(two);
  const auto made = parse_sheets(text);
  ASSERT_TRUE(made);
  ASSERT_EQ(made->size(), 2u);
  EXPECT_EQ(made->front().name, one.name);
  EXPECT_EQ(made->front().csv, one.csv);
  EXPECT_TRUE(made->front().is_truncated);
  EXPECT_FALSE(made->back().is_truncated);
  const auto part = parse_sheets(text.substr(0, to_line(one).size() - 3));
  ASSERT_TRUE(part);
  EXPECT_EQ(part->front().csv, "1,");
  EXPECT_TRUE(part->front().is_truncated);
}

TEST(sheets, lists_that_are_none_are_refused) {
  for (const auto* text : {"x", "{}\n", "{\"name\":\"a\",\"bytes\":-1,\"cut\":false}\n\n",
                           "{\"name\":\"a\",\"bytes\":1,\"cut\":false}\nab\n", "[]\n", "\n"})
    EXPECT_FALSE(parse_sheets(text)) << text;
  EXPECT_TRUE(parse_sheets("").value().empty());
}

}  // namespace
}  // namespace hondana::rendering
