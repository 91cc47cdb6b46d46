/// changes.getStartPageToken, changes.list, changes.watch and channels.stop.
#include <boost/json.hpp>

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

#include "drive/stand_in/errors.hpp"
#include "drive/stand_in/resource.hpp"
#include "drive/stand_in/world.hpp"

namespace drive_test {
namespace {

namespace json = boost::json;

/// The log that a request is about: a shared drive, or the user's own.
std::string log_of(const call& of) {
  want_scope(of, {"drive", "drive.readonly", "drive.metadata", "drive.metadata.readonly", "drive.file"});
  const auto id = of.from.has("driveId") ? of.from.parameter("driveId") : of.from.parameter("teamDriveId");
  const bool supports = of.from.is_set("supportsAllDrives") || of.from.is_set("supportsTeamDrives");
  const bool includes = of.from.is_set("includeItemsFromAllDrives") || of.from.is_set("includeTeamDriveItems");
  if ((!id.empty() || includes) && !supports) refuse(403, "teamDrivesNotSupported");
  if (id.empty()) return "";
  const auto* const drive = of.in.files.find_drive(id);
  if (drive == nullptr || !of.in.files.is_member(of.user(), *drive))
    refuse(404, "notFound", {}, "Shared drive not found: " + id, {"parameter", "driveId"});
  return id;
}

std::int64_t number_of(const call& of) {
  if (!of.from.has("pageToken")) refuse(400, "required", "pageToken", {}, {"parameter", "pageToken"});
  const auto text = of.from.parameter("pageToken");
  std::int64_t out = 0;
  const auto [end, trouble] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (trouble != std::errc() || end != text.data() + text.size() || out < 1 || out > of.in.files.next_change())
    refuse_parameter("pageToken");
  if (out < of.in.first_change) {
    if (of.in.expired_with == 403) refuse(403, "pageTokenExpired", {}, {}, {"parameter", "pageToken"});
    if (of.in.expired_with == 410) refuse(410, "gone", {}, {}, {"parameter", "pageToken"});
    refuse_parameter("pageToken");
  }
  return out;
}

json::object shown_change(const call& of, const change& one) {
  auto& files = of.in.files;
  json::object out{{"kind", "drive#change"}, {"time", one.time}};
  if (one.is_drive) {
    const auto* const drive = files.find_drive(one.id);
    const bool is_seen = drive != nullptr && files.is_member(of.user(), *drive);
    out["changeType"] = "drive";
    out["type"] = "drive";
    out["driveId"] = one.id;
    out["teamDriveId"] = one.id;
    out["removed"] = !is_seen;
    if (is_seen) out["drive"] = shown_drive(*drive);
    return out;
  }
  const auto* const file = files.find(one.id);
  const bool is_seen = file != nullptr && files.is_listed(of.user(), *file);
  out["changeType"] = "file";
  out["type"] = "file";
  out["fileId"] = one.id;
  out["removed"] = !is_seen;
  if (is_seen) out["file"] = shown_file(files, *file, of.user(), of.in.origin, of.keys);
  return out;
}

bool is_removal(const json::object& shown) { return shown.at("removed").get_bool(); }

}  // namespace

answer start_page_token(const call& of) {
  log_of(of);
  return shown(of, {{"kind", "drive#startPageToken"}, {"startPageToken", std::to_string(of.in.files.next_change())}}, "*",
               "kind startPageToken");
}

answer list_changes(const call& of) {
  const auto log = log_of(of);
  const auto from = number_of(of);
  const auto size = page_size(of, 100, 1000);
  const bool has_removed = !of.from.has("includeRemoved") || of.from.is_set("includeRemoved");
  // Of each file its last change alone.
  std::map<std::string, std::int64_t> last;
  for (const auto& one : of.in.files.changes()) {
    if (one.number >= from && one.log == log) last[one.id] = one.number;
  }
  json::array changes;
  std::int64_t next = 0;
  for (const auto& one : of.in.files.changes()) {
    if (one.number < from || one.log != log || last[one.id] != one.number) continue;
    if (!one.seen_by.contains(of.user())) continue;
    auto shown = shown_change(of, one);
    if (!has_removed && is_removal(shown)) continue;
    if (changes.size() == size) {
      next = one.number;
      break;
    }
    changes.push_back(std::move(shown));
  }
  json::object whole{{"kind", "drive#changeList"}, {"changes", std::move(changes)}};
  if (next != 0)
    whole["nextPageToken"] = std::to_string(next);
  else
    whole["newStartPageToken"] = std::to_string(of.in.files.next_change());
  return shown(of, whole,
               "kind,nextPageToken,newStartPageToken,changes(kind,changeType,type,time,removed,fileId,driveId,teamDriveId,"
               "file(kind,id,name,mimeType,resourceKey,driveId,teamDriveId),drive(kind,id,name))",
               "kind nextPageToken newStartPageToken changes");
}

answer watch_changes(const call& of) {
  const auto log = log_of(of);
  const auto from = number_of(of);
  boost::system::error_code trouble;
  const auto parsed = json::parse(of.from.body, trouble);
  const auto* const wanted = parsed.if_object();
  if (trouble || wanted == nullptr) refuse(400, "badRequest", {}, "Invalid JSON payload received.");
  const auto text = [&](std::string_view name) {
    const auto* const one = wanted->if_contains(name);
    return one != nullptr && one->is_string() ? std::string(one->get_string()) : std::string();
  };
  channel made;
  made.id = text("id");
  made.token = text("token");
  made.address = text("address");
  made.user = of.user();
  made.log = log;
  const auto type = text("type");
  if (made.id.empty() || made.id.size() > 64) refuse(400, "required", "id", "Invalid value for: id");
  if (type != "web_hook" && type != "webhook") refuse(400, "invalid", {}, "Unsupported type: " + type);
  if (made.token.size() > 256) refuse(400, "invalid", {}, "Channel token too long");
  const bool is_loopback = loopback_port(made.address) != 0;
  if (!made.address.starts_with("https://") && !is_loopback) refuse(400, "push.webhookUrlNotHttps", made.address);
  if (!is_loopback && of.in.how.notices_to == 0)
    refuse(401, "push.webhookUrlUnauthorized", {}, "Unauthorized WebHook callback channel: " + made.address);
  if (of.in.channels.contains(made.id)) refuse(400, "channelIdNotUnique", made.id);
  const auto now = now_ms();
  made.expires = now + 3'600'000;
  if (const auto* const asked = wanted->if_contains("expiration")) {
    std::int64_t until = 0;
    if (asked->is_string())
      std::from_chars(asked->get_string().data(), asked->get_string().data() + asked->get_string().size(), until);
    else if (asked->is_int64())
      until = asked->get_int64();
    // A week at most, whatever is asked for.
    made.expires = std::min<std::int64_t>(until, now + 7 * 86'400'000);
    if (made.expires <= now) refuse(400, "invalid", {}, "Invalid expiration");
  }
  if (const auto* const more = wanted->if_contains("params"); more != nullptr && more->is_object()) {
    std::int64_t ttl = 0;
    if (const auto* const asked = more->get_object().if_contains("ttl"); asked != nullptr && asked->is_string())
      std::from_chars(asked->get_string().data(), asked->get_string().data() + asked->get_string().size(), ttl);
    if (ttl > 0) made.expires = now + std::min<std::int64_t>(ttl, 7 * 86'400) * 1000;
  }
  made.resource = made_up(27);
  made.resource_uri = "https://www.googleapis.com/drive/v3/changes?alt=json&pageToken=" + std::to_string(from);
  if (!log.empty()) made.resource_uri += "&driveId=" + log;
  json::object whole{{"kind", "api#channel"},
                     {"id", made.id},
                     {"resourceId", made.resource},
                     {"resourceUri", made.resource_uri},
                     {"expiration", std::to_string(made.expires)}};
  if (!made.token.empty()) whole["token"] = made.token;
  of.in.channels[made.id] = made;
  if (of.in.on_channel) of.in.on_channel(of.in.channels[made.id], "sync");
  answer out;
  out.body = json::serialize(whole);
  return out;
}

answer stop_channel(const call& of) {
  boost::system::error_code trouble;
  const auto parsed = json::parse(of.from.body, trouble);
  const auto* const wanted = parsed.if_object();
  if (trouble || wanted == nullptr) refuse(400, "badRequest", {}, "Invalid JSON payload received.");
  const auto text = [&](std::string_view name) {
    const auto* const one = wanted->if_contains(name);
    return one != nullptr && one->is_string() ? std::string(one->get_string()) : std::string();
  };
  const auto id = text("id");
  const auto found = of.in.channels.find(id);
  if (found == of.in.channels.end() || found->second.resource != text("resourceId") || found->second.user != of.user())
    refuse(404, "notFound", {}, "Channel '" + id + "' not found for project '1234567890'");
  of.in.channels.erase(found);
  answer out;
  out.status = 204;
  out.type.clear();
  return out;
}

}  // namespace drive_test
