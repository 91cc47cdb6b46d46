/// Resource entries, metadata keys, resource templates and scheme documentation of a Google Drive source.
#include "sources/gdrive/catalog_entries.hpp"

#include <utility>

#include <hondana/metadata_keys.hpp>
#include <hondana/uri.hpp>

#include "sources/gdrive/address.hpp"
#include "sources/gdrive/item.hpp"
#include "text/language/language.hpp"

namespace hondana::gdrive {
namespace {

resource_template make_template(std::string uri, std::string name, std::string title, std::string description) {
  resource_template entry;
  entry.uri_template = std::move(uri);
  entry.name = std::move(name);
  entry.title = std::move(title);
  entry.description = std::move(description);
  return entry;
}

}  // namespace

std::string display_name(const item& item) {
  auto name = display_text(item.name);
  const auto folded = language::fold(name);
  return folded.find_first_not_of(' ') == std::string::npos ? item.id : name;
}

metadata make_metadata(const item& item) {
  metadata entries;
  entries.emplace_back(id_key, item.id);
  if (item.web_link.starts_with("https://")) entries.emplace_back(link_key, item.web_link);
  if (!item.owner.empty()) entries.emplace_back(owner_metadata_key, display_text(item.owner));
  if (item.is_starred) entries.emplace_back(starred_key, true);
  if (!item.is_folder() && format_of(item).mime_type != item.mime_type) entries.emplace_back(original_type_key, item.mime_type);
  return entries;
}

resource make_entry(const item& item, std::string uri, const priority_rating& rating) {
  const auto format = format_of(item);
  resource entry;
  entry.uri = std::move(uri);
  entry.name = display_name(item);
  entry.title = entry.name;
  entry.kind = format.kind;
  entry.mime_type = format.mime_type;
  if (format.method == read_method::bytes) entry.size = item.size;
  entry.annotations.last_modified = item.modified;
  entry.annotations.priority = rating.priority;
  if (!item.is_folder()) entry.version = version_of(item);
  entry.metadata = make_metadata(item);
  return entry;
}

std::string sheet_uri(std::string_view uri, std::string_view sheet) {
  return std::string(uri) + "?sheet=" + percent_encode(sheet);
}

resource make_sheet_entry(const resource& workbook, const std::string& sheet) {
  resource entry = workbook;
  entry.uri = sheet_uri(workbook.uri, sheet);
  entry.name = workbook.name + " / " + display_text(sheet);
  entry.title = entry.name;
  entry.kind = "sheet";
  entry.metadata.emplace_back(sheet_key, display_text(sheet));
  return entry;
}

resource make_drive_entry(std::string uri, std::string name) {
  resource entry;
  entry.uri = std::move(uri);
  entry.name = std::move(name);
  entry.title = entry.name;
  entry.kind = "drive";
  entry.mime_type = folder_mime_type;
  return entry;
}

std::vector<resource_template> make_templates(const std::string& scheme, const std::string& name) {
  const auto by_path = scheme + "://{drive}/{+path}";
  return {
      make_template(scheme + ":///{id}", name + "-file", "Drive file by id",
                    "A file or folder by the id in its web address, listed or not."),
      make_template(by_path + "{?sheet}", name + "-path", "Drive file by path",
                    "A file or folder by its path. drive is my-drive, shared-with-me or the slug of a shared drive. sheet "
                    "selects one sheet of a spreadsheet as CSV; the default is all sheets."),
      make_template(by_path + "{?format}", name + "-original", "Original of a Drive file",
                    "format=original: a PDF or Office file, not converted."),
  };
}

scheme_documentation describe_scheme() {
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
