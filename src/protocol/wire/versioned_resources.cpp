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

constexpr std::size_t longest_prefix = 16 * 1024;  // as long as the longest URI in a list
constexpr std::size_t longest_text = 256;          // bounds the time for comparing one entry to milliseconds
constexpr std::size_t most_words = 16;

using checked = json::decoded<void>;

tl::unexpected<json::bad_member> bad(const std::string& path, std::string what) {
  return tl::unexpected(json::bad_member{path, std::move(what)});
}

checked read_text(const json::value& from, const std::string& path, std::size_t longest, std::string& into) {
  HONDANA_TRY(const auto text, from.as_string(path));
  if (text.empty()) return bad(path, "expected at least one character; omit it to filter by something else");
  if (text.size() > longest) return bad(path, "expected at most " + std::to_string(longest) + " bytes");
  into = text;
  return {};
}

checked read_pattern(const json::value& from, const std::string& path, bool is_path, std::string& into) {
  HONDANA_TRY(read_text(from, path, longest_text, into));
  const auto compiled = is_path ? ignore::glob::for_path(into) : ignore::glob::for_text(into);
  if (!compiled.fault().empty()) return bad(path, "a pattern that matches nothing: " + std::string(compiled.fault()));
  return {};
}

checked read_prefix(const json::value& from, const std::string& path, model::resource_filter& into) {
  HONDANA_TRY(read_text(from, path, longest_prefix, into.uri_prefix));
  const auto& prefix = into.uri_prefix;
  if (std::all_of(prefix.begin(), prefix.end(), [](char c) { return c > ' ' && c <= '~'; })) return {};
  return bad(path, "expected the start of a URI as lists return it: visible ASCII, other characters percent-encoded");
}

checked read_uri_pattern(const json::value& from, const std::string& path, model::resource_filter& into) {
  return read_pattern(from, path, true, into.uri_pattern);
}

checked read_name_pattern(const json::value& from, const std::string& path, model::resource_filter& into) {
  return read_pattern(from, path, false, into.name_pattern);
}

checked read_mime_type(const json::value& from, const std::string& path, model::resource_filter& into) {
  auto& type = into.mime_type;
  HONDANA_TRY(read_text(from, path, longest_text, type));
  type = ascii::in_lower_case(type);
  const auto slash = type.find('/');
  const bool is_plain =
      std::all_of(type.begin(), type.end(), [](char c) { return c > ' ' && c <= '~' && c != ';' && c != ','; });
  const bool has_parts = slash != std::string::npos && slash != 0 && slash + 1 < type.size();
  if (!is_plain || !has_parts || type.find('/', slash + 1) != std::string::npos) {
    return bad(path, "expected type/subtype without parameters, or type/* for all its subtypes");
  }
  if (type.substr(slash) == "/*") type.pop_back();
  if (type.find('*') != std::string::npos) return bad(path, "* must replace the whole subtype, as in text/*");
  return {};
}

checked read_kind(const json::value& from, const std::string& path, model::resource_filter& into) {
  return read_text(from, path, longest_text, into.kind);
}

checked read_audience(const json::value& from, const std::string& path, model::resource_filter& into) {
  HONDANA_TRY(const auto who, from.as_string(path));
  if (who != "user" && who != "assistant") return bad(path, "expected \"user\" or \"assistant\"");
  into.audience = who == "user" ? role::user : role::assistant;
  return {};
}

checked read_priority(const json::value& from, const std::string& path, model::resource_filter& into) {
  HONDANA_TRY(const auto least, from.as_number(path));
  if (!(least >= 0 && least <= 1)) return bad(path, "expected a number from 0 to 1");
  into.min_priority = least;
  return {};
}

checked read_modified(const json::value& from, const std::string& path, model::resource_filter& into) {
  HONDANA_TRY(const auto text, from.as_string(path));
  into.modified_since = parse_time(text);
  if (into.modified_since) return {};
  return bad(path, "expected a date or time such as 2025-01-12 or 2025-01-12T15:00:58Z");
}

checked read_words(const json::value& from, const std::string& path, model::resource_filter& into) {
  HONDANA_TRY(read_text(from, path, longest_text, into.text));
  std::size_t words = 0;
  bool is_inside = false;
  for (const char c : into.text) {
    const bool is_space = c == ' ' || c == '\t' || c == '\r' || c == '\n';
    if (!is_space && !is_inside) ++words;
    is_inside = !is_space;
  }
  if (words == 0) return bad(path, "expected a word");
  if (words > most_words) return bad(path, "expected at most " + std::to_string(most_words) + " words");
  return {};
}

struct member {
  std::string_view name;
  checked (*read)(const json::value& from, const std::string& path, model::resource_filter& into);
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

std::string known_names() {
  std::string names;
  for (const auto& one : filter_members) names += (names.empty() ? "" : ", ") + std::string(one.name);
  return names;
}

}  // namespace

json::decoded<model::resource_filter> filter_of(const json::object& from) {
  model::resource_filter filter;
  for (const auto& [name, ignored] : from.members()) {
    const auto known =
        std::find_if(filter_members.begin(), filter_members.end(), [&](const member& one) { return one.name == name; });
    const auto path = from.path_of(known == filter_members.end() ? name.substr(0, 100) : name);
    if (known == filter_members.end()) return bad(path, "unknown filter; filters: " + known_names());
    const auto value = from.find(name);  // reports a duplicated member
    if (!value) return tl::unexpected(value.error());
    if (auto read = known->read(**value, path, filter); !read) return tl::unexpected(std::move(read.error()));
  }
  return filter;
}

namespace {

json::decoded<std::vector<spelled_uri>> uris_of(const json::object& params) {
  HONDANA_TRY(const auto one, params.find("uri"));
  if (one) return tl::unexpected(json::bad_member{params.path_of("uri"), "either uri or uris, not both"});
  return spell_uris(params, "uris", most_uris, "a request");
}

json::decoded<bool> has_uris(const json::object& params) {
  return params.find("uris").map([](const std::optional<json::value>& found) { return found.has_value(); });
}

}  // namespace

bool is_declared_by(const json::object& capabilities) {
  for (const auto place : std::array<std::string_view, 2>{"extensions", "experimental"}) {
    const auto known = capabilities.find_object(place);
    if (!known || !*known) continue;
    const auto ours = (*known)->find_object(versions_extension);
    if (ours && *ours) return true;
  }
  return false;
}

void write_setting(json::writer& to) { to.key(versions_extension).begin_object().end_object(); }

bool is_shaped(const model::operation& what) {
  if (const auto* listing = std::get_if<model::list_resources>(&what)) return listing->filter.has_value();
  if (const auto* opening = std::get_if<model::initialize>(&what)) return opening->knows_versions;
  if (const auto* stream = std::get_if<model::listen>(&what)) return !stream->wanted.entries.empty();
  return std::holds_alternative<model::get_resource>(what) || std::holds_alternative<model::subscribe_entries>(what) ||
         std::holds_alternative<model::unsubscribe_entries>(what);
}

decoded<model::operation> decode_list(std::string_view method, const json::object& params) {
  auto cursor = cursor_of(params);
  if (!cursor) return tl::unexpected(invalid_params(method, cursor.error()));
  const auto given = params.find_object("filter");
  if (!given) return tl::unexpected(invalid_params(method, given.error()));
  model::list_resources what{std::move(*cursor)};
  if (*given) {
    auto filter = filter_of(**given);
    if (!filter) return tl::unexpected(invalid_params(method, filter.error()));
    what.filter = std::move(*filter);
  }
  return model::operation{std::move(what)};
}

decoded<model::operation> decode_get(std::string_view method, const json::object& params) {
  const auto uri = params.get_string("uri");
  if (!uri) return tl::unexpected(invalid_params(method, uri.error()));
  auto spelled = spell_uri(*uri, params.path_of("uri"));
  if (!spelled) return tl::unexpected(invalid_params(method, spelled.error()));
  return model::operation{model::get_resource{std::move(spelled->canonical), std::move(spelled->asked), {}}};
}

decoded<model::operation> decode_subscribe(std::string_view method, const json::object& params) {
  const auto is_ours = has_uris(params);
  if (!is_ours) return tl::unexpected(invalid_params(method, is_ours.error()));
  if (!*is_ours) return wire::decode_subscribe(method, params);
  auto uris = uris_of(params);
  if (!uris) return tl::unexpected(invalid_params(method, uris.error()));
  model::subscribe_entries what;
  for (auto& one : *uris) {
    what.uris.push_back(std::move(one.canonical));
    what.asked_uris.push_back(std::move(one.asked));
  }
  return model::operation{std::move(what)};
}

decoded<model::operation> decode_unsubscribe(std::string_view method, const json::object& params) {
  const auto is_ours = has_uris(params);
  if (!is_ours) return tl::unexpected(invalid_params(method, is_ours.error()));
  if (!*is_ours) return wire::decode_unsubscribe(method, params);
  auto uris = uris_of(params);
  if (!uris) return tl::unexpected(invalid_params(method, uris.error()));
  model::unsubscribe_entries what;
  for (auto& one : *uris) what.uris.push_back(std::move(one.canonical));
  return model::operation{std::move(what)};
}

json::decoded<void> take_version(const json::object& params, model::operation& into) {
  std::optional<std::string>* place = nullptr;
  if (auto* read = std::get_if<model::read_resource>(&into)) place = &read->if_version;
  if (auto* get = std::get_if<model::get_resource>(&into)) place = &get->if_version;
  if (place == nullptr) return {};
  HONDANA_TRY(const auto version, params.find_string("version"));
  if (version) *place = std::string(*version);
  return {};
}

void append_got(rpc::body& to, const resource& entry, bytes::prepared content, const std::shared_ptr<executor::lane>& home,
                entry_members members) {
  members.versioned = true;
  auto& text = to.text();
  text += "\"resource\":";
  json::writer head(text);
  write(head, entry, members);
  text += ",\"contents\":";
  const std::string_view plainest = content.is_text ? "text/plain" : "application/octet-stream";
  json::writer item(text);
  item.begin_object().member("contentType", content.mimeType.empty() ? plainest : std::string_view(content.mimeType));
  write_content_facts(item, content.metadata, members);
  text += content.is_text ? ",\"content\":\"" : ",\"blob\":\"";
  to.append(std::move(content), home);
  to.text() += "\"}";
}

protocol_error not_modified(std::string_view uri, std::string_view version) {
  std::string data;
  json::writer(data).begin_object().member("uri", uri).member("version", version).end_object();
  return {codes::not_modified, "Not Modified", std::move(data), 200};
}

}  // namespace hondana::wire::versioned
