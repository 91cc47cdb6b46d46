/// Which members a seed has, and what they mean.
#include "drive/stand_in/seed.hpp"

#include <boost/json.hpp>

#include <chrono>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>

#include "drive/stand_in/web.hpp"

namespace drive_test {
namespace {

namespace json = boost::json;

void take_text(const json::object& from, std::string_view name, std::string& into) {
  if (from.contains(name)) into = text_in(from, name);
}

void take_flag(const json::object& from, std::string_view name, bool& into) {
  if (const auto* const one = from.if_contains(name)) into = one->as_bool();
}

template <class Number>
void take_number(const json::object& from, std::string_view name, Number& into) {
  if (const auto* const one = from.if_contains(name)) into = one->to_number<Number>();
}

void take_time(const json::object& from, std::string_view name, std::chrono::milliseconds& into) {
  if (const auto* const one = from.if_contains(name)) into = std::chrono::milliseconds(one->to_number<std::int64_t>());
}

void take_texts(const json::object& from, std::string_view name, std::vector<std::string>& into) {
  const auto* const all = from.if_contains(name);
  if (all == nullptr) return;
  into.clear();
  for (const auto& one : all->as_array()) into.emplace_back(one.as_string());
}

std::string from_base64(std::string text) {
  for (auto& c : text) c = c == '+' ? '-' : c == '/' ? '_' : c;
  const auto out = from_base64url(text);
  if (!out) throw std::runtime_error("\"base64\" is none");
  return *out;
}

/// So many documents and plain files in folders of so many; each has words of its own.
void generate(stand_in& into, const json::object& from) {
  std::size_t files = 0;
  std::size_t in_each = 50;
  std::string type = mime::document;
  take_number(from, "files", files);
  take_number(from, "perFolder", in_each);
  take_text(from, "mimeType", type);
  std::string folder;
  for (std::size_t i = 0; i < files; ++i) {
    if (i % in_each == 0) folder = into.folder("generated/folder " + std::to_string(i / in_each));
    const auto number = std::to_string(i);
    file one;
    one.id = "generated-" + number;
    one.name = "Document " + number + (type == "text/plain" ? ".txt" : "");
    one.type = type;
    one.parent = folder;
    one.modified = rfc3339(1'700'000'000'000 + static_cast<std::int64_t>(i) * 60'000);
    one.bytes = "# Document " + number + "\n\nThe word of this document is w" + digest("sha1", number).substr(0, 10) +
                ".\n\n## Details\n\nIt is number " + number + " of those that were made for a crawl.\n";
    into.add(std::move(one));
  }
}

}  // namespace

std::string text_in(const json::object& from, std::string_view name) {
  const auto* const one = from.if_contains(name);
  if (one == nullptr) return "";
  if (!one->is_string()) throw std::runtime_error('"' + std::string(name) + "\" must be a string");
  return std::string(one->get_string());
}

permission permission_of(const json::object& from) {
  permission out;
  take_text(from, "type", out.type);
  take_text(from, "role", out.role);
  take_text(from, "whom", out.whom);
  take_flag(from, "isFound", out.is_found);
  return out;
}

void take(file& into, const json::object& from) {
  take_text(from, "name", into.name);
  take_text(from, "mimeType", into.type);
  take_text(from, "parent", into.parent);
  take_text(from, "drive", into.drive);
  take_text(from, "owner", into.owner);
  take_text(from, "text", into.bytes);
  if (from.contains("base64")) into.bytes = from_base64(text_in(from, "base64"));
  take_text(from, "createdTime", into.created);
  take_text(from, "modifiedTime", into.modified);
  take_text(from, "target", into.target);
  take_text(from, "resourceKey", into.resource_key);
  take_flag(from, "needsKey", into.needs_key);
  take_flag(from, "isAbusive", into.is_abusive);
  take_flag(from, "mayDownload", into.may_download);
  take_flag(from, "hasSize", into.has_size);
  take_flag(from, "trashed", into.is_trashed);
  take_texts(from, "starredBy", into.starred_by);
  if (const auto* const size = from.if_contains("exportSize")) into.export_size = size->to_number<std::size_t>();
  if (const auto* const more = from.if_contains("more")) into.more = json::serialize(more->as_object());
  if (const auto* const all = from.if_contains("sheets")) {
    into.sheets.clear();
    for (const auto& one : all->as_array()) {
      sheet made{text_in(one.as_object(), "name"), {}};
      for (const auto& row : one.at("rows").as_array()) {
        auto& cells = made.rows.emplace_back();
        for (const auto& cell : row.as_array()) cells.emplace_back(cell.as_string());
      }
      into.sheets.push_back(std::move(made));
    }
  }
  if (const auto* const all = from.if_contains("slides")) {
    into.slides.clear();
    for (const auto& one : all->as_array())
      into.slides.push_back(
          {text_in(one.as_object(), "title"), text_in(one.as_object(), "text"), text_in(one.as_object(), "notes")});
  }
  if (const auto* const all = from.if_contains("scripts")) {
    into.scripts.clear();
    for (const auto& one : all->as_array())
      into.scripts.push_back({text_in(one.as_object(), "name"), text_in(one.as_object(), "source")});
  }
  if (const auto* const all = from.if_contains("permissions")) {
    into.permissions.clear();
    for (const auto& one : all->as_array()) into.permissions.push_back(permission_of(one.as_object()));
  }
}

file file_of(stand_in& into, const json::object& from) {
  file out;
  take_text(from, "id", out.id);
  take(out, from);
  if (const auto path = text_in(from, "path"); !path.empty()) {
    const auto slash = path.rfind('/');
    out.name = path.substr(slash == std::string::npos ? 0 : slash + 1);
    if (slash != std::string::npos) out.parent = into.folder(path.substr(0, slash), out.drive);
  }
  return out;
}

fault fault_of(const json::object& from) {
  fault out;
  take_text(from, "method", out.method);
  take_text(from, "path", out.path);
  take_text(from, "containing", out.containing);
  take_number(from, "skip", out.skip);
  take_number(from, "times", out.times);
  take_number(from, "status", out.status);
  take_text(from, "reason", out.reason);
  take_text(from, "message", out.message);
  take_text(from, "body", out.body);
  take_text(from, "bodyType", out.body_type);
  take_text(from, "retryAfter", out.retry_after);
  take_text(from, "location", out.location);
  take_flag(from, "isClosed", out.is_closed);
  take_number(from, "stallsAt", out.stalls_at);
  take_number(from, "cutAt", out.cut_at);
  take_number(from, "wrongLength", out.wrong_length);
  take_time(from, "delay", out.delay);
  take_time(from, "aChunk", out.a_chunk);
  return out;
}

void take(setup& into, const json::object& from) {
  take_texts(from, "delegating", into.delegating);
  take_text(from, "user", into.user);
  take_number(from, "mostExported", into.most_exported);
  take_number(from, "mostRequests", into.most_requests);
  take_time(from, "quotaWindow", into.quota_window);
  take_flag(from, "saysIncomplete", into.says_incomplete);
  take_flag(from, "redirectsExportLinks", into.redirects_export_links);
  take_number(from, "noticesTo", into.notices_to);
  if (const auto* const one = from.if_contains("tokenLifetime"))
    into.token_lifetime = std::chrono::seconds(one->to_number<std::int64_t>());
  if (const auto* const one = from.if_contains("mostSkew"))
    into.most_skew = std::chrono::seconds(one->to_number<std::int64_t>());
}

void plant(stand_in& into, std::string_view text) {
  boost::system::error_code trouble;
  const auto parsed = json::parse(text, trouble);
  const auto* const whole = parsed.if_object();
  if (trouble || whole == nullptr) throw std::runtime_error("the seed is no JSON object: " + trouble.message());
  if (const auto* const how = whole->if_contains("setup")) into.configure([&](setup& one) { take(one, how->as_object()); });
  if (const auto* const drives = whole->if_contains("drives")) {
    for (const auto& one : drives->as_array()) {
      const auto& from = one.as_object();
      shared_drive made{text_in(from, "id"), text_in(from, "name"), {}, text_in(from, "createdTime"), false};
      take_flag(from, "hidden", made.is_hidden);
      if (const auto* const all = from.if_contains("members")) {
        for (const auto& member : all->as_array()) made.members.push_back(permission_of(member.as_object()));
      }
      into.add(std::move(made));
    }
  }
  if (const auto* const files = whole->if_contains("files")) {
    for (const auto& one : files->as_array()) into.add(file_of(into, one.as_object()));
  }
  if (const auto* const many = whole->if_contains("generate")) generate(into, many->as_object());
}

}  // namespace drive_test
