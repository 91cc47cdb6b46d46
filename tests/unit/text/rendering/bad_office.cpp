/// Office files that are damaged, hostile, or something else.
#include <string>

#include <gtest/gtest.h>

#include "text/rendering/office/zip_package.hpp"
#include "unit/text/rendering/files.hpp"

namespace hondana::rendering {
namespace {

using namespace hondana_test;
using namespace std::string_literals;

errc office_error(format what, std::string_view file, const limits& most = {}) {
  const auto made = office_text(what, file, most);
  return made ? errc{} : made.error().code;
}

/// Word's document whose XML is that text whole.
std::string docx_of_xml(std::string xml) { return docx({}, {{"word/document.xml", std::move(xml)}}); }

const std::string word_start = "<w:document xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\"><w:body>";
const std::string word_end = "</w:body></w:document>";

TEST(bad_office, garbage_and_nothing_are_no_office_files) {
  EXPECT_EQ(office_error(format::docx, ""), errc::invalid_argument);
  EXPECT_EQ(office_error(format::docx, std::string(10'000, 'x')), errc::invalid_argument);
  EXPECT_EQ(office_error(format::xlsx, "%PDF-1.4\n"), errc::invalid_argument);
  EXPECT_EQ(office_error(format::odt, "PK\x03\x04"), errc::invalid_argument);
}

TEST(bad_office, a_truncated_file_is_damaged) {
  const auto whole = docx("<w:p><w:r><w:t>text</w:t></w:r></w:p>");
  for (std::size_t size = 0; size < whole.size(); size += 7)
    EXPECT_NE(office_error(format::docx, whole.substr(0, size)), errc{});
}

TEST(bad_office, one_format_is_not_another) {
  EXPECT_EQ(office_error(format::xlsx, docx("<w:p/>")), errc::invalid_argument);
  EXPECT_EQ(office_error(format::docx, xlsx("")), errc::invalid_argument);
  EXPECT_EQ(office_error(format::pptx, docx("<w:p/>")), errc::invalid_argument);
  EXPECT_EQ(office_error(format::odt, docx("<w:p/>")), errc::invalid_argument);
  EXPECT_EQ(office_error(format::ods, open_document("<office:text/>")), errc::invalid_argument);
}

TEST(bad_office, older_and_encrypted_files_are_told_apart) {
  const auto container = "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"s + std::string(100'000, '\0');
  EXPECT_EQ(office_error(format::docx, container), errc::unsupported);
  const auto name = "E\0n\0c\0r\0y\0p\0t\0e\0d\0P\0a\0c\0k\0a\0g\0e\0"s;
  EXPECT_EQ(office_error(format::docx, container + name), errc::access_denied);
  // Across the end of a piece that is read.
  auto split = container;
  split.replace((64u << 10) - 10, name.size(), name);
  EXPECT_EQ(office_error(format::docx, split), errc::access_denied);
  EXPECT_EQ(
      office_error(format::odt, open_document("<office:text/>", {},
                                              {{"META-INF/manifest.xml",
                                                "<m:manifest xmlns:m=\"urn:oasis:names:tc:opendocument:xmlns:manifest:1.0\">"
                                                "<m:encryption-data/></m:manifest>"}})),
      errc::access_denied);
}

TEST(bad_office, a_zip_bomb_is_not_unpacked) {
  const auto bomb = docx_of_xml(word_start + std::string(100u << 20, ' ') + word_end);
  EXPECT_LT(bomb.size(), 200'000u);
  EXPECT_EQ(office_error(format::docx, bomb), errc::response_too_large);
  limits little;
  little.max_unpacked_bytes = 1000;
  EXPECT_EQ(office_error(format::docx, docx("<w:p>" + std::string(2000, ' ') + "</w:p>"), little), errc::response_too_large);
}

TEST(bad_office, archives_within_are_never_opened) {
  zip inner;
  inner.add("zeros", std::string(50u << 20, '\0'));
  zip outer;
  outer.add("inner.zip", inner.bytes());
  const auto made =
      office_text(format::docx, docx("<w:p><w:r><w:t>seen</w:t></w:r></w:p>",
                                     {{"word/embeddings/a.zip", outer.bytes()}, {"word/media/b.xml", inner.bytes()}}));
  ASSERT_TRUE(made);
  EXPECT_EQ(made->text, "seen\n");
}

TEST(bad_office, entities_are_not_expanded) {
  std::string laughs = "<!DOCTYPE x [<!ENTITY a \"ha\">";
  for (char one = 'b'; one <= 'k'; ++one) {
    laughs += "<!ENTITY "s + one + " \"";
    for (int i = 0; i < 10; ++i) laughs += "&"s + static_cast<char>(one - 1) + ';';
    laughs += "\">";
  }
  const auto made =
      office_text(format::docx, docx_of_xml(laughs + "]>" + word_start + "<w:p><w:r><w:t>&k;</w:t></w:r></w:p>" + word_end));
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, errc::invalid_argument);
  EXPECT_NE(made.error().public_text.find("document type"), std::string::npos) << made.error().public_text;
  EXPECT_EQ(office_error(format::docx, docx_of_xml(word_start + "<w:p><w:r><w:t>&k;</w:t></w:r></w:p>" + word_end)),
            errc::invalid_argument);
}

TEST(bad_office, no_file_is_read_for_an_entity) {
  const auto made = office_text(format::docx, docx_of_xml("<!DOCTYPE x [<!ENTITY a SYSTEM \"file:///etc/passwd\">]>" +
                                                          word_start + "<w:p><w:r><w:t>&a;</w:t></w:r></w:p>" + word_end));
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, errc::invalid_argument);
}

TEST(bad_office, ten_thousand_elements_within_each_other_are_refused) {
  std::string deep = word_start;
  for (int i = 0; i < 10'000; ++i) deep += "<w:sdt>";
  EXPECT_EQ(office_error(format::docx, docx_of_xml(deep)), errc::invalid_argument);
}

TEST(bad_office, broken_xml_says_which_part) {
  const auto made = office_text(format::docx, docx_of_xml(word_start + "<w:p></w:q>"));
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, errc::invalid_argument);
  EXPECT_NE(made.error().public_text.find("word/document.xml"), std::string::npos) << made.error().public_text;
  EXPECT_EQ(office_error(format::docx, docx_of_xml(word_start)), errc::invalid_argument);
  EXPECT_EQ(office_error(format::docx, docx_of_xml("\xff\xfe\xff")), errc::invalid_argument);
}

TEST(bad_office, missing_parts_leave_what_there_is) {
  const auto no_strings = office_text(format::xlsx, xlsx("<row><c t=\"s\"><v>0</v></c><c><v>1</v></c></row>"));
  ASSERT_TRUE(no_strings);
  EXPECT_EQ(no_strings->text, "## 売上\n\n|  | 1 |\n| --- | --- |\n");
  zip only;
  only.add("word/document.xml", word_start + "<w:p><w:r><w:t>alone</w:t></w:r></w:p>" + word_end);
  const auto alone = office_text(format::docx, only.bytes());
  ASSERT_TRUE(alone);
  EXPECT_EQ(alone->text, "alone\n");
}

TEST(bad_office, names_that_lead_elsewhere_are_only_names) {
  zip all;
  for (const auto* one : {"/etc/passwd", "../../../../tmp/hondana-escaped", "..\\..\\escaped", "C:\\escaped"})
    all.add(one, "x");
  all.add("/word/./document.xml", word_start + "<w:p><w:r><w:t>read</w:t></w:r></w:p>" + word_end);
  const auto made = office_text(format::docx, all.bytes());
  ASSERT_TRUE(made);
  EXPECT_EQ(made->text, "read\n");
  EXPECT_EQ(resolve_part("word", "../xl/a.xml"), "xl/a.xml");
  EXPECT_EQ(resolve_part("word", "/b.xml"), "b.xml");
  EXPECT_EQ(resolve_part("", "../../c.xml"), "c.xml");
}

}  // namespace
}  // namespace hondana::rendering
