/// Which exports there are, and what each has.
#include "drive/stand_in/exports.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <map>

#include "drive/stand_in/office.hpp"
#include "drive/stand_in/pictures.hpp"
#include "drive/stand_in/web.hpp"
#include "drive/stand_in/zip.hpp"

namespace drive_test {
namespace {

namespace json = boost::json;

const std::string docx = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
const std::string xlsx = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";
const std::string pptx = "application/vnd.openxmlformats-officedocument.presentationml.presentation";
const std::string script_json = "application/vnd.google-apps.script+json";

/// Lines without what Markdown marks headings and items with.
std::string plain_of(std::string_view markdown) {
  std::string out = "\xef\xbb\xbf";
  bool is_first = true;
  while (!markdown.empty()) {
    auto line = markdown.substr(0, markdown.find('\n'));
    markdown.remove_prefix(std::min(line.size() + 1, markdown.size()));
    if (line.starts_with('#')) {
      line.remove_prefix(std::min(line.find_first_not_of('#'), line.size()));
      line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    }
    if (!is_first) out += "\r\n";
    is_first = false;
    out += line;
  }
  return out;
}

std::string html_of(const file& one) {
  std::string out = "<html><head><meta content=\"text/html; charset=UTF-8\" http-equiv=\"content-type\"><title>" +
                    xml_escaped(one.name) + "</title></head><body class=\"doc-content\">";
  std::string_view left = one.bytes;
  while (!left.empty()) {
    auto line = left.substr(0, left.find('\n'));
    left.remove_prefix(std::min(line.size() + 1, left.size()));
    if (line.empty()) continue;
    const auto level = std::min<std::size_t>(std::min(line.find_first_not_of('#'), line.size()), 6);
    line.remove_prefix(level);
    const auto name = level == 0 ? std::string("p") : "h" + std::to_string(level);
    if (level > 0) line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    out += '<' + name + "><span>" + xml_escaped(line) + "</span></" + name + '>';
  }
  return out + "</body></html>";
}

std::string slides_text(const std::vector<slide>& slides) {
  std::string out = "\xef\xbb\xbf";
  for (const auto& one : slides) out += one.title + "\n" + one.text + "\n\n";
  return out;
}

std::string tsv_of(const sheet& one) {
  std::string out;
  for (std::size_t row = 0; row < one.rows.size(); ++row) {
    if (row != 0) out += "\r\n";
    for (std::size_t i = 0; i < one.rows[row].size(); ++i) out += (i == 0 ? "" : "\t") + one.rows[row][i];
  }
  return out;
}

std::string scripts_json(const std::vector<script_file>& all) {
  json::array files;
  for (const auto& one : all)
    files.push_back(json::object{
        {"id", digest("sha256", one.name).substr(0, 36)}, {"name", one.name}, {"type", one.type}, {"source", one.source}});
  return json::serialize(json::object{{"files", files}});
}

std::optional<std::string> exported_document(const file& one, std::string_view as) {
  if (as == "text/markdown" || as == "text/x-markdown") return one.bytes;
  if (as == "text/plain") return plain_of(one.bytes);
  if (as == "text/html") return html_of(one);
  if (as == "application/zip") return zip_of({{one.name + ".html", html_of(one)}});
  if (as == docx) return docx_of(one.bytes);
  if (as == "application/pdf") return pdf_of(one.name);
  return std::nullopt;
}

std::optional<std::string> exported_sheets(const file& one, std::string_view as) {
  static const sheet none{"Sheet1", {}};
  const auto& first = one.sheets.empty() ? none : one.sheets.front();
  if (as == "text/csv") return csv_of(first);
  if (as == "text/tab-separated-values") return tsv_of(first);
  if (as == xlsx) return xlsx_of(one.sheets);
  if (as == "application/pdf") return pdf_of(one.name);
  return std::nullopt;
}

}  // namespace

const std::vector<std::string>& export_types(std::string_view type) {
  static const std::map<std::string, std::vector<std::string>, std::less<>> all{
      {mime::document,
       {"text/markdown", docx, "text/plain", "text/html", "application/pdf", "application/zip", "text/x-markdown"}},
      {mime::spreadsheet, {xlsx, "text/csv", "text/tab-separated-values", "application/pdf"}},
      {mime::presentation, {pptx, "text/plain", "application/pdf"}},
      {mime::drawing, {"image/png", "image/svg+xml", "application/pdf"}},
      {mime::script, {script_json}},
  };
  static const std::vector<std::string> none;
  const auto found = all.find(type);
  return found == all.end() ? none : found->second;
}

std::string export_format(std::string_view as) {
  static const std::map<std::string, std::string, std::less<>> all{{"text/markdown", "markdown"},
                                                                   {docx, "docx"},
                                                                   {"text/plain", "txt"},
                                                                   {"text/html", "html"},
                                                                   {"application/pdf", "pdf"},
                                                                   {"application/zip", "zip"},
                                                                   {xlsx, "xlsx"},
                                                                   {"text/csv", "csv"},
                                                                   {"text/tab-separated-values", "tsv"},
                                                                   {pptx, "pptx"},
                                                                   {"image/png", "png"},
                                                                   {"image/svg+xml", "svg"},
                                                                   {script_json, "json"},
                                                                   {"text/x-markdown", "md"}};
  const auto found = all.find(as);
  return found == all.end() ? "" : found->second;
}

std::optional<std::string> exported(const file& one, std::string_view as) {
  if (one.type == mime::document) return exported_document(one, as);
  if (one.type == mime::spreadsheet) return exported_sheets(one, as);
  if (one.type == mime::presentation) {
    if (as == "text/plain") return slides_text(one.slides);
    if (as == pptx) return pptx_of(one.slides);
    if (as == "application/pdf") return pdf_of(one.name);
  }
  if (one.type == mime::drawing) {
    if (as == "image/png") return png_of(one.name);
    if (as == "image/svg+xml") return svg_of(one.name);
    if (as == "application/pdf") return pdf_of(one.name);
  }
  if (one.type == mime::script && as == script_json) return scripts_json(one.scripts);
  return std::nullopt;
}

bool is_editors(std::string_view type) { return type.starts_with("application/vnd.google-apps."); }

std::string csv_of(const sheet& one) {
  std::string out;
  for (std::size_t row = 0; row < one.rows.size(); ++row) {
    if (row != 0) out += "\r\n";
    for (std::size_t i = 0; i < one.rows[row].size(); ++i) {
      const auto& text = one.rows[row][i];
      if (i != 0) out += ',';
      if (text.find_first_of(",\"\r\n") == std::string::npos) {
        out += text;
        continue;
      }
      out += '"';
      for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
      out += '"';
    }
  }
  return out;
}

}  // namespace drive_test
