/// Requests of stateless revisions: decoding, checks against the headers that repeat them, and stream acknowledgments.
/// Spec: 2026-07-28 basic/patterns/subscriptions.
#include "protocol/wire/modern/requests.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "base/ascii/ascii.hpp"
#include "base/json/base64.hpp"
#include "base/json/utf8.hpp"
#include "protocol/wire/codec.hpp"
#include "protocol/wire/modern/codec.hpp"
#include "protocol/wire/notifications.hpp"
#include "protocol/wire/request_params.hpp"
#include "protocol/wire/skills.hpp"
#include "protocol/wire/tools_and_prompts.hpp"
#include "protocol/wire/versioned_resources.hpp"
#include "protocol/wire/wire_constants.hpp"

namespace hondana::wire::modern {
namespace {

constexpr std::string_view opening = "=?base64?";
constexpr std::string_view closing = "?=";

protocol_error mismatch(std::string text) { return {codes::header_mismatch, "Header mismatch: " + std::move(text), {}, 400}; }

bool is_field_value(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c == '\t' || (c >= ' ' && c <= '~'); });
}

/// Methods whose target is repeated in a header, with the parameter that contains it.
struct named_method {
  std::string_view method;
  std::string_view parameter;
};
constexpr std::array named_methods{
    named_method{"resources/read", "uri"},
    named_method{"tools/call", "name"},
    named_method{"prompts/get", "name"},
};

std::optional<protocol_error> compare(std::string_view header_name, const std::optional<std::string>& header,
                                      std::string_view body_value) {
  const std::string name(header_name);
  if (!header) return mismatch(name + " is missing; it must repeat the body's value");
  const auto value = header_value(*header);
  if (!value) return mismatch(name + " is malformed: expected visible ASCII or =?base64?...?=");
  if (*value == body_value) return {};
  return mismatch(name + " header value '" + value->substr(0, 200) + "' does not match body value '" +
                  std::string(body_value.substr(0, 200)) + "'");
}

/// Whether a decoded header repeats an argument. Integers are compared as numbers: 42.0 equals 42.
bool repeats(std::string_view header, const value& argument, bool is_integer) {
  if (const auto* text = argument.as_string()) return header == *text;
  if (const auto flag = argument.as_boolean()) return header == (*flag ? "true" : "false");
  if (!is_integer || !argument.as_number()) return false;
  const auto number = value::parse(header);
  return number && number->as_number() && *number == argument;
}

}  // namespace

std::optional<protocol_error> argument_mismatch(const std::vector<model::mirrored_argument>& mirrored, const value& arguments,
                                                const rpc::http_headers& headers) {
  for (const auto& one : mirrored) {
    const auto name = "Mcp-Param-" + one.header;
    const auto* argument = model::argument_at(arguments, one.path);
    const auto given = std::find_if(headers.arguments.begin(), headers.arguments.end(),
                                    [&one](const auto& field) { return ascii::is_same(field.first, one.header); });
    if (given == headers.arguments.end()) {
      if (argument != nullptr) return mismatch(name + " is missing; it must repeat the argument's value");
      continue;
    }
    const auto text = header_value(given->second);
    if (!text) return mismatch(name + " is malformed: expected visible ASCII or =?base64?...?=");
    if (argument == nullptr) return mismatch(name + " repeats an argument that is not in the body");
    if (!repeats(*text, *argument, one.is_integer)) {
      return mismatch(name + " header value '" + text->substr(0, 200) + "' does not match body value '" +
                      argument->to_text().substr(0, 200) + "'");
    }
  }
  return {};
}

std::optional<std::string> header_value(std::string_view header) {
  if (!is_field_value(header)) return {};
  const bool is_encoded =
      header.size() >= opening.size() + closing.size() && header.starts_with(opening) && header.ends_with(closing);
  if (!is_encoded) return std::string(header);
  header.remove_prefix(opening.size());
  header.remove_suffix(closing.size());
  auto bytes = json::decode_base64(header);
  if (!bytes || !json::is_utf8(*bytes)) return {};
  return bytes;
}

std::optional<protocol_error> revision_mismatch(std::string_view declared, const rpc::http_headers& headers) {
  if (!headers.protocol_version || *headers.protocol_version == declared) return {};
  return mismatch("MCP-Protocol-Version header value '" + headers.protocol_version->substr(0, 200) +
                  "' does not match body value '" + std::string(declared.substr(0, 200)) + "'");
}

std::optional<protocol_error> header_mismatch(const rpc::request& request, std::string_view declared,
                                              const rpc::http_headers& headers) {
  if (!headers.protocol_version) return mismatch("MCP-Protocol-Version is missing; it must repeat the body's value");
  if (auto differs = revision_mismatch(declared, headers)) return differs;
  if (!headers.method) return mismatch("Mcp-Method is missing; it must repeat the body's method");
  if (*headers.method != request.method) {
    return mismatch("Mcp-Method header value '" + headers.method->substr(0, 200) + "' does not match body value '" +
                    request.method.substr(0, 200) + "'");
  }
  for (const auto& named : named_methods) {
    if (named.method != request.method) continue;
    const auto value = request.params.find_string(named.parameter);
    // The decoder reports a missing or mistyped parameter with its path.
    if (!value || !*value) return {};
    return compare("Mcp-Name", headers.name, **value);
  }
  return {};
}

namespace {

struct flag {
  std::string_view name;
  bool model::interests::* member;
};
constexpr std::array flags{
    flag{"toolsListChanged", &model::interests::tools},
    flag{"promptsListChanged", &model::interests::prompts},
    flag{"resourcesListChanged", &model::interests::resources},
};
constexpr std::string_view uris_name = "resourceSubscriptions";

json::decoded<void> read_uris(const json::object& filter, std::string_view name, std::vector<std::string>& asked,
                              std::vector<std::string>& canonical) {
  auto uris = spell_uris(filter, name, most_listened, "a stream");
  if (!uris) return tl::unexpected(std::move(uris.error()));
  for (auto& one : *uris) {
    asked.push_back(std::move(one.asked));
    canonical.push_back(std::move(one.canonical));
  }
  return {};
}

void write_uris(json::writer& to, std::string_view name, const std::vector<std::string>& uris) {
  if (uris.empty()) return;
  to.key(name).begin_array();
  for (const auto& uri : uris) to.string(uri);
  to.end_array();
}

json::decoded<model::listen> read_filter(const json::object& params) {
  model::listen what;
  HONDANA_TRY(const auto filter, params.get_object("notifications"));
  for (const auto& one : flags) {
    HONDANA_TRY(const auto member, filter.find(one.name));
    if (!member) continue;
    HONDANA_TRY(const auto wanted, member->as_boolean(filter.path_of(one.name)));
    what.wanted.*one.member = wanted;
  }
  auto& wanted = what.wanted;
  HONDANA_TRY(read_uris(filter, uris_name, wanted.uris, what.canonical_uris));
  if (auto read = read_uris(filter, entries_member, wanted.entries, what.canonical_entries); !read) {
    return tl::unexpected(read.error());
  }
  return what;
}

}  // namespace

decoded<model::operation> decode_listen(std::string_view method, const json::object& params) {
  auto what = read_filter(params);
  if (!what) return tl::unexpected(invalid_params(method, what.error()));
  return model::operation{std::move(*what)};
}

void write_stream_id(json::writer& to, const rpc::request_id& stream) { to.key(stream_key).raw(rpc::to_json(stream)); }

void write_stream_tag(json::writer& to, const rpc::request_id& stream) {
  to.key("_meta").begin_object();
  write_stream_id(to, stream);
  to.end_object();
}

std::string acknowledge(const model::interests& honoured, const rpc::request_id& stream) {
  std::string text;
  json::writer to(text);
  to.begin_object().member("jsonrpc", "2.0").member("method", "notifications/subscriptions/acknowledged");
  to.key("params").begin_object();
  write_stream_tag(to, stream);
  to.key("notifications").begin_object();
  for (const auto& one : flags) {
    if (honoured.*one.member) to.key(one.name).boolean(true);
  }
  write_uris(to, uris_name, honoured.uris);
  write_uris(to, entries_member, honoured.entries);
  to.end_object().end_object().end_object();
  return text;
}

namespace {

using decoder = decoded<model::operation> (*)(std::string_view method, const json::object& params);

decoded<model::operation> decode_discover(std::string_view, const json::object&) { return model::operation{model::discover{}}; }

struct method {
  std::string_view name;
  decoder decode;
};

constexpr std::array methods{
    method{"server/discover", decode_discover},     method{"resources/list", versioned::decode_list},
    method{"resources/get", versioned::decode_get}, method{"resources/templates/list", decode_list_templates},
    method{"resources/read", decode_read},          method{"completion/complete", decode_complete},
    method{"subscriptions/listen", decode_listen},  method{"tools/list", decode_list_tools},
    method{"tools/call", decode_call_tool},         method{"prompts/list", decode_list_prompts},
    method{"prompts/get", decode_get_prompt},       method{"resources/directory/read", skills::decode_read_directory},
    method{"skills/list", skills::decode_list},     method{"skills/get", skills::decode_get},
};

/// What a request declares about its client.
struct declarations {
  client_abilities client;
  std::optional<log_level> least;
  bool knows_versions = false;
};

/// Reads the declarations of a request. A request without them is malformed (HTTP: 400 Bad Request).
json::decoded<declarations> declared_by(const json::object& params) {
  const auto meta = params.get_object("_meta");
  if (!meta) {
    // Most likely a legacy client that skipped the handshake, or a person who types requests.
    auto why = meta.error();
    why.what +=
        "; declare " + std::string(revision_key) + " and " + std::string(capabilities_key) + " in it, or open with initialize";
    return tl::unexpected(std::move(why));
  }
  HONDANA_TRY(meta->get_string(revision_key));
  HONDANA_TRY(const auto capabilities, meta->get_object(capabilities_key));
  HONDANA_TRY(const auto client, meta->find_object(client_key));
  if (client) {
    HONDANA_TRY(check_implementation(*client));
  }
  HONDANA_TRY(const auto can, abilities_of(capabilities));
  HONDANA_TRY(const auto level, wanted_level(*meta));
  return declarations{can, level, versioned::is_declared_by(capabilities)};
}

protocol_error bad_request(protocol_error error) {
  error.http_status = 400;
  return error;
}

}  // namespace

protocol_error unknown(std::string_view method) {
  auto error = method_not_found(method, this_revision);
  error.http_status = 404;
  return error;
}

decoded<model::request> decode_request(const rpc::request& from, const rpc::facts& facts) {
  const auto declared = declared_by(from.params);
  if (!declared) return tl::unexpected(bad_request(invalid_params(from.method, declared.error())));
  if (facts.http) {
    if (auto mismatch = header_mismatch(from, this_revision, *facts.http)) return tl::unexpected(std::move(*mismatch));
  }
  for (const auto& known : methods) {
    if (known.name != from.method) continue;
    HONDANA_TRY(auto operation, known.decode(from.method, from.params));
    const bool is_versioned = declared->knows_versions || versioned::is_shaped(operation);
    if (is_versioned) {
      const auto taken = versioned::take_version(from.params, operation);
      if (!taken) return tl::unexpected(invalid_params(from.method, taken.error()));
    }
    auto token = progress_token(from.params);
    if (!token) return tl::unexpected(invalid_params(from.method, token.error()));
    auto mounts = mounts_of(from.params);
    if (!mounts) return tl::unexpected(invalid_params(from.method, mounts.error()));
    return model::request{std::move(operation), std::move(*token),  declared->least,      declared->client,
                          is_versioned,         std::move(*mounts), trace_of(from.params)};
  }
  return tl::unexpected(unknown(from.method));
}

json::decoded<std::optional<std::string_view>> declared_revision(const json::object& params) {
  HONDANA_TRY(const auto meta, params.find_object("_meta"));
  if (!meta) return std::optional<std::string_view>{};
  return meta->find_string(revision_key);
}

}  // namespace hondana::wire::modern
