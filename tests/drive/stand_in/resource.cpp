/// Which members a file's resource has.
#include "drive/stand_in/resource.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <string>
#include <utility>

#include "drive/stand_in/exports.hpp"
#include "drive/stand_in/web.hpp"

namespace drive_test {
namespace {

namespace json = boost::json;

std::string permission_id(const permission& one) {
  if (one.type == "anyone") return one.is_found ? "anyone" : "anyoneWithLink";
  std::string out;
  for (const char c : digest("sha256", one.type + one.whom).substr(0, 20))
    out += static_cast<char>(c <= '9' ? c : '0' + c % 10);
  return out;
}

json::object shown_permission(const permission& one) {
  json::object out{{"kind", "drive#permission"}, {"id", permission_id(one)}, {"type", one.type}, {"role", one.role}};
  if (one.type == "user" || one.type == "group") out["emailAddress"] = one.whom;
  if (one.type == "domain") out["domain"] = one.whom;
  if (one.type == "anyone" || one.type == "domain") out["allowFileDiscovery"] = one.is_found;
  return out;
}

std::string view_link(const file& one) {
  const auto at = [&](const char* place, const char* verb) { return std::string(place) + one.id + verb; };
  if (one.type == mime::folder) return at("https://drive.google.com/drive/folders/", "");
  if (one.type == mime::document) return at("https://docs.google.com/document/d/", "/edit?usp=drivesdk");
  if (one.type == mime::spreadsheet) return at("https://docs.google.com/spreadsheets/d/", "/edit?usp=drivesdk");
  if (one.type == mime::presentation) return at("https://docs.google.com/presentation/d/", "/edit?usp=drivesdk");
  if (one.type == mime::drawing) return at("https://docs.google.com/drawings/d/", "/edit?usp=drivesdk");
  if (one.type == mime::script) return at("https://script.google.com/d/", "/edit?usp=drivesdk");
  return at("https://drive.google.com/file/d/", "/view?usp=drivesdk");
}

json::object export_links(const file& one, const std::string& origin) {
  json::object out;
  for (const auto& type : export_types(one.type)) {
    if (one.type == mime::script)
      out[type] = origin + "/feeds/download/export/Export?id=" + one.id + "&exportFormat=" + export_format(type);
    else if (one.type == mime::spreadsheet)
      out[type] = origin + "/spreadsheets/export?id=" + one.id + "&exportFormat=" + export_format(type);
    else
      out[type] = origin + "/feeds/download/documents/export/Export?id=" + one.id + "&exportFormat=" + export_format(type);
  }
  return out;
}

void show_content(json::object& into, const file& one, const std::string& origin) {
  if (one.type == mime::folder || one.type == mime::shortcut) return;
  if (is_editors(one.type)) {
    if (one.has_size) into["size"] = std::to_string(std::max<std::size_t>(1024, one.bytes.size()));
    if (!export_types(one.type).empty()) into["exportLinks"] = export_links(one, origin);
    return;
  }
  if (one.has_size) into["size"] = std::to_string(one.bytes.size());
  into["md5Checksum"] = digest("md5", one.bytes);
  into["sha1Checksum"] = digest("sha1", one.bytes);
  into["sha256Checksum"] = digest("sha256", one.bytes);
  into["webContentLink"] = "https://drive.google.com/uc?id=" + one.id + "&export=download";
  into["originalFilename"] = one.name;
  const auto dot = one.name.rfind('.');
  into["fileExtension"] = dot == std::string::npos ? "" : one.name.substr(dot + 1);
  into["fullFileExtension"] = into["fileExtension"];
  into["headRevisionId"] = "0B" + digest("md5", one.bytes).substr(0, 30);
}

void show_people(json::object& into, const shelf& in, const held_file& one, const std::string& user) {
  const auto role = in.role_of(user, one);
  const bool may_share = role == "owner" || role == "writer" || role == "organizer" || role == "fileOrganizer";
  into["capabilities"] = json::object{{"canDownload", one.is.may_download || may_share},
                                      {"canCopy", one.is.may_download || may_share},
                                      {"canEdit", may_share},
                                      {"canShare", may_share},
                                      {"canListChildren", one.is.type == mime::folder},
                                      {"canReadRevisions", may_share},
                                      {"canTrash", role == "owner" || role == "organizer"},
                                      {"canDelete", role == "owner" || role == "organizer"}};
  into["shared"] = one.is.permissions.size() > 1 || !one.is.drive.empty();
  into["ownedByMe"] = one.is.drive.empty() && one.is.owner == user;
  json::array readers;
  json::array writers;
  json::array ids;
  json::array all;
  for (const auto& each : one.is.permissions) {
    readers.emplace_back(each.whom);
    if (each.role == "owner" || each.role == "writer") writers.emplace_back(each.whom);
    ids.emplace_back(permission_id(each));
    all.push_back(shown_permission(each));
  }
  if (one.is.drive.empty()) into["owners"] = json::array{shown_person(one.is.owner, user)};
  if (may_share && one.is.drive.empty()) {
    into["permissions"] = std::move(all);
    into["permissionIds"] = std::move(ids);
  }
  into["#readers"] = std::move(readers);
  into["#writers"] = std::move(writers);
  if (!one.changed_by.empty()) into["lastModifyingUser"] = shown_person(one.changed_by, user);
}

}  // namespace

json::object shown_person(const std::string& address, const std::string& user) {
  auto name = address.substr(0, address.find('@'));
  if (!name.empty() && name[0] >= 'a' && name[0] <= 'z') name[0] = static_cast<char>(name[0] - 32);
  return {{"kind", "drive#user"},
          {"displayName", name},
          {"me", address == user},
          {"permissionId", permission_id({"user", "reader", address})},
          {"emailAddress", address}};
}

bool is_shared_with(const shelf& in, const held_file& one, const std::string& user) {
  if (one.is_root || !one.is.drive.empty() || one.is.owner == user) return false;
  return std::any_of(one.is.permissions.begin(), one.is.permissions.end(),
                     [&](const permission& each) { return each.whom == user; }) &&
         in.find(one.is.parent) != nullptr;
}

json::object shown_file(const shelf& in, const held_file& one, const std::string& user, const std::string& origin,
                        const resource_keys& with) {
  const auto& is = one.is;
  json::object out{{"kind", "drive#file"}, {"id", is.id}, {"name", is.name}, {"mimeType", is.type}};
  out["starred"] = std::find(is.starred_by.begin(), is.starred_by.end(), user) != is.starred_by.end();
  out["trashed"] = in.is_trashed(one);
  out["explicitlyTrashed"] = is.is_trashed;
  if (!one.is_root) {
    // Who does not see the folder is not told of it.
    const auto* const above = in.find(is.parent);
    if (above != nullptr && in.is_reached(user, *above, with)) out["parents"] = json::array{json::string(is.parent)};
  }
  out["spaces"] = json::array{"drive"};
  out["version"] = std::to_string(one.version);
  out["webViewLink"] = view_link(is);
  out["iconLink"] = "https://drive-thirdparty.googleusercontent.com/16/type/" + is.type;
  out["hasThumbnail"] = false;
  out["thumbnailVersion"] = "0";
  out["viewedByMe"] = false;
  out["createdTime"] = is.created;
  out["modifiedTime"] = is.modified;
  out["modifiedByMe"] = is.owner == user;
  if (is.owner == user) out["modifiedByMeTime"] = is.modified;
  if (is_shared_with(in, one, user)) {
    out["sharedWithMeTime"] = is.created;
    out["sharingUser"] = shown_person(is.owner, user);
  }
  out["quotaBytesUsed"] = std::to_string(is_editors(is.type) ? 0 : is.bytes.size());
  out["isAppAuthorized"] = false;
  out["viewersCanCopyContent"] = is.may_download;
  out["copyRequiresWriterPermission"] = !is.may_download;
  out["writersCanShare"] = true;
  if (!is.drive.empty()) {
    out["driveId"] = is.drive;
    out["teamDriveId"] = is.drive;
  }
  if (!is.resource_key.empty()) {
    out["resourceKey"] = is.resource_key;
    out["linkShareMetadata"] = json::object{{"securityUpdateEligible", true}, {"securityUpdateEnabled", is.needs_key}};
  }
  if (is.type == mime::shortcut) {
    json::object details{{"targetId", is.target}};
    if (const auto* const target = in.find(is.target)) {
      details["targetMimeType"] = target->is.type;
      if (!target->is.resource_key.empty()) details["targetResourceKey"] = target->is.resource_key;
    }
    out["shortcutDetails"] = std::move(details);
  }
  show_content(out, is, origin);
  show_people(out, in, one, user);
  if (!is.more.empty()) {
    const auto more = json::parse(is.more);
    for (const auto& [name, value] : more.as_object()) out[name] = value;
  }
  return out;
}

json::object shown_drive(const held_drive& one) {
  return {{"kind", "drive#drive"},
          {"id", one.is.id},
          {"name", one.is.name},
          {"colorRgb", "#0f9d58"},
          {"createdTime", one.is.created},
          {"hidden", one.is.is_hidden},
          {"capabilities", json::object{{"canListChildren", true}, {"canDownload", true}, {"canEdit", false}}},
          {"restrictions", json::object{{"adminManagedRestrictions", false}, {"driveMembersOnly", false}}}};
}

}  // namespace drive_test
