/// Resource entries, metadata keys, resource templates and scheme documentation of a Google Drive source.
#include "sources/gdrive/catalog_entries.hpp"

#include <utility>

#include <hondana/facts.hpp>
#include <hondana/uri.hpp>

#include "sources/gdrive/address.hpp"
#include "sources/gdrive/item.hpp"
#include "text/language/language.hpp"

namespace hondana::gdrive {
namespace {

resource_template template_at(std::string uri, std::string name, std::string title, std::string description) {
  resource_template one;
  one.uriTemplate = std::move(uri);
  one.name = std::move(name);
  one.title = std::move(title);
  one.description = std::move(description);
  return one;
}

}  // namespace

std::string name_shown(const item& of) {
  auto name = shown(of.name);
  const auto letters = language::folded(name);
  return letters.find_first_not_of(' ') == std::string::npos ? of.id : name;
}

metadata facts_about(const item& of) {
  metadata all;
  all.emplace_back(id_key, of.id);
  if (of.web_link.starts_with("https://")) all.emplace_back(link_key, of.web_link);
  if (!of.owner.empty()) all.emplace_back(owner_fact, shown(of.owner));
  if (of.is_starred) all.emplace_back(starred_key, true);
  if (!of.is_folder() && format_of(of).given != of.mime_type) all.emplace_back(original_type_key, of.mime_type);
  return all;
}

resource entry_of(const item& of, std::string uri, const weight& worth) {
  const auto how = format_of(of);
  resource entry;
  entry.uri = std::move(uri);
  entry.name = name_shown(of);
  entry.title = entry.name;
  entry.kind = how.kind;
  entry.mimeType = how.given;
  if (how.how == way::bytes) entry.size = of.size;
  entry.annotations.lastModified = of.modified;
  entry.annotations.priority = worth.priority;
  if (!of.is_folder()) entry.version = version_of(of);
  entry.metadata = facts_about(of);
  return entry;
}

std::string uri_of_sheet(std::string_view uri, std::string_view sheet) {
  return std::string(uri) + "?sheet=" + percent_encode(sheet);
}

resource entry_of_sheet(const resource& of, const std::string& sheet) {
  resource entry = of;
  entry.uri = uri_of_sheet(of.uri, sheet);
  entry.name = of.name + " / " + shown(sheet);
  entry.title = entry.name;
  entry.kind = "sheet";
  entry.metadata.emplace_back(sheet_key, shown(sheet));
  return entry;
}

resource entry_of_drive(std::string uri, std::string name) {
  resource entry;
  entry.uri = std::move(uri);
  entry.name = std::move(name);
  entry.title = entry.name;
  entry.kind = "drive";
  entry.mimeType = folder_mime_type;
  return entry;
}

std::vector<resource_template> templates_of(const std::string& scheme, const std::string& name) {
  const auto by_path = scheme + "://{drive}/{+path}";
  return {
      template_at(scheme + ":///{id}", name + "-file", "Drive file by id",
                  "A file or folder by the id in its web address, listed or not."),
      template_at(by_path + "{?sheet}", name + "-path", "Drive file by path",
                  "A file or folder by its path. drive is my-drive, shared-with-me or the slug of a shared drive. sheet "
                  "selects one sheet of a spreadsheet as CSV; the default is all sheets."),
      template_at(by_path + "{?format}", name + "-original", "Original of a Drive file",
                  "format=original: a PDF or Office file, not converted."),
  };
}

scheme_documentation describe() {
  return {"gdrive",
          "Google Drive: documents, spreadsheets, presentations and files of My Drive and shared drives.",
          {{"document", "A Google Doc, as Markdown."},
           {"spreadsheet", "A Google Sheet, as one CSV for each of its sheets."},
           {"sheet", "One sheet of a spreadsheet, as CSV. The first sheet is listed as the spreadsheet itself."},
           {"presentation", "Google Slides as text, with the speakers' notes. Each slide ends with a form feed."},
           {"drawing", "A Google Drawing, as a PNG blob."},
           {"script", "An Apps Script project, as JSON."},
           {"file", "Any other file. PDF and Office files are converted to text; the file itself is the second content."},
           {"folder", "A folder. Reading it returns the URIs of its entries, one per line."},
           {"shortcut", "A shortcut. Reading it returns its target. It is listed only if the target is not."},
           {"drive", "My Drive, the files shared with the account, or a shared drive, as a folder."},
           {"list", "Starred or recent files, as Markdown."},
           {"other", "A file that Drive does not export, such as a form. Its web link is in `_meta`."}},
          {{"gdrive:///", "The drives, as a folder."},
           {"gdrive:///ID", "A file or folder by its id, listed or not."},
           {"gdrive:///starred", "Starred files, the latest first."},
           {"gdrive:///recent", "The 50 most recently changed files."},
           {"gdrive://DRIVE", "A drive as a folder: my-drive, shared-with-me or the slug of a shared drive's name."},
           {"gdrive://DRIVE/PATH",
            "A file or folder by its listed path. If files in one folder share a name, ~ID is appended to every name except "
            "the oldest file's."},
           {"gdrive://DRIVE/PATH?sheet=NAME", "One sheet of a spreadsheet, as CSV."},
           {"gdrive://DRIVE/PATH?format=original", "A PDF or Office file, not converted."}}};
}

}  // namespace hondana::gdrive
