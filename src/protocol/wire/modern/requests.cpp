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

protocol_error mismatch_error(std::string text) {
  return {codes::header_mismatch, "Header mismatch: " + std::move(text), {}, 400};
}

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

std::optional<protocol_error> compare_header(std::string_view header_name, const std::optional<std::string>& header,
                                             std::string_view body_value) {
  const std::string name(header_name);
  if (!header) return mismatch_error(name + " is missing; it must repeat the body's value");
  const auto value = header_value(*header);
  if (!value) return mismatch_error(name + " is malformed: expected visible ASCII or =?base64?...?=");
  if (*value == body_value) return {};
  return mismatch_error(name + " header value '" + value->substr(0, 200) + "' does not match body value '" +
                        std::string(body_value.substr(0, 200)) + "'");
}

/// Whether a decoded header repeats an argument. Integers are compared as numbers: 42.0 equals 42.
bool matches_argument(std::string_view header, const value& argument, bool is_integer) {
  if (const auto* text = argument.as_string()) return header == *text;
  if (const auto flag = argument.as_boolean()) return header == (*flag ? "true" : "false");
  if (!is_integer || !argument.as_number()) return false;
  const auto number = value::parse(header);
  return number && number->as_number() && *number == argument;
}

}  // namespace

std::optional<protocol_error> argument_mismatch(const std::vector<model::mirrored_argument>& mirrored, const value& arguments,
                                                const rpc::http_headers& headers) {
  for (const auto& mirror : mirrored) {
    const auto name = "Mcp-Param-" + mirror.header;
    const auto* argument = model::find_argument(arguments, mirror.path);
    const auto header_field = std::find_if(headers.arguments.begin(), headers.arguments.end(), [&mirror](const auto& field) {
      return ascii::equals_ignore_case(field.first, mirror.header);
    });
    if (header_field == headers.arguments.end()) {
      if (argument != nullptr) return mismatch_error(name + " is missing; it must repeat the argument's value");
      continue;
    }
    const auto text = header_value(header_field->second);
    if (!text) return mismatch_error(name + " is malformed: expected visible ASCII or =?base64?...?=");
    if (argument == nullptr) return mismatch_error(name + " repeats an argument that is not in the body");
    if (!matches_argument(*text, *argument, mirror.is_integer)) {
      return mismatch_error(name + " header value '" + text->substr(0, 200) + "' does not match body value '" +
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
  return mismatch_error("MCP-Protocol-Version header value '" + headers.protocol_version->substr(0, 200) +
                        "' does not match body value '" + std::string(declared.substr(0, 200)) + "'");
}

std::optional<protocol_error> header_mismatch(const rpc::request& request, std::string_view declared,
                                              const rpc::http_headers& headers) {
  if (!headers.protocol_version) return mismatch_error("MCP-Protocol-Version is missing; it must repeat the body's value");
  if (auto mismatch = revision_mismatch(declared, headers)) return mismatch;
  if (!headers.method) return mismatch_error("Mcp-Method is missing; it must repeat the body's method");
  if (*headers.method != request.method) {
    return mismatch_error("Mcp-Method header value '" + headers.method->substr(0, 200) + "' does not match body value '" +
                          request.method.substr(0, 200) + "'");
  }
  for (const auto& entry : named_methods) {
    if (entry.method != request.method) continue;
    const auto value = request.params.find_string(entry.parameter);
    // The decoder reports a missing or mistyped parameter with its path.
    if (!value || !*value) return {};
    return compare_header("Mcp-Name", headers.name, **value);
  }
  return {};
}

namespace {

struct filter_flag {
  std::string_view name;
  bool model::subscription_filter::* member;
};
constexpr std::array filter_flags{
    filter_flag{"toolsListChanged", &model::subscription_filter::tools},
    filter_flag{"promptsListChanged", &model::subscription_filter::prompts},
    filter_flag{"resourcesListChanged", &model::subscription_filter::resources},
};
constexpr std::string_view uris_name = "resourceSubscriptions";

json::decoded<void> read_uris(const json::object& filter, std::string_view name, std::vector<std::string>& requested,
                              std::vector<std::string>& canonical) {
  auto uris = parse_uris(filter, name, max_stream_uris, "a stream");
  if (!uris) return tl::unexpected(std::move(uris.error()));
  for (auto& uri : *uris) {
    requested.push_back(std::move(uri.requested));
    canonical.push_back(std::move(uri.canonical));
  }
  return {};
}

void write_uris(json::writer& writer, std::string_view name, const std::vector<std::string>& uris) {
  if (uris.empty()) return;
  writer.key(name).begin_array();
  for (const auto& uri : uris) writer.string(uri);
  writer.end_array();
}

json::decoded<model::listen> read_filter(const json::object& params) {
  model::listen operation;
  HONDANA_TRY(const auto filter, params.get_object("notifications"));
  for (const auto& flag : filter_flags) {
    HONDANA_TRY(const auto member, filter.find(flag.name));
    if (!member) continue;
    HONDANA_TRY(const auto is_requested, member->as_boolean(filter.path_of(flag.name)));
    operation.filter.*flag.member = is_requested;
  }
  auto& requested = operation.filter;
  HONDANA_TRY(read_uris(filter, uris_name, requested.uris, operation.canonical_uris));
  if (auto read = read_uris(filter, entries_member, requested.entries, operation.canonical_entries); !read) {
    return tl::unexpected(read.error());
  }
  return operation;
}

}  // namespace

decoded<model::operation> decode_listen(std::string_view method, const json::object& params) {
  auto operation = read_filter(params);
  if (!operation) return tl::unexpected(invalid_params(method, operation.error()));
  return model::operation{std::move(*operation)};
}

void write_stream_id(json::writer& writer, const rpc::request_id& stream) { writer.key(stream_key).raw(rpc::to_json(stream)); }

void write_stream_tag(json::writer& writer, const rpc::request_id& stream) {
  writer.key("_meta").begin_object();
  write_stream_id(writer, stream);
  writer.end_object();
}

std::string acknowledge(const model::subscription_filter& accepted, const rpc::request_id& stream) {
  std::string text;
  json::writer writer(text);
  writer.begin_object().member("jsonrpc", "2.0").member("method", "notifications/subscriptions/acknowledged");
  writer.key("params").begin_object();
  write_stream_tag(writer, stream);
  writer.key("notifications").begin_object();
  for (const auto& flag : filter_flags) {
    if (accepted.*flag.member) writer.key(flag.name).boolean(true);
  }
  write_uris(writer, uris_name, accepted.uris);
  write_uris(writer, entries_member, accepted.entries);
  writer.end_object().end_object().end_object();
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
  client_capabilities client;
  std::optional<log_level> min_log_level;
  bool supports_versions = false;
};

/// Reads the declarations of a request. A request without them is malformed (HTTP: 400 Bad Request).
json::decoded<declarations> parse_declarations(const json::object& params) {
  const auto meta = params.get_object("_meta");
  if (!meta) {
    // Most likely a legacy client that skipped the handshake, or a person who types requests.
    auto error = meta.error();
    error.message +=
        "; declare " + std::string(revision_key) + " and " + std::string(capabilities_key) + " in it, or open with initialize";
    return tl::unexpected(std::move(error));
  }
  HONDANA_TRY(meta->get_string(revision_key));
  HONDANA_TRY(const auto capabilities, meta->get_object(capabilities_key));
  HONDANA_TRY(const auto client, meta->find_object(client_key));
  if (client) {
    HONDANA_TRY(validate_implementation(*client));
  }
  HONDANA_TRY(const auto parsed_capabilities, parse_capabilities(capabilities));
  HONDANA_TRY(const auto level, requested_level(*meta));
  return declarations{parsed_capabilities, level, versioned::is_declared_by(capabilities)};
}

protocol_error bad_request(protocol_error error) {
  error.http_status = 400;
  return error;
}

}  // namespace

protocol_error unknown_method(std::string_view method) {
  auto error = method_not_found(method, this_revision);
  error.http_status = 404;
  return error;
}

decoded<model::request> decode_request(const rpc::request& request, const rpc::request_info& request_info) {
  const auto declared = parse_declarations(request.params);
  if (!declared) return tl::unexpected(bad_request(invalid_params(request.method, declared.error())));
  if (request_info.http) {
    if (auto mismatch = header_mismatch(request, this_revision, *request_info.http))
      return tl::unexpected(std::move(*mismatch));
  }
  for (const auto& method_entry : methods) {
    if (method_entry.name != request.method) continue;
    HONDANA_TRY(auto operation, method_entry.decode(request.method, request.params));
    const bool is_versioned = declared->supports_versions || versioned::needs_extension(operation);
    if (is_versioned) {
      const auto status = versioned::read_version(request.params, operation);
      if (!status) return tl::unexpected(invalid_params(request.method, status.error()));
    }
    auto token = parse_progress_token(request.params);
    if (!token) return tl::unexpected(invalid_params(request.method, token.error()));
    auto mounts = parse_mounts(request.params);
    if (!mounts) return tl::unexpected(invalid_params(request.method, mounts.error()));
    return model::request{std::move(operation), std::move(*token),  declared->min_log_level,    declared->client,
                          is_versioned,         std::move(*mounts), parse_trace(request.params)};
  }
  return tl::unexpected(unknown_method(request.method));
}

json::decoded<std::optional<std::string_view>> declared_revision(const json::object& params) {
  HONDANA_TRY(const auto meta, params.find_object("_meta"));
  if (!meta) return std::optional<std::string_view>{};
  return meta->find_string(revision_key);
}

}  // namespace hondana::wire::modern
