/// Zip archives, PDF objects and XML around what a test says; needs nothing of what is tested.
#include "unit/text/rendering/documents.hpp"

#include <zlib.h>

#include <algorithm>
#include <stdexcept>

namespace hondana_test {
namespace {

void put(std::string& to, std::uint32_t number, int bytes) {
  for (int i = 0; i < bytes; ++i) to += static_cast<char>(number >> (8 * i));
}

std::string deflated(std::string_view content) {
  z_stream with{};
  if (::deflateInit2(&with, 9, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY) != Z_OK) throw std::runtime_error("no deflate");
  std::string out(::deflateBound(&with, content.size()), '\0');
  with.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  with.avail_in = static_cast<uInt>(content.size());
  with.next_out = reinterpret_cast<Bytef*>(out.data());
  with.avail_out = static_cast<uInt>(out.size());
  ::deflate(&with, Z_FINISH);
  out.resize(with.total_out);
  ::deflateEnd(&with);
  return out;
}

constexpr std::string_view xml_start = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>";
constexpr std::string_view relationships = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

std::string relations_of(const std::vector<std::pair<std::string, std::string>>& type_and_target) {
  std::string out =
      std::string(xml_start) + "<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\">";
  for (std::size_t i = 0; i < type_and_target.size(); ++i) {
    const auto& [type, target] = type_and_target[i];
    out += "<Relationship Id=\"rId" + std::to_string(i + 1) + "\" Type=\"" + std::string(relationships) + '/' + type +
           "\" Target=\"" + target + "\"/>";
  }
  return out + "</Relationships>";
}

std::string zipped(const parts& first, const parts& more) {
  zip made;
  // Of parts with the same name the first counts.
  for (const auto& [name, content] : more) made.add(name, content);
  for (const auto& [name, content] : first) {
    const auto is_same = [&wanted = name](const auto& one) { return one.first == wanted; };
    if (std::none_of(more.begin(), more.end(), is_same)) made.add(name, content);
  }
  return made.bytes();
}

}  // namespace

zip& zip::add(const std::string& name, std::string_view content) {
  const auto packed = deflated(content);
  const bool is_packed = packed.size() < content.size();
  const auto stored = is_packed ? std::string_view(packed) : content;
  const auto crc = static_cast<std::uint32_t>(::crc32_z(0, reinterpret_cast<const Bytef*>(content.data()), content.size()));
  members_.push_back({name, static_cast<std::uint32_t>(data_.size()), crc, static_cast<std::uint32_t>(stored.size()),
                      static_cast<std::uint32_t>(content.size()), static_cast<std::uint16_t>(is_packed ? 8 : 0)});
  const auto& one = members_.back();
  data_ += "PK\x03\x04";
  put(data_, 20, 2);
  put(data_, 0x800, 2);
  put(data_, one.method, 2);
  put(data_, 0, 4);
  put(data_, one.crc, 4);
  put(data_, one.packed, 4);
  put(data_, one.size, 4);
  put(data_, static_cast<std::uint32_t>(name.size()), 2);
  put(data_, 0, 2);
  data_ += name;
  data_ += stored;
  return *this;
}

std::string zip::bytes() const {
  auto out = data_;
  for (const auto& one : members_) {
    out += "PK\x01\x02";
    put(out, 20, 2);
    put(out, 20, 2);
    put(out, 0x800, 2);
    put(out, one.method, 2);
    put(out, 0, 4);
    put(out, one.crc, 4);
    put(out, one.packed, 4);
    put(out, one.size, 4);
    put(out, static_cast<std::uint32_t>(one.name.size()), 2);
    put(out, 0, 4);
    put(out, 0, 4);
    put(out, 0, 4);
    put(out, one.at, 4);
    out += one.name;
  }
  const auto size = out.size() - data_.size();
  out += "PK\x05\x06";
  put(out, 0, 4);
  put(out, static_cast<std::uint32_t>(members_.size()), 2);
  put(out, static_cast<std::uint32_t>(members_.size()), 2);
  put(out, static_cast<std::uint32_t>(size), 4);
  put(out, static_cast<std::uint32_t>(data_.size()), 4);
  put(out, 0, 2);
  return out;
}

std::string pdf(const std::vector<std::string>& objects, std::string_view trailer) {
  std::string out = "%PDF-1.4\n";
  std::string table;
  for (std::size_t i = 0; i < objects.size(); ++i) {
    auto at = std::to_string(out.size());
    table += std::string(10 - at.size(), '0') + at + " 00000 n \n";
    out += std::to_string(i + 1) + " 0 obj\n" + objects[i] + "\nendobj\n";
  }
  const auto count = std::to_string(objects.size() + 1);
  const auto where = std::to_string(out.size());
  out += "xref\n0 " + count + "\n0000000000 65535 f \n" + table + "trailer\n<</Root 1 0 R/Size " + count +
         std::string(trailer) + ">>\nstartxref\n" + where + "\n%%EOF\n";
  return out;
}

std::string pdf_stream(std::string_view content, std::string_view more) {
  return "<</Length " + std::to_string(content.size()) + std::string(more) + ">>\nstream\n" + std::string(content) +
         "\nendstream";
}

std::string pdf_pages(const std::vector<std::string>& contents, std::string_view info) {
  const auto japanese = [](std::string_view map) {
    return "<</Type/Font/Subtype/Type0/BaseFont/Ryumin-Light/Encoding/" + std::string(map) +
           "/DescendantFonts[<</Type/Font/Subtype/CIDFontType0/BaseFont/Ryumin-Light/CIDSystemInfo<</Registry(Adobe)"
           "/Ordering(Japan1)/Supplement 2>>/DW 1000>>]>>";
  };
  std::vector<std::string> objects{"<</Type/Catalog/Pages 2 0 R>>",
                                   "",
                                   "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
                                   japanese("90ms-RKSJ-H"),
                                   japanese("90ms-RKSJ-V"),
                                   "<<" + std::string(info) + ">>"};
  std::string kids;
  for (const auto& one : contents) {
    const auto page = std::to_string(objects.size() + 1);
    objects.push_back("<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents " + std::to_string(objects.size() + 2) +
                      " 0 R/Resources<</Font<</F1 3 0 R/F2 4 0 R/F3 5 0 R>>>>>>");
    objects.push_back(pdf_stream(one));
    kids += page + " 0 R ";
  }
  objects[1] = "<</Type/Pages/Kids[" + kids + "]/Count " + std::to_string(contents.size()) + ">>";
  return pdf(objects, "/Info 6 0 R");
}

std::string docx(std::string_view body, const parts& more) {
  const std::string document = std::string(xml_start) +
                               "<w:document xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\" "
                               "xmlns:mc=\"http://schemas.openxmlformats.org/markup-compatibility/2006\"><w:body>" +
                               std::string(body) + "</w:body></w:document>";
  return zipped({{"_rels/.rels", relations_of({{"officeDocument", "word/document.xml"}})},
                 {"word/_rels/document.xml.rels", relations_of({{"styles", "styles.xml"},
                                                                {"numbering", "numbering.xml"},
                                                                {"footnotes", "footnotes.xml"},
                                                                {"endnotes", "/word/endnotes.xml"}})},
                 {"word/document.xml", document}},
                more);
}

std::string xlsx(std::string_view rows, const parts& more) {
  const std::string space = "xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\"";
  return zipped(
      {{"_rels/.rels", relations_of({{"officeDocument", "xl/workbook.xml"}})},
       {"xl/_rels/workbook.xml.rels",
        relations_of(
            {{"worksheet", "worksheets/sheet1.xml"}, {"styles", "styles.xml"}, {"sharedStrings", "sharedStrings.xml"}})},
       {"xl/workbook.xml", std::string(xml_start) + "<workbook " + space + " xmlns:r=\"" + std::string(relationships) +
                               "\"><sheets><sheet name=\"売上\" sheetId=\"1\" r:id=\"rId1\"/></sheets></workbook>"},
       {"xl/worksheets/sheet1.xml",
        std::string(xml_start) + "<worksheet " + space + "><sheetData>" + std::string(rows) + "</sheetData></worksheet>"}},
      more);
}

std::string pptx(const std::vector<std::string>& slides, std::string_view notes) {
  const std::string spaces =
      "xmlns:p=\"http://schemas.openxmlformats.org/presentationml/2006/main\" "
      "xmlns:a=\"http://schemas.openxmlformats.org/drawingml/2006/main\" xmlns:r=\"" +
      std::string(relationships) + "\"";
  std::vector<std::pair<std::string, std::string>> relations;
  std::string list;
  parts all{{"_rels/.rels", relations_of({{"officeDocument", "ppt/presentation.xml"}})}};
  for (std::size_t i = 0; i < slides.size(); ++i) {
    // In another order than their names have.
    const auto name = "slide" + std::to_string(slides.size() - i) + ".xml";
    relations.emplace_back("slide", "slides/" + name);
    list += "<p:sldId id=\"" + std::to_string(256 + i) + "\" r:id=\"rId" + std::to_string(i + 1) + "\"/>";
    all.emplace_back("ppt/slides/" + name, std::string(xml_start) + "<p:sld " + spaces + "><p:cSld><p:spTree>" + slides[i] +
                                               "</p:spTree></p:cSld></p:sld>");
    if (i != 0 || notes.empty()) continue;
    all.emplace_back("ppt/slides/_rels/" + name + ".rels", relations_of({{"notesSlide", "../notesSlides/notesSlide1.xml"}}));
    all.emplace_back("ppt/notesSlides/notesSlide1.xml", std::string(xml_start) + "<p:notes " + spaces + "><p:cSld><p:spTree>" +
                                                            std::string(notes) + "</p:spTree></p:cSld></p:notes>");
  }
  all.emplace_back("ppt/_rels/presentation.xml.rels", relations_of(relations));
  all.emplace_back("ppt/presentation.xml", std::string(xml_start) + "<p:presentation " + spaces + "><p:sldIdLst>" + list +
                                               "</p:sldIdLst></p:presentation>");
  return zipped(all, {});
}

std::string open_document(std::string_view body, std::string_view styles, const parts& more) {
  std::string spaces;
  for (const auto& [prefix, name] :
       {std::pair{"office", "office"}, std::pair{"text", "text"}, std::pair{"table", "table"}, std::pair{"draw", "drawing"},
        std::pair{"style", "style"}, std::pair{"fo", "xsl-fo-compatible"}, std::pair{"presentation", "presentation"}})
    spaces += std::string(" xmlns:") + prefix + "=\"urn:oasis:names:tc:opendocument:xmlns:" + name + ":1.0\"";
  spaces += " xmlns:dc=\"http://purl.org/dc/elements/1.1/\"";
  return zipped({{"content.xml", std::string(xml_start) + "<office:document-content" + spaces + "><office:automatic-styles>" +
                                     std::string(styles) + "</office:automatic-styles><office:body>" + std::string(body) +
                                     "</office:body></office:document-content>"},
                 {"styles.xml", std::string(xml_start) + "<office:document-styles" + spaces +
                                    "><office:styles><style:default-style><style:text-properties fo:language=\"en\" "
                                    "fo:country=\"GB\" style:language-asian=\"ja\" style:country-asian=\"JP\"/>"
                                    "</style:default-style></office:styles></office:document-styles>"}},
                more);
}

}  // namespace hondana_test
