/// Which parts Office files have.
#include "drive/stand_in/office.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <utility>

#include "drive/stand_in/zip.hpp"

namespace drive_test {
namespace {

const std::string xml_head = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>";
const std::string relations_space = "http://schemas.openxmlformats.org/package/2006/relationships";
const std::string office_relations = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const std::string office_types = "application/vnd.openxmlformats-officedocument.";

using parts = std::vector<std::pair<std::string, std::string>>;

/// `all`: ids, kinds and targets.
std::string relations(const std::vector<std::array<std::string, 3>>& all) {
  auto out = xml_head + "<Relationships xmlns=\"" + relations_space + "\">";
  for (const auto& [id, kind, target] : all)
    out += "<Relationship Id=\"" + id + "\" Type=\"" + office_relations + '/' + kind + "\" Target=\"" + target + "\"/>";
  return out + "</Relationships>";
}

/// `all`: names of parts and the ends of their types.
std::string content_types(const std::vector<std::pair<std::string, std::string>>& all) {
  auto out = xml_head +
             "<Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\"><Default Extension=\"rels\" "
             "ContentType=\"application/vnd.openxmlformats-package.relationships+xml\"/><Default Extension=\"xml\" "
             "ContentType=\"application/xml\"/>";
  for (const auto& [name, type] : all)
    out += "<Override PartName=\"/" + name + "\" ContentType=\"" + office_types + type + "+xml\"/>";
  return out + "</Types>";
}

std::string of_main(const std::string& part) { return relations({{"rId1", "officeDocument", part}}); }

bool is_number(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  if (text.empty() || text.size() > 15 || (text.size() > 1 && text.front() == '0' && text[1] != '.')) return false;
  bool has_point = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '.' && !has_point && i > 0 && i + 1 < text.size())
      has_point = true;
    else if (std::isdigit(static_cast<unsigned char>(text[i])) == 0)
      return false;
  }
  return true;
}

std::string cell_name(std::size_t column, std::size_t row) {
  std::string letters;
  for (++column; column > 0; column = (column - 1) / 26)
    letters.insert(letters.begin(), static_cast<char>('A' + (column - 1) % 26));
  return letters + std::to_string(row + 1);
}

std::string paragraphs_of(std::string_view text) {
  std::string out;
  for (;;) {
    const auto line = text.substr(0, text.find('\n'));
    out += "<a:p><a:r><a:t>" + xml_escaped(line) + "</a:t></a:r></a:p>";
    if (line.size() == text.size()) return out;
    text.remove_prefix(line.size() + 1);
  }
}

std::string shape(int id, const std::string& place, std::string_view text) {
  return "<p:sp><p:nvSpPr><p:cNvPr id=\"" + std::to_string(id) + "\" name=\"" + place +
         "\"/><p:cNvSpPr/><p:nvPr><p:ph type=\"" + place + "\"/></p:nvPr></p:nvSpPr><p:spPr/><p:txBody><a:bodyPr/>" +
         paragraphs_of(text) + "</p:txBody></p:sp>";
}

const std::string drawing_spaces = "xmlns:a=\"http://schemas.openxmlformats.org/drawingml/2006/main\" xmlns:r=\"" +
                                   office_relations +
                                   "\" xmlns:p=\"http://schemas.openxmlformats.org/presentationml/2006/main\"";

std::string slide_part(const std::string& element, const std::string& shapes) {
  return xml_head + "<p:" + element + ' ' + drawing_spaces +
         "><p:cSld><p:spTree><p:nvGrpSpPr><p:cNvPr id=\"1\" name=\"\"/><p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr><p:grpSpPr/>" +
         shapes + "</p:spTree></p:cSld></p:" + element + '>';
}

}  // namespace

std::string xml_escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '&')
      out += "&amp;";
    else if (c == '"')
      out += "&quot;";
    else
      out += c;
  }
  return out;
}

std::string docx_of(std::string_view markdown) {
  std::string body;
  while (!markdown.empty()) {
    auto line = markdown.substr(0, markdown.find('\n'));
    markdown.remove_prefix(std::min(line.size() + 1, markdown.size()));
    if (line.empty()) continue;
    std::size_t level = 0;
    while (level < line.size() && line[level] == '#') ++level;
    std::string style;
    if (level > 0 && level < line.size() && line[level] == ' ') {
      line.remove_prefix(level + 1);
      style = "<w:pPr><w:pStyle w:val=\"Heading" + std::to_string(level) + "\"/></w:pPr>";
    }
    body += "<w:p>" + style + "<w:r><w:t xml:space=\"preserve\">" + xml_escaped(line) + "</w:t></w:r></w:p>";
  }
  const std::string space = "xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\"";
  std::string styles = xml_head + "<w:styles " + space + '>';
  for (int i = 1; i <= 6; ++i)
    styles += "<w:style w:type=\"paragraph\" w:styleId=\"Heading" + std::to_string(i) + "\"><w:name w:val=\"heading " +
              std::to_string(i) + "\"/><w:pPr><w:outlineLvl w:val=\"" + std::to_string(i - 1) + "\"/></w:pPr></w:style>";
  return zip_of({{"[Content_Types].xml", content_types({{"word/document.xml", "wordprocessingml.document.main"},
                                                        {"word/styles.xml", "wordprocessingml.styles"}})},
                 {"_rels/.rels", of_main("word/document.xml")},
                 {"word/_rels/document.xml.rels", relations({{"rId1", "styles", "styles.xml"}})},
                 {"word/styles.xml", styles + "</w:styles>"},
                 {"word/document.xml", xml_head + "<w:document " + space + "><w:body>" + body + "</w:body></w:document>"}});
}

std::string xlsx_of(const std::vector<sheet>& sheets) {
  const std::string space = "xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\"";
  std::map<std::string, std::size_t> texts;
  std::string shared;
  std::string book = xml_head + "<workbook " + space + " xmlns:r=\"" + office_relations + "\"><sheets>";
  std::vector<std::array<std::string, 3>> leads;
  std::vector<std::pair<std::string, std::string>> types{{"xl/workbook.xml", "spreadsheetml.sheet.main"},
                                                         {"xl/sharedStrings.xml", "spreadsheetml.sharedStrings"}};
  parts pages;
  for (std::size_t i = 0; i < sheets.size(); ++i) {
    const auto number = std::to_string(i + 1);
    const auto name = "worksheets/sheet" + number + ".xml";
    book += "<sheet name=\"" + xml_escaped(sheets[i].name) + "\" sheetId=\"" + number + "\" r:id=\"rId" + number + "\"/>";
    leads.push_back({"rId" + number, "worksheet", name});
    types.emplace_back("xl/" + name, "spreadsheetml.worksheet");
    std::string data = xml_head + "<worksheet " + space + "><sheetData>";
    for (std::size_t row = 0; row < sheets[i].rows.size(); ++row) {
      data += "<row r=\"" + std::to_string(row + 1) + "\">";
      for (std::size_t column = 0; column < sheets[i].rows[row].size(); ++column) {
        const auto& text = sheets[i].rows[row][column];
        if (text.empty()) continue;
        const auto at = cell_name(column, row);
        if (is_number(text)) {
          data += "<c r=\"" + at + "\"><v>" + text + "</v></c>";
          continue;
        }
        const auto [found, is_new] = texts.try_emplace(text, texts.size());
        if (is_new) shared += "<si><t xml:space=\"preserve\">" + xml_escaped(text) + "</t></si>";
        data += "<c r=\"" + at + "\" t=\"s\"><v>" + std::to_string(found->second) + "</v></c>";
      }
      data += "</row>";
    }
    pages.emplace_back("xl/" + name, data + "</sheetData></worksheet>");
  }
  leads.push_back({"rId" + std::to_string(sheets.size() + 1), "sharedStrings", "sharedStrings.xml"});
  parts all{{"[Content_Types].xml", content_types(types)},
            {"_rels/.rels", of_main("xl/workbook.xml")},
            {"xl/_rels/workbook.xml.rels", relations(leads)},
            {"xl/workbook.xml", book + "</sheets></workbook>"},
            {"xl/sharedStrings.xml", xml_head + "<sst " + space + '>' + shared + "</sst>"}};
  all.insert(all.end(), pages.begin(), pages.end());
  return zip_of(all);
}

std::string pptx_of(const std::vector<slide>& slides) {
  std::string list;
  std::vector<std::array<std::string, 3>> leads;
  std::vector<std::pair<std::string, std::string>> types{{"ppt/presentation.xml", "presentationml.presentation.main"}};
  parts pages;
  for (std::size_t i = 0; i < slides.size(); ++i) {
    const auto number = std::to_string(i + 1);
    const auto name = "slides/slide" + number + ".xml";
    list += "<p:sldId id=\"" + std::to_string(256 + i) + "\" r:id=\"rId" + number + "\"/>";
    leads.push_back({"rId" + number, "slide", name});
    types.emplace_back("ppt/" + name, "presentationml.slide");
    pages.emplace_back("ppt/" + name, slide_part("sld", shape(2, "title", slides[i].title) + shape(3, "body", slides[i].text)));
    if (slides[i].notes.empty()) continue;
    const auto notes = "notesSlides/notesSlide" + number + ".xml";
    types.emplace_back("ppt/" + notes, "presentationml.notesSlide");
    pages.emplace_back("ppt/slides/_rels/slide" + number + ".xml.rels", relations({{"rId1", "notesSlide", "../" + notes}}));
    pages.emplace_back("ppt/" + notes, slide_part("notes", shape(2, "body", slides[i].notes)));
  }
  parts all{{"[Content_Types].xml", content_types(types)},
            {"_rels/.rels", of_main("ppt/presentation.xml")},
            {"ppt/_rels/presentation.xml.rels", relations(leads)},
            {"ppt/presentation.xml",
             xml_head + "<p:presentation " + drawing_spaces + "><p:sldIdLst>" + list + "</p:sldIdLst></p:presentation>"}};
  all.insert(all.end(), pages.begin(), pages.end());
  return zip_of(all);
}

}  // namespace drive_test
