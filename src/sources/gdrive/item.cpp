/// One file of Drive: the metadata that is stored, its priority, and the format that it is served in.
#include "sources/gdrive/item.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

#include <hondana/metadata_keys.hpp>

#include "text/language/language.hpp"

namespace hondana::gdrive {

namespace {

/// The limit of stored owners. New files have exactly one.
constexpr std::size_t max_owners = 10;

/// Anyone who shares a file chooses their own name. It must not look like an address or like several names.
std::string sanitize_name(std::string name) {
  const auto folded = language::fold(name);
  if (folded.find('@') != std::string::npos) return {};
  std::replace(name.begin(), name.end(), ',', ' ');
  return folded.find(',') == std::string::npos || language::fold(name).find(',') == std::string::npos ? name : std::string();
}

std::string join_owners(const drive::file& file) {
  std::string out;
  for (std::size_t i = 0; i < std::min(max_owners, file.owners.size()); ++i) {
    const auto owner = file.owners[i].email.empty() ? sanitize_name(file.owners[i].name) : file.owners[i].email;
    if (owner.empty()) continue;
    if (!out.empty()) out += owner_separator;
    out += owner;
  }
  return out;
}

}  // namespace

shared_item make_item(const drive::file& file, std::string home) {
  item created;
  created.id = file.id;
  created.name = file.name;
  created.mime_type = file.mime_type;
  if (!file.parents.empty()) created.parent = file.parents.front();
  created.home = std::move(home);
  created.version = file.version;
  created.content_version = !file.md5.empty() ? file.md5 : file.head_revision;
  created.owner = join_owners(file);
  created.web_link = file.web_link;
  created.resource_key = file.resource_key;
  if (file.shortcut_target) {
    created.target = file.shortcut_target->target;
    created.target_type = file.shortcut_target->target_type;
    created.target_key = file.shortcut_target->target_key;
  }
  created.size = file.size;
  created.modified = file.modified;
  created.created = file.created;
  created.is_trashed = file.is_trashed;
  created.is_starred = file.is_starred;
  created.is_download_denied = file.can_download == false;
  return std::make_shared<const item>(std::move(created));
}

std::string version_of(const item& item) {
  constexpr std::string_view editors = "application/vnd.google-apps.";
  // Files of Google's editors have revisions without bytes; for these `version` grows with each change.
  const bool has_bytes = !item.mime_type.starts_with(editors);
  // A reader of an earlier version must notice that the file can no longer be downloaded.
  return (has_bytes && !item.content_version.empty() ? item.content_version : item.version) +
         (item.is_download_denied ? "-barred" : "");
}

priority_rating rate_item(const item& item, std::size_t shortcut_count, std::chrono::system_clock::time_point now) {
  using namespace std::chrono_literals;
  constexpr auto day = 24h;
  constexpr double max_priority = 0.95;
  priority_rating rating;
  const auto add = [&rating](double amount, const char* reason) {
    rating.priority += amount;
    (rating.reason += rating.reason.empty() ? "" : ", ") += reason;
  };
  if (item.is_starred) add(0.2, "starred");
  if (shortcut_count >= 3) add(0.15, "target of three or more shortcuts");
  if (shortcut_count > 0 && shortcut_count < 3) add(0.1, "target of a shortcut");
  if (item.modified) {
    const auto age = now - *item.modified;
    if (age <= 7 * day) {
      add(0.15, "changed within a week");
    } else if (age <= 30 * day) {
      add(0.1, "changed within a month");
    } else if (age > 730 * day) {
      add(-0.1, "not changed for two years");
    }
  }
  // Round away binary fractions such as 0.7500000001.
  rating.priority = std::round(std::min(max_priority, rating.priority) * 100) / 100;
  if (rating.reason.empty()) rating.reason = "as usual";
  return rating;
}

namespace {

constexpr std::string_view google_prefix = "application/vnd.google-apps.";

constexpr std::string_view xlsx_type = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";
constexpr std::string_view pptx_type = "application/vnd.openxmlformats-officedocument.presentationml.presentation";

struct known_type {
  std::string_view mime_type;
  content_format format;
};

constexpr std::array known_types{
    known_type{drive::folder_type, {read_method::folder, "folder", {}, "inode/directory", {}, true}},
    known_type{drive::shortcut_type, {read_method::shortcut, "shortcut", {}, {}, {}, false}},
    known_type{drive::document_type, {read_method::exported, "document", "text/markdown", "text/markdown", {}, true}},
    known_type{drive::spreadsheet_type,
               {read_method::workbook, "spreadsheet", xlsx_type, "text/csv", rendering::format::xlsx, true}},
    known_type{drive::presentation_type,
               {read_method::slides, "presentation", pptx_type, "text/markdown", rendering::format::pptx, true}},
    known_type{drive::drawing_type, {read_method::exported, "drawing", "image/png", "image/png", {}, false}},
    known_type{drive::script_type,
               {read_method::exported, "script", "application/vnd.google-apps.script+json", "application/json", {}, true}},
};

}  // namespace

bool is_google_type(std::string_view mime_type) noexcept { return mime_type.starts_with(google_prefix); }

content_format format_of(const item& item) noexcept {
  for (const auto& entry : known_types) {
    if (entry.mime_type == item.mime_type) return entry.format;
  }
  if (is_google_type(item.mime_type)) return {read_method::none, "other", {}, item.mime_type, {}, false};
  const auto rendered = rendering::detect_format(item.mime_type, item.name);
  if (!rendered) return {read_method::bytes, "file", {}, item.mime_type, {}, false};
  const bool is_pdf = *rendered == rendering::format::pdf;
  return {read_method::rendered, "file", {}, is_pdf ? "text/plain" : "text/markdown", rendered, true};
}

std::string type_word(std::string_view mime_type) {
  mime_type.remove_prefix(std::min(mime_type.size(), is_google_type(mime_type) ? google_prefix.size() : 0));
  std::string out;
  for (const char c : mime_type.substr(0, 40)) out += (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ? c : '-';
  return out;
}

}  // namespace hondana::gdrive
