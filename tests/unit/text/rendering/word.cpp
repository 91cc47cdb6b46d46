/// Word documents as text.
#include <string>

#include <gtest/gtest.h>

#include "text/rendering/office/word_document.hpp"
#include "unit/text/rendering/files.hpp"

namespace hondana::rendering {
namespace {

using namespace hondana_test;

std::string word_paragraph_of(std::string_view text, std::string_view properties = {}) {
  return "<w:p><w:pPr>" + std::string(properties) + "</w:pPr><w:r><w:t>" + std::string(text) + "</w:t></w:r></w:p>";
}

std::string word_part(std::string_view root, std::string_view inner) {
  return "<w:" + std::string(root) + " xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\">" +
         std::string(inner) + "</w:" + std::string(root) + ">";
}

std::string word_text(std::string_view body, const parts& more = {}) {
  const auto made = office_text(format::docx, docx(body, more));
  return made ? made->text : "failed: " + made.error().public_text + made.error().private_text;
}

TEST(word, headings_are_known_by_styles_and_by_outline_levels) {
  const auto styles = word_part("styles", R"(
    <w:style w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style>
    <w:style w:styleId="X2"><w:name w:val="Chapter"/><w:pPr><w:outlineLvl w:val="1"/></w:pPr></w:style>
    <w:style w:styleId="Own"><w:name w:val="Mine"/><w:basedOn w:val="X2"/></w:style>
    <w:style w:styleId="Body"><w:name w:val="Mine"/><w:basedOn w:val="X2"/><w:pPr><w:outlineLvl w:val="9"/></w:pPr></w:style>
    <w:style w:styleId="J3"><w:name w:val="見出し 3"/></w:style>
    <w:style w:styleId="Loop"><w:name w:val="Loop"/><w:basedOn w:val="Loop"/></w:style>)");
  EXPECT_EQ(word_text(word_paragraph_of("Eins", R"(<w:pStyle w:val="berschrift1"/>)") +
                          word_paragraph_of("Two", R"(<w:pStyle w:val="Own"/>)") +
                          word_paragraph_of("No heading", R"(<w:pStyle w:val="Body"/>)") +
                          word_paragraph_of("三", R"(<w:pStyle w:val="J3"/>)") +
                          word_paragraph_of("Looping", R"(<w:pStyle w:val="Loop"/>)") +
                          word_paragraph_of("Four", R"(<w:outlineLvl w:val="3"/>)") + word_paragraph_of("# not one"),
                      {{"word/styles.xml", styles}}),
            "# Eins\n\n## Two\n\nNo heading\n\n### 三\n\nLooping\n\n#### Four\n\n\\# not one\n");
}

TEST(word, lists_have_marks_and_depth) {
  const auto numbering = word_part("numbering", R"(
    <w:abstractNum w:abstractNumId="7"><w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/></w:lvl>
      <w:lvl w:ilvl="1"><w:numFmt w:val="decimal"/></w:lvl></w:abstractNum>
    <w:num w:numId="2"><w:abstractNumId w:val="7"/></w:num>)");
  const auto item = [](std::string_view text, int level) {
    return word_paragraph_of(text,
                             "<w:numPr><w:ilvl w:val=\"" + std::to_string(level) + "\"/><w:numId w:val=\"2\"/></w:numPr>");
  };
  EXPECT_EQ(word_text(word_paragraph_of("Before") + item("りんご", 0) + item("first", 1) + item("pear", 0) +
                          word_paragraph_of("After"),
                      {{"word/numbering.xml", numbering}}),
            "Before\n\n- りんご\n   1. first\n- pear\n\nAfter\n");
}

TEST(word, tables_are_rows) {
  const auto cell = [](std::string_view text) { return "<w:tc>" + word_paragraph_of(text) + "</w:tc>"; };
  EXPECT_EQ(word_text("<w:tbl><w:tr>" + cell("品名") + cell("a|b") + "</w:tr><w:tr>" + cell("two") + "<w:tc>" +
                      word_paragraph_of("x") + word_paragraph_of("y") + "<w:tbl><w:tr>" + cell("in") + cell("ner") +
                      "</w:tr></w:tbl></w:tc></w:tr><w:tr><w:trPr><w:del/></w:trPr>" + cell("deleted") + "</w:tr></w:tbl>" +
                      word_paragraph_of("After")),
            "| 品名 | a\\|b |\n| --- | --- |\n| two | x y in ner |\n\nAfter\n");
}

TEST(word, what_readers_do_not_see_is_left_out) {
  EXPECT_EQ(word_text(R"(<w:p><w:r><w:t xml:space="preserve">Kept </w:t></w:r><w:ins><w:r><w:t>new</w:t></w:r></w:ins>
      <w:del><w:r><w:delText>old</w:delText><w:t>old</w:t></w:r></w:del>
      <w:moveFrom><w:r><w:t>moved</w:t></w:r></w:moveFrom>
      <w:r><w:rPr><w:vanish/></w:rPr><w:t>hidden</w:t></w:r>
      <w:r><w:instrText>PAGE</w:instrText></w:r>
      <mc:AlternateContent><mc:Choice><w:r><w:t>!</w:t></w:r></mc:Choice>
        <mc:Fallback><w:r><w:t>twice</w:t></w:r></mc:Fallback></mc:AlternateContent></w:p>
      <w:p><w:r><w:ruby><w:rt><w:r><w:t>かんじ</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>漢字</w:t></w:r></w:rubyBase></w:ruby>
      </w:r></w:p>)"),
            "Kept new!\n\n漢字\n");
}

TEST(word, notes_stand_at_the_end) {
  const auto notes = word_part("footnotes", R"(<w:footnote w:id="0" w:type="separator"><w:p><w:r><w:t>-</w:t></w:r></w:p>
      </w:footnote><w:footnote w:id="2"><w:p><w:r><w:t>脚注です。</w:t></w:r></w:p></w:footnote>)");
  EXPECT_EQ(
      word_text(R"(<w:p><w:r><w:t>Text</w:t><w:footnoteReference w:id="2"/></w:r></w:p><w:p><w:r><w:t>End</w:t></w:r></w:p>)",
                {{"word/footnotes.xml", notes}}),
      "Text[^2]\n\nEnd\n\n[^2]: 脚注です。\n");
}

TEST(word, says_title_author_and_language) {
  const auto core = R"(<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties"
      xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>就業規則 &amp; more</dc:title><dc:creator>山田</dc:creator>
      </cp:coreProperties>)";
  const auto styles = word_part("styles", R"(<w:docDefaults><w:rPrDefault><w:rPr>
      <w:lang w:val="en-US" w:eastAsia="ja-JP"/></w:rPr></w:rPrDefault></w:docDefaults>)");
  const auto japanese = office_text(format::docx, docx(word_paragraph_of("これは日本語の文書です。"),
                                                       {{"docProps/core.xml", core}, {"word/styles.xml", styles}}));
  ASSERT_TRUE(japanese);
  EXPECT_EQ(japanese->title, "就業規則 & more");
  EXPECT_EQ(japanese->author, "山田");
  EXPECT_EQ(japanese->language, "ja-JP");
  const auto english = office_text(format::docx, docx(word_paragraph_of("This is in English."), {{"word/styles.xml", styles}}));
  ASSERT_TRUE(english);
  EXPECT_EQ(english->language, "en-US");
}

TEST(word, text_is_cut_between_characters) {
  limits most;
  most.max_output_bytes = 40;
  const auto made =
      office_text(format::docx, docx(word_paragraph_of("日本語日本語日本語日本語日本語") + word_paragraph_of("x")), most);
  ASSERT_TRUE(made);
  EXPECT_TRUE(made->is_truncated);
  EXPECT_EQ(made->text, "日本語日本語日本語日本語日\n");
}

TEST(word, heading_names_of_several_languages_are_known) {
  EXPECT_EQ(parse_heading_level("Heading 3"), 3u);
  EXPECT_EQ(parse_heading_level("Überschrift 2"), 2u);
  EXPECT_EQ(parse_heading_level("見出し 1"), 1u);
  EXPECT_EQ(parse_heading_level("Title"), 1u);
  EXPECT_FALSE(parse_heading_level("heading"));
  EXPECT_FALSE(parse_heading_level("Normal"));
}

}  // namespace
}  // namespace hondana::rendering
