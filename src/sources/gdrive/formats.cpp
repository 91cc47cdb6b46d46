/// The table of types.
#include "sources/gdrive/formats.hpp"

#include <algorithm>
#include <array>

namespace hondana::gdrive {
namespace {

constexpr std::string_view googles = "application/vnd.google-apps.";

constexpr std::string_view xlsx_type = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";
constexpr std::string_view pptx_type = "application/vnd.openxmlformats-officedocument.presentationml.presentation";

struct known_type {
  std::string_view mime_type;
  format what;
};

constexpr std::array known_types{
    known_type{drive::folder_type, {way::folder, "folder", {}, "inode/directory", {}, true}},
    known_type{drive::shortcut_type, {way::shortcut, "shortcut", {}, {}, {}, false}},
    known_type{drive::document_type, {way::exported, "document", "text/markdown", "text/markdown", {}, true}},
    known_type{drive::spreadsheet_type, {way::workbook, "spreadsheet", xlsx_type, "text/csv", rendering::format::xlsx, true}},
    known_type{drive::presentation_type,
               {way::slides, "presentation", pptx_type, "text/markdown", rendering::format::pptx, true}},
    known_type{drive::drawing_type, {way::exported, "drawing", "image/png", "image/png", {}, false}},
    known_type{drive::script_type,
               {way::exported, "script", "application/vnd.google-apps.script+json", "application/json", {}, true}},
};

}  // namespace

bool is_of_google(std::string_view mime_type) noexcept { return mime_type.starts_with(googles); }

format format_of(const item& of) noexcept {
  for (const auto& one : known_types) {
    if (one.mime_type == of.mime_type) return one.what;
  }
  if (is_of_google(of.mime_type)) return {way::none, "other", {}, of.mime_type, {}, false};
  const auto rendered = rendering::format_of(of.mime_type, of.name);
  if (!rendered) return {way::bytes, "file", {}, of.mime_type, {}, false};
  const bool is_pdf = *rendered == rendering::format::pdf;
  return {way::rendered, "file", {}, is_pdf ? "text/plain" : "text/markdown", rendered, true};
}

std::string word_for(std::string_view mime_type) {
  mime_type.remove_prefix(std::min(mime_type.size(), is_of_google(mime_type) ? googles.size() : 0));
  std::string out;
  for (const char c : mime_type.substr(0, 40)) out += (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ? c : '-';
  return out;
}

}  // namespace hondana::gdrive
