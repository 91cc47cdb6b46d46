/// One file of Drive: the metadata that is stored, its priority, and the format that it is served in.
#include "sources/gdrive/item.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

#include <hondana/facts.hpp>

#include "text/language/language.hpp"

namespace hondana::gdrive {

namespace {

/// The limit of stored owners. New files have exactly one.
constexpr std::size_t most_owners = 10;

/// Anyone who shares a file chooses their own name. It must not look like an address or like several names.
std::string as_a_name(std::string name) {
  const auto folded = language::folded(name);
  if (folded.find('@') != std::string::npos) return {};
  std::replace(name.begin(), name.end(), ',', ' ');
  return folded.find(',') == std::string::npos || language::folded(name).find(',') == std::string::npos ? name : std::string();
}

std::string owners_of(const drive::file& from) {
  std::string out;
  for (std::size_t i = 0; i < std::min(most_owners, from.owners.size()); ++i) {
    const auto one = from.owners[i].email.empty() ? as_a_name(from.owners[i].name) : from.owners[i].email;
    if (one.empty()) continue;
    if (!out.empty()) out += between_owners;
    out += one;
  }
  return out;
}

}  // namespace

shared_item item_of(const drive::file& from, std::string home) {
  item made;
  made.id = from.id;
  made.name = from.name;
  made.mime_type = from.mime_type;
  if (!from.parents.empty()) made.parent = from.parents.front();
  made.home = std::move(home);
  made.version = from.version;
  made.content = !from.md5.empty() ? from.md5 : from.head_revision;
  made.owner = owners_of(from);
  made.web_link = from.web_link;
  made.resource_key = from.resource_key;
  if (from.leads_to) {
    made.target = from.leads_to->target;
    made.target_type = from.leads_to->target_type;
    made.target_key = from.leads_to->target_key;
  }
  made.size = from.size;
  made.modified = from.modified;
  made.created = from.created;
  made.is_trashed = from.is_trashed;
  made.is_starred = from.is_starred;
  made.is_barred = from.may_be_downloaded == false;
  return std::make_shared<const item>(std::move(made));
}

std::string version_of(const item& of) {
  constexpr std::string_view editors = "application/vnd.google-apps.";
  // Files of Google's editors have revisions without bytes; for these `version` grows with each change.
  const bool has_bytes = !of.mime_type.starts_with(editors);
  // A reader of an earlier version must notice that the file can no longer be downloaded.
  return (has_bytes && !of.content.empty() ? of.content : of.version) + (of.is_barred ? "-barred" : "");
}

weight weight_of(const item& what, std::size_t links, std::chrono::system_clock::time_point now) {
  using namespace std::chrono_literals;
  constexpr auto day = 24h;
  constexpr double most = 0.95;
  weight made;
  const auto add = [&made](double more, const char* why) {
    made.priority += more;
    (made.reason += made.reason.empty() ? "" : ", ") += why;
  };
  if (what.is_starred) add(0.2, "starred");
  if (links >= 3) add(0.15, "target of three or more shortcuts");
  if (links > 0 && links < 3) add(0.1, "target of a shortcut");
  if (what.modified) {
    const auto age = now - *what.modified;
    if (age <= 7 * day) {
      add(0.15, "changed within a week");
    } else if (age <= 30 * day) {
      add(0.1, "changed within a month");
    } else if (age > 730 * day) {
      add(-0.1, "not changed for two years");
    }
  }
  // Round away binary fractions such as 0.7500000001.
  made.priority = std::round(std::min(most, made.priority) * 100) / 100;
  if (made.reason.empty()) made.reason = "as usual";
  return made;
}

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
