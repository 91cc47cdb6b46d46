/// about, drives.list and files.list: which files, in which order, page by page.
#include <boost/json.hpp>

#include <algorithm>
#include <charconv>
#include <functional>
#include <memory>
#include <tuple>
#include <utility>

#include "drive/stand_in/errors.hpp"
#include "drive/stand_in/exports.hpp"
#include "drive/stand_in/fields.hpp"
#include "drive/stand_in/query.hpp"
#include "drive/stand_in/resource.hpp"
#include "drive/stand_in/world.hpp"

namespace drive_test {
namespace {

namespace json = boost::json;

const json::value* member(const json::object& of, std::string_view name) { return of.if_contains(name); }

/// Of "name_natural desc" and the like: a sign of how two files stand to each other.
int compared(const json::object& one, const json::object& other, const std::string& key) {
  if (key == "folder") {
    const auto is_folder = [](const json::object& of) { return of.at("mimeType").get_string() == mime::folder; };
    return static_cast<int>(is_folder(other)) - static_cast<int>(is_folder(one));
  }
  static const std::map<std::string, std::string> named{{"name_natural", "name"}, {"recency", "modifiedTime"}};
  const auto found = named.find(key);
  const auto name = found == named.end() ? key : found->second;
  const auto* const left = member(one, name);
  const auto* const right = member(other, name);
  if (left == nullptr || right == nullptr) return static_cast<int>(left != nullptr) - static_cast<int>(right != nullptr);
  if (left->is_bool() && right->is_bool()) return static_cast<int>(left->get_bool()) - static_cast<int>(right->get_bool());
  if (!left->is_string() || !right->is_string()) return 0;
  if (key == "quotaBytesUsed" && left->get_string().size() != right->get_string().size())
    return left->get_string().size() < right->get_string().size() ? -1 : 1;
  return left->get_string().compare(right->get_string());
}

std::vector<std::pair<std::string, bool>> order_of(const std::string& text) {
  static const std::set<std::string, std::less<>> known{
      "createdTime",    "folder",  "modifiedByMeTime", "modifiedTime", "name",          "name_natural",
      "quotaBytesUsed", "recency", "sharedWithMeTime", "starred",      "viewedByMeTime"};
  std::vector<std::pair<std::string, bool>> out;
  std::string_view left = text;
  while (!left.empty()) {
    auto one = left.substr(0, left.find(','));
    left.remove_prefix(std::min(one.size() + 1, left.size()));
    while (one.starts_with(' ')) one.remove_prefix(1);
    while (one.ends_with(' ')) one.remove_suffix(1);
    const bool is_descending = one.ends_with(" desc");
    if (is_descending) one.remove_suffix(5);
    if (!known.contains(one)) refuse_parameter("orderBy");
    out.emplace_back(one, is_descending);
  }
  return out;
}

/// What a query is asked in: a user's files, one shared drive, or all.
struct corpus {
  std::string of = "user";
  std::string drive{};
  bool has_drives = false;
};

corpus corpus_of(const call& of) {
  corpus out;
  const auto& from = of.from;
  out.of = from.has("corpora") ? from.parameter("corpora") : "user";
  out.drive = from.parameter("driveId");
  if (out.of != "user" && out.of != "drive" && out.of != "allDrives" && out.of != "domain")
    refuse(400, "invalidParameter", {}, "Invalid value '" + out.of + "' of corpora.", {"parameter", "corpora"});
  const bool supports = from.is_set("supportsAllDrives") || from.is_set("supportsTeamDrives");
  out.has_drives = from.is_set("includeItemsFromAllDrives") || from.is_set("includeTeamDriveItems");
  if ((out.of == "drive") != !out.drive.empty()) refuse(403, "teamDriveIdRequiresTeamDriveCorpora");
  if ((out.of == "drive" || out.of == "allDrives") && !out.has_drives) refuse(403, "includeTeamDriveItemsRequired");
  if (out.has_drives && !supports) refuse(403, "teamDrivesNotSupported");
  if (out.of == "drive") {
    const auto* const drive = of.in.files.find_drive(out.drive);
    if (drive == nullptr || !of.in.files.is_member(of.user(), *drive))
      refuse(404, "notFound", {}, "Shared drive not found: " + out.drive, {"parameter", "driveId"});
  }
  return out;
}

bool is_within(const corpus& where, const call& of, const held_file& one, bool names_parent) {
  if (one.is_root || !of.in.files.is_listed(of.user(), one)) return false;
  if (where.of == "drive") return one.is.drive == where.drive;
  if (one.is.drive.empty()) return true;
  if (where.of == "allDrives") return true;
  if (!where.has_drives) return false;
  // Of what lies in shared drives, a user's own list has what was shared with the user alone, or is asked for by its folder.
  return names_parent || std::any_of(one.is.permissions.begin(), one.is.permissions.end(),
                                     [&](const permission& each) { return each.whom == of.user(); });
}

/// The ids of all that fits.
std::vector<std::string> found(const call& of, const corpus& where, const std::string& q) {
  auto& files = of.in.files;
  const auto root = [&](const std::string& id) {
    if (id == "root") return shelf::root_of(of.user());
    return id == "me" ? of.user() : id;
  };
  const auto is_there = [&](const std::string& id) {
    const auto* const one = files.find(id);
    return one != nullptr && files.is_reached(of.user(), *one, of.keys);
  };
  parsed_query wanted;
  if (!q.empty()) {
    wanted = parse_query(q, queried_list::files, root, is_there);
    if (!wanted.fits) refuse_parameter("q");
    if (!wanted.missing_parent.empty()) refuse_file(wanted.missing_parent);
  }
  const auto order = order_of(of.from.parameter("orderBy"));
  if (!order.empty() && wanted.has_full_text)
    refuse(403, "forbidden", {},
           "Sorting is not supported for queries with fullText terms. Results are always in descending relevance order.");
  std::vector<std::tuple<std::size_t, json::object, std::string>> all;
  for (const auto& [id, one] : files.files()) {
    if (!is_within(where, of, one, wanted.names_parent)) continue;
    auto whole = shown_file(files, one, of.user(), of.in.origin, of.keys);
    const queried as{whole, one.is.bytes, is_shared_with(files, one, of.user())};
    if (wanted.fits && !wanted.fits(as)) continue;
    // Without orderBy there is no order to rely on.
    all.emplace_back(std::hash<std::string>{}(id), order.empty() ? json::object() : std::move(whole), id);
  }
  std::sort(all.begin(), all.end(), [&](const auto& one, const auto& other) {
    for (const auto& [key, is_descending] : order) {
      const auto sign = compared(std::get<1>(one), std::get<1>(other), key);
      if (sign != 0) return is_descending ? sign > 0 : sign < 0;
    }
    return std::tie(std::get<0>(one), std::get<2>(one)) < std::tie(std::get<0>(other), std::get<2>(other));
  });
  std::vector<std::string> out;
  for (auto& one : all) out.push_back(std::move(std::get<2>(one)));
  return out;
}

/// What a page token stands for, when the parameters are those it was given for.
list_page page_of(const call& of, const std::string& asked_for) {
  const auto at = of.in.pages.find(of.from.parameter("pageToken"));
  if (at == of.in.pages.end() || at->second.asked_for != asked_for) refuse_parameter("pageToken");
  if (at->second.expired_with == 403) refuse(403, "pageTokenExpired", {}, {}, {"parameter", "pageToken"});
  if (at->second.expired_with == 410) refuse(410, "gone", {}, {}, {"parameter", "pageToken"});
  if (at->second.expired_with != 0) refuse_parameter("pageToken");
  return at->second;
}

std::string next_token(const call& of, list_page page) {
  // Clients that leave lists half read must not make us grow.
  if (of.in.pages.size() >= 20'000) of.in.pages.clear();
  auto token = "~!!~AI9FV7" + made_up(60);
  of.in.pages[token] = std::move(page);
  return token;
}

}  // namespace

answer about(const call& of) {
  if (!of.from.has("fields"))
    refuse(400, "required", {}, "The 'fields' parameter is required for this method.", {"parameter", "fields"});
  json::object formats;
  for (const auto* const type : {mime::document, mime::spreadsheet, mime::presentation, mime::drawing, mime::script}) {
    json::array all;
    for (const auto& one : export_types(type)) all.emplace_back(one);
    formats[type] = std::move(all);
  }
  json::object whole{
      {"kind", "drive#about"},
      {"user", shown_person(of.user(), of.user())},
      {"storageQuota",
       json::object{{"limit", "16106127360"}, {"usage", "1024"}, {"usageInDrive", "1024"}, {"usageInDriveTrash", "0"}}},
      {"importFormats", json::object()},
      {"exportFormats", std::move(formats)},
      {"maxImportSizes", json::object()},
      {"maxUploadSize", "5242880000000"},
      {"appInstalled", false},
      {"folderColorPalette", json::array{"#ac725e"}},
      {"driveThemes", json::array()},
      {"canCreateDrives", false},
      {"canCreateTeamDrives", false}};
  return shown(of, whole, "*", "");
}

answer list_files(const call& of) {
  want_scope(of, {"drive", "drive.readonly", "drive.metadata", "drive.metadata.readonly", "drive.file"});
  const auto size = page_size(of, 100, 1000);
  const auto where = corpus_of(of);
  const auto q = of.from.parameter("q");
  std::string asked_for = of.user();
  for (const auto* const name : {"q", "orderBy", "corpora", "driveId", "spaces", "includeItemsFromAllDrives"})
    asked_for += '\n' + of.from.parameter(name);
  list_page page;
  if (of.from.has("pageToken") && !of.from.parameter("pageToken").empty()) {
    page = page_of(of, asked_for);
  } else {
    page.asked_for = asked_for;
    page.ids = std::make_shared<const std::vector<std::string>>(found(of, where, q));
  }
  json::array files;
  while (page.at < page.ids->size() && files.size() < size) {
    const auto* const one = of.in.files.find((*page.ids)[page.at++]);
    // It may have gone since the first page.
    if (one == nullptr || !of.in.files.is_listed(of.user(), *one)) continue;
    files.push_back(shown_file(of.in.files, *one, of.user(), of.in.origin, of.keys));
  }
  const bool is_incomplete = of.in.how.says_incomplete && where.of == "allDrives";
  json::object whole{{"kind", "drive#fileList"}, {"incompleteSearch", is_incomplete}, {"files", std::move(files)}};
  if (page.at < page.ids->size()) whole["nextPageToken"] = next_token(of, std::move(page));
  return shown(of, whole, "kind,nextPageToken,incompleteSearch,files(kind,id,name,mimeType,resourceKey,driveId,teamDriveId)",
               "kind nextPageToken incompleteSearch files");
}

answer list_drives(const call& of) {
  want_scope(of, {"drive", "drive.readonly"});
  const auto size = page_size(of, 10, 100);
  const auto q = of.from.parameter("q");
  const auto same = [](const std::string& id) { return id; };
  parsed_query wanted;
  if (!q.empty()) {
    wanted = parse_query(q, queried_list::drives, same, [](const std::string&) { return true; });
    if (!wanted.fits) refuse_parameter("q");
  }
  list_page page;
  if (const auto asked_for = of.user() + "\ndrives\n" + q; !of.from.parameter("pageToken").empty()) {
    page = page_of(of, asked_for);
  } else {
    std::vector<std::string> ids;
    for (const auto& [id, one] : of.in.files.drives()) {
      const auto whole = shown_drive(one);
      if (of.in.files.is_member(of.user(), one) && (!wanted.fits || wanted.fits({whole, id}))) ids.push_back(id);
    }
    page.asked_for = asked_for;
    page.ids = std::make_shared<const std::vector<std::string>>(std::move(ids));
  }
  json::array drives;
  while (page.at < page.ids->size() && drives.size() < size) {
    const auto* const one = of.in.files.find_drive((*page.ids)[page.at++]);
    if (one != nullptr && of.in.files.is_member(of.user(), *one)) drives.push_back(shown_drive(*one));
  }
  json::object whole{{"kind", "drive#driveList"}, {"drives", std::move(drives)}};
  if (page.at < page.ids->size()) whole["nextPageToken"] = next_token(of, std::move(page));
  return shown(of, whole, "kind,nextPageToken,drives(kind,id,name)", "kind nextPageToken drives");
}

answer get_drive(const call& of, const std::string& id) {
  want_scope(of, {"drive", "drive.readonly"});
  const auto* const one = of.in.files.find_drive(id);
  if (one == nullptr || !of.in.files.is_member(of.user(), *one))
    refuse(404, "notFound", {}, "Shared drive not found: " + id, {"parameter", "driveId"});
  return shown(of, shown_drive(*one), "kind,id,name", "");
}

std::size_t page_size(const call& of, std::size_t usual, std::size_t most) {
  if (!of.from.has("pageSize")) return usual;
  const auto text = of.from.parameter("pageSize");
  std::size_t out = 0;
  const auto [end, trouble] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (trouble != std::errc() || end != text.data() + text.size() || out < 1 || out > most)
    refuse(400, "invalidParameter", {},
           "Invalid value '" + text + "'. Values must be within the range: [1, " + std::to_string(most) + "]",
           {"parameter", "pageSize"});
  return out;
}

answer shown(const call& of, const json::object& whole, std::string_view usual, std::string_view top) {
  static const std::set<std::string, std::less<>> of_files{"kind",
                                                           "id",
                                                           "name",
                                                           "mimeType",
                                                           "description",
                                                           "starred",
                                                           "trashed",
                                                           "explicitlyTrashed",
                                                           "trashingUser",
                                                           "trashedTime",
                                                           "parents",
                                                           "properties",
                                                           "appProperties",
                                                           "spaces",
                                                           "version",
                                                           "webContentLink",
                                                           "webViewLink",
                                                           "iconLink",
                                                           "hasThumbnail",
                                                           "thumbnailLink",
                                                           "thumbnailVersion",
                                                           "viewedByMe",
                                                           "viewedByMeTime",
                                                           "createdTime",
                                                           "modifiedTime",
                                                           "modifiedByMeTime",
                                                           "modifiedByMe",
                                                           "sharedWithMeTime",
                                                           "sharingUser",
                                                           "owners",
                                                           "teamDriveId",
                                                           "driveId",
                                                           "lastModifyingUser",
                                                           "shared",
                                                           "ownedByMe",
                                                           "capabilities",
                                                           "viewersCanCopyContent",
                                                           "copyRequiresWriterPermission",
                                                           "writersCanShare",
                                                           "permissions",
                                                           "permissionIds",
                                                           "hasAugmentedPermissions",
                                                           "folderColorRgb",
                                                           "originalFilename",
                                                           "fullFileExtension",
                                                           "fileExtension",
                                                           "md5Checksum",
                                                           "sha1Checksum",
                                                           "sha256Checksum",
                                                           "size",
                                                           "quotaBytesUsed",
                                                           "headRevisionId",
                                                           "contentHints",
                                                           "imageMediaMetadata",
                                                           "videoMediaMetadata",
                                                           "isAppAuthorized",
                                                           "exportLinks",
                                                           "shortcutDetails",
                                                           "contentRestrictions",
                                                           "resourceKey",
                                                           "linkShareMetadata",
                                                           "labelInfo",
                                                           "inheritedPermissionsDisabled",
                                                           "downloadRestrictions",
                                                           "*"};
  const auto text = of.from.has("fields") ? of.from.parameter("fields") : std::string(usual);
  const auto mask = parse_fields(text);
  const auto bad = [](const std::string& name) { refuse(400, "invalidParameter", name, {}, {"parameter", "fields"}); };
  if (!mask) bad(text);
  const std::string known = ' ' + std::string(top) + " * ";
  const bool is_file = top == "file";
  const auto check_file = [&](const field_mask& below) {
    for (const auto& [name, inner] : below.below) {
      if (!of_files.contains(name)) bad(name);
    }
  };
  if (is_file) check_file(*mask);
  for (const auto& [name, below] : mask->below) {
    if (!is_file && !top.empty() && known.find(' ' + name + ' ') == std::string::npos) bad(name);
    if (name == "files") check_file(below);
  }
  auto out = masked(whole, *mask);
  const auto clean = [](json::object& one) {
    one.erase("#readers");
    one.erase("#writers");
  };
  clean(out.as_object());
  if (auto* const files = out.as_object().if_contains("files"); files != nullptr) {
    for (auto& one : files->as_array()) clean(one.as_object());
  }
  if (auto* const changes = out.as_object().if_contains("changes"); changes != nullptr) {
    for (auto& one : changes->as_array()) {
      if (auto* const file = one.as_object().if_contains("file")) clean(file->as_object());
    }
  }
  answer made;
  made.body = json::serialize(out);
  return made;
}

}  // namespace drive_test
