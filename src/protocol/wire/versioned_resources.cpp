/// The extension dev.hondana/versioned-resources: versions, filters for lists, and changes sent with their entries.
/// See docs/versioned-resources.md.
#include "protocol/wire/versioned_resources.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/ascii/ascii.hpp"
#include "base/ignore/glob.hpp"
#include "protocol/wire/request_params.hpp"
#include "protocol/wire/wire_constants.hpp"

namespace hondana::wire::versioned {
namespace {

constexpr std::size_t max_prefix_bytes = 16 * 1024;  // as long as the longest URI in a list
constexpr std::size_t max_text_bytes = 256;          // bounds the time for comparing one entry to milliseconds
constexpr std::size_t max_words = 16;

using check_result = json::decoded<void>;

tl::unexpected<json::member_error> member_error(const std::string& path, std::string message) {
  return tl::unexpected(json::member_error{path, std::move(message)});
}

check_result read_text(const json::value& value, const std::string& path, std::size_t max_bytes, std::string& out) {
  HONDANA_TRY(const auto text, value.as_string(path));
  if (text.empty()) return member_error(path, "expected at least one character; omit it to filter by something else");
  if (text.size() > max_bytes) return member_error(path, "expected at most " + std::to_string(max_bytes) + " bytes");
  out = text;
  return {};
}

check_result read_pattern(const json::value& value, const std::string& path, bool is_path, std::string& out) {
  HONDANA_TRY(read_text(value, path, max_text_bytes, out));
  const auto compiled = is_path ? ignore::glob::for_path(out) : ignore::glob::for_text(out);
  if (!compiled.error().empty()) return member_error(path, "a pattern that matches nothing: " + std::string(compiled.error()));
  return {};
}

check_result read_prefix(const json::value& value, const std::string& path, model::resource_filter& filter) {
  HONDANA_TRY(read_text(value, path, max_prefix_bytes, filter.uri_prefix));
  const auto& prefix = filter.uri_prefix;
  if (std::all_of(prefix.begin(), prefix.end(), [](char c) { return c > ' ' && c <= '~'; })) return {};
  return member_error(path, "expected the start of a URI as lists return it: visible ASCII, other characters percent-encoded");
}

check_result read_uri_pattern(const json::value& value, const std::string& path, model::resource_filter& filter) {
  return read_pattern(value, path, true, filter.uri_pattern);
}

check_result read_name_pattern(const json::value& value, const std::string& path, model::resource_filter& filter) {
  return read_pattern(value, path, false, filter.name_pattern);
}

check_result read_mime_type(const json::value& value, const std::string& path, model::resource_filter& filter) {
  auto& type = filter.mime_type;
  HONDANA_TRY(read_text(value, path, max_text_bytes, type));
  type = ascii::to_lower(type);
  const auto slash = type.find('/');
  const bool is_plain =
      std::all_of(type.begin(), type.end(), [](char c) { return c > ' ' && c <= '~' && c != ';' && c != ','; });
  const bool has_parts = slash != std::string::npos && slash != 0 && slash + 1 < type.size();
  if (!is_plain || !has_parts || type.find('/', slash + 1) != std::string::npos) {
    return member_error(path, "expected type/subtype without parameters, or type/* for all its subtypes");
  }
  if (type.substr(slash) == "/*") type.pop_back();
  if (type.find('*') != std::string::npos) return member_error(path, "* must replace the whole subtype, as in text/*");
  return {};
}

check_result read_kind(const json::value& value, const std::string& path, model::resource_filter& filter) {
  return read_text(value, path, max_text_bytes, filter.kind);
}

check_result read_audience(const json::value& value, const std::string& path, model::resource_filter& filter) {
  HONDANA_TRY(const auto audience, value.as_string(path));
  if (audience != "user" && audience != "assistant") return member_error(path, "expected \"user\" or \"assistant\"");
  filter.audience = audience == "user" ? chat_role::user : chat_role::assistant;
  return {};
}

check_result read_priority(const json::value& value, const std::string& path, model::resource_filter& filter) {
  HONDANA_TRY(const auto min_priority, value.as_number(path));
  if (!(min_priority >= 0 && min_priority <= 1)) return member_error(path, "expected a number from 0 to 1");
  filter.min_priority = min_priority;
  return {};
}

check_result read_modified(const json::value& value, const std::string& path, model::resource_filter& filter) {
  HONDANA_TRY(const auto text, value.as_string(path));
  filter.modified_since = parse_time(text);
  if (filter.modified_since) return {};
  return member_error(path, "expected a date or time such as 2025-01-12 or 2025-01-12T15:00:58Z");
}

check_result read_words(const json::value& value, const std::string& path, model::resource_filter& filter) {
  HONDANA_TRY(read_text(value, path, max_text_bytes, filter.text));
  std::size_t words = 0;
  bool is_inside = false;
  for (const char c : filter.text) {
    const bool is_space = c == ' ' || c == '\t' || c == '\r' || c == '\n';
    if (!is_space && !is_inside) ++words;
    is_inside = !is_space;
  }
  if (words == 0) return member_error(path, "expected a word");
  if (words > max_words) return member_error(path, "expected at most " + std::to_string(max_words) + " words");
  return {};
}

struct member {
  std::string_view name;
  check_result (*read)(const json::value& value, const std::string& path, model::resource_filter& filter);
};
constexpr std::array filter_members{
    member{"uriPrefix", read_prefix},
    member{"uriPattern", read_uri_pattern},
    member{"namePattern", read_name_pattern},
    member{"mimeType", read_mime_type},
    member{"kind", read_kind},
    member{"audience", read_audience},
    member{"minPriority", read_priority},
    member{"modifiedSince", read_modified},
    member{"text", read_words},
};

std::string filter_names() {
  std::string names;
  for (const auto& member : filter_members) names += (names.empty() ? "" : ", ") + std::string(member.name);
  return names;
}

}  // namespace

json::decoded<model::resource_filter> parse_filter(const json::object& object) {
  model::resource_filter filter;
  for (const auto& [name, ignored] : object.members()) {
    const auto known =
        std::find_if(filter_members.begin(), filter_members.end(), [&](const member& member) { return member.name == name; });
    const auto path = object.path_of(known == filter_members.end() ? name.substr(0, 100) : name);
    if (known == filter_members.end()) return member_error(path, "unknown filter; filters: " + filter_names());
    const auto value = object.find(name);  // reports a duplicated member
    if (!value) return tl::unexpected(value.error());
    if (auto read = known->read(**value, path, filter); !read) return tl::unexpected(std::move(read.error()));
  }
  return filter;
}

namespace {

json::decoded<std::vector<uri_forms>> require_uris(const json::object& params) {
  HONDANA_TRY(const auto single_uri, params.find("uri"));
  if (single_uri) return tl::unexpected(json::member_error{params.path_of("uri"), "either uri or uris, not both"});
  return parse_uris(params, "uris", max_uris, "a request");
}

json::decoded<bool> has_uris(const json::object& params) {
  return params.find("uris").map([](const std::optional<json::value>& uris) { return uris.has_value(); });
}

}  // namespace

bool is_declared_by(const json::object& capabilities) {
  for (const auto key : std::array<std::string_view, 2>{"extensions", "experimental"}) {
    const auto extensions = capabilities.find_object(key);
    if (!extensions || !*extensions) continue;
    const auto settings = (*extensions)->find_object(versions_extension);
    if (settings && *settings) return true;
  }
  return false;
}

void write_setting(json::writer& writer) { writer.key(versions_extension).begin_object().end_object(); }

bool needs_extension(const model::operation& operation) {
  if (const auto* listing = std::get_if<model::list_resources>(&operation)) return listing->filter.has_value();
  if (const auto* opening = std::get_if<model::initialize>(&operation)) return opening->supports_versions;
  if (const auto* stream = std::get_if<model::listen>(&operation)) return !stream->filter.entries.empty();
  return std::holds_alternative<model::get_resource>(operation) ||
         std::holds_alternative<model::subscribe_entries>(operation) ||
         std::holds_alternative<model::unsubscribe_entries>(operation);
}

decoded<model::operation> decode_list(std::string_view method, const json::object& params) {
  auto cursor = find_cursor(params);
  if (!cursor) return tl::unexpected(invalid_params(method, cursor.error()));
  const auto filter_member = params.find_object("filter");
  if (!filter_member) return tl::unexpected(invalid_params(method, filter_member.error()));
  model::list_resources operation{std::move(*cursor)};
  if (*filter_member) {
    auto filter = parse_filter(**filter_member);
    if (!filter) return tl::unexpected(invalid_params(method, filter.error()));
    operation.filter = std::move(*filter);
  }
  return model::operation{std::move(operation)};
}

decoded<model::operation> decode_get(std::string_view method, const json::object& params) {
  const auto uri = params.get_string("uri");
  if (!uri) return tl::unexpected(invalid_params(method, uri.error()));
  auto parsed = parse_uri(*uri, params.path_of("uri"));
  if (!parsed) return tl::unexpected(invalid_params(method, parsed.error()));
  return model::operation{model::get_resource{std::move(parsed->canonical), std::move(parsed->requested), {}}};
}

decoded<model::operation> decode_subscribe(std::string_view method, const json::object& params) {
  const auto uses_extension = has_uris(params);
  if (!uses_extension) return tl::unexpected(invalid_params(method, uses_extension.error()));
  if (!*uses_extension) return wire::decode_subscribe(method, params);
  auto uris = require_uris(params);
  if (!uris) return tl::unexpected(invalid_params(method, uris.error()));
  model::subscribe_entries operation;
  for (auto& uri : *uris) {
    operation.uris.push_back(std::move(uri.canonical));
    operation.requested_uris.push_back(std::move(uri.requested));
  }
  return model::operation{std::move(operation)};
}

decoded<model::operation> decode_unsubscribe(std::string_view method, const json::object& params) {
  const auto uses_extension = has_uris(params);
  if (!uses_extension) return tl::unexpected(invalid_params(method, uses_extension.error()));
  if (!*uses_extension) return wire::decode_unsubscribe(method, params);
  auto uris = require_uris(params);
  if (!uris) return tl::unexpected(invalid_params(method, uris.error()));
  model::unsubscribe_entries operation;
  for (auto& uri : *uris) operation.uris.push_back(std::move(uri.canonical));
  return model::operation{std::move(operation)};
}

json::decoded<void> read_version(const json::object& params, model::operation& operation) {
  std::optional<std::string>* target = nullptr;
  if (auto* read = std::get_if<model::read_resource>(&operation)) target = &read->cached_version;
  if (auto* get = std::get_if<model::get_resource>(&operation)) target = &get->cached_version;
  if (target == nullptr) return {};
  HONDANA_TRY(const auto version, params.find_string("version"));
  if (version) *target = std::string(*version);
  return {};
}

void append_resource(rpc::body& out, const resource& entry, bytes::prepared_content content,
                     const std::shared_ptr<executor::executor>& reader_executor, entry_members members) {
  members.versioned = true;
  auto& text = out.text();
  text += "\"resource\":";
  json::writer head(text);
  write(head, entry, members);
  text += ",\"contents\":";
  const std::string_view default_type = content.is_text ? "text/plain" : "application/octet-stream";
  json::writer item(text);
  item.begin_object().member("contentType", content.mime_type.empty() ? default_type : std::string_view(content.mime_type));
  write_content_metadata(item, content.metadata, members);
  text += content.is_text ? ",\"content\":\"" : ",\"blob\":\"";
  out.append(std::move(content), reader_executor);
  out.text() += "\"}";
}

protocol_error not_modified(std::string_view uri, std::string_view version) {
  std::string data;
  json::writer(data).begin_object().member("uri", uri).member("version", version).end_object();
  return {codes::not_modified, "Not Modified", std::move(data), 200};
}

}  // namespace hondana::wire::versioned
