/// files.get, what files have, exports and export links.
#include <boost/json.hpp>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "drive/stand_in/errors.hpp"
#include "drive/stand_in/exports.hpp"
#include "drive/stand_in/resource.hpp"
#include "drive/stand_in/world.hpp"

namespace drive_test {
namespace {

namespace json = boost::json;

/// "bytes=0-99", "bytes=100-" and "bytes=-50"; nothing for another form, which is as if there were none.
std::optional<std::pair<std::size_t, std::size_t>> range_of(std::string_view text, std::size_t size, bool& is_outside) {
  if (!text.starts_with("bytes=") || text.find(',') != std::string_view::npos) return std::nullopt;
  text.remove_prefix(6);
  const auto dash = text.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto number = [](std::string_view digits) -> std::optional<std::size_t> {
    std::size_t out = 0;
    const auto [end, trouble] = std::from_chars(digits.data(), digits.data() + digits.size(), out);
    if (digits.empty() || trouble != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
    return out;
  };
  const auto first = number(text.substr(0, dash));
  const auto last = number(text.substr(dash + 1));
  if (!first && !last) return std::nullopt;
  if (!first) {
    is_outside = *last == 0 || size == 0;
    return std::pair(size - std::min(size, *last), size);
  }
  if (last && *last < *first) return std::nullopt;
  is_outside = *first >= size;
  return std::pair(*first, last ? std::min(size, *last + 1) : size);
}

answer media_of(const call& of, const held_file& one) {
  const auto& is = one.is;
  if (is_editors(is.type)) refuse(403, "fileNotDownloadable", {}, {}, {"parameter", "alt"});
  const auto role = of.in.files.role_of(of.user(), one);
  if (!is.may_download && (role.empty() || role == "reader" || role == "commenter")) refuse(403, "cannotDownloadFile");
  if (is.is_abusive) {
    if (!of.from.is_set("acknowledgeAbuse")) refuse(403, "cannotDownloadAbusiveFile");
    if (role != "owner" && role != "organizer" && role != "fileOrganizer") refuse(403, "invalidAbuseAcknowledgment");
  }
  answer out;
  out.type = is.type;
  out.more_fields =
      "Content-Disposition: attachment\r\nCache-Control: private, max-age=0, must-revalidate\r\nX-Goog-Hash: md5=" +
      digest("md5", is.bytes) + "\r\n";
  bool is_outside = false;
  const auto range = range_of(of.from.field("range"), is.bytes.size(), is_outside);
  if (is_outside) {
    auto none = error_of(416, "requestedRangeNotSatisfiable", {}, {}, {"header", "Range"});
    none.more_fields = "Content-Range: bytes */" + std::to_string(is.bytes.size()) + "\r\n";
    throw refused(std::move(none));
  }
  if (!range) {
    out.body = is.bytes;
    return out;
  }
  out.status = 206;
  out.body = is.bytes.substr(range->first, range->second - range->first);
  out.more_fields += "Content-Range: bytes " + std::to_string(range->first) + '-' + std::to_string(range->second - 1) + '/' +
                     std::to_string(is.bytes.size()) + "\r\n";
  return out;
}

answer export_of(const held_file& one, const std::string& as) {
  auto made = exported(one.is, as);
  if (!made) refuse(400, "badRequest", {}, "The requested conversion is not supported.", {"parameter", "convertTo"});
  answer out;
  out.type = as;
  out.more_fields = "Content-Disposition: attachment\r\nCache-Control: private, max-age=0, must-revalidate\r\n";
  out.is_chunked = true;
  out.body = std::move(*made);
  return out;
}

void want_download(const call& of, const held_file& one) {
  const auto role = of.in.files.role_of(of.user(), one);
  if (!one.is.may_download && (role.empty() || role == "reader" || role == "commenter")) refuse(403, "cannotExportFile");
}

std::string type_of_format(const held_file& one, const std::string& format) {
  for (const auto& type : export_types(one.is.type)) {
    if (export_format(type) == format) return type;
  }
  return "";
}

}  // namespace

const held_file& known_file(const call& of, const std::string& id) {
  const auto* const one = of.in.files.find(id, of.user());
  if (one == nullptr || !of.in.files.is_reached(of.user(), *one, of.keys)) refuse_file(id);
  if (!one->is.drive.empty() && !of.from.is_set("supportsAllDrives") && !of.from.is_set("supportsTeamDrives")) refuse_file(id);
  return *one;
}

answer get_file(const call& of, const std::string& id) {
  const bool is_media = of.from.parameter("alt") == "media";
  if (is_media)
    want_scope(of, {"drive", "drive.readonly", "drive.file"});
  else
    want_scope(of, {"drive", "drive.readonly", "drive.metadata", "drive.metadata.readonly", "drive.file"});
  const auto& one = known_file(of, id);
  if (is_media) return media_of(of, one);
  return shown(of, shown_file(of.in.files, one, of.user(), of.in.origin, of.keys),
               "kind,id,name,mimeType,resourceKey,driveId,teamDriveId", "file");
}

answer export_file(const call& of, const std::string& id) {
  want_scope(of, {"drive", "drive.readonly", "drive.file"});
  // Exports take no supportsAllDrives: files of shared drives are exported as well.
  const auto* const one = of.in.files.find(id, of.user());
  if (one == nullptr || !of.in.files.is_reached(of.user(), *one, of.keys)) refuse_file(id);
  const auto as = of.from.parameter("mimeType");
  if (as.empty()) refuse(400, "required", "mimeType", {}, {"parameter", "mimeType"});
  if (!is_editors(one->is.type) || one->is.type == mime::folder || one->is.type == mime::shortcut)
    refuse(403, "fileNotExportable");
  want_download(of, *one);
  auto out = export_of(*one, as);
  if (one->is.export_size.value_or(out.body.size()) > of.in.how.most_exported) refuse(403, "exportSizeLimitExceeded");
  return out;
}

answer follow_export_link(const call& of) {
  want_scope(of, {"drive", "drive.readonly", "drive.file"});
  const auto id = of.from.parameter("id");
  const auto* const one = of.in.files.find(id, of.user());
  if (one == nullptr || !of.in.files.is_reached(of.user(), *one, of.keys)) {
    answer none;
    none.status = 404;
    none.type = "text/html; charset=utf-8";
    none.body =
        "<!DOCTYPE html><html><head><title>Page not found</title></head><body>Sorry, unable to open the file.</body></html>";
    return none;
  }
  want_download(of, *one);
  const auto as = type_of_format(*one, of.from.parameter("exportFormat"));
  if (!of.in.how.redirects_export_links) return export_of(*one, as);
  const auto token = made_up(40);
  of.in.signed_exports[token] = id + ' ' + as;
  answer out;
  out.status = 307;
  out.type = "text/html; charset=UTF-8";
  out.more_fields = "Location: " + of.in.origin + "/docs/securesc/" + token + "\r\n";
  return out;
}

answer signed_export(const asked& from, world& in) {
  const auto found = in.signed_exports.find(from.path.substr(from.path.rfind('/') + 1));
  if (found == in.signed_exports.end()) refuse(403, "forbidden");
  const auto blank = found->second.find(' ');
  const auto* const one = in.files.find(found->second.substr(0, blank));
  if (one == nullptr) refuse(404, "notFound");
  auto out = export_of(*one, found->second.substr(blank + 1));
  out.is_chunked = false;
  return out;
}

answer list_permissions(const call& of, const std::string& id) {
  want_scope(of, {"drive", "drive.readonly", "drive.metadata", "drive.metadata.readonly", "drive.file"});
  const auto& one = known_file(of, id);
  const auto whole = shown_file(of.in.files, one, of.user(), of.in.origin, of.keys);
  const auto* const all = whole.if_contains("permissions");
  if (all == nullptr) refuse(403, "insufficientFilePermissions", id);
  return shown(of, {{"kind", "drive#permissionList"}, {"permissions", *all}}, "kind,permissions(kind,id,type,role)",
               "kind nextPageToken permissions");
}

}  // namespace drive_test
