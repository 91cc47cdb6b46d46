/// The dialect's requests and answers.
#include "protocol/wire/versioned/dialect.hpp"

#include <array>
#include <utility>
#include <variant>
#include <vector>

#include "protocol/wire/names.hpp"
#include "protocol/wire/params.hpp"
#include "protocol/wire/versioned/filter.hpp"

namespace hondana::wire::versioned {
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
