/// The requests of a client, and their encoding in the revision of the server.
#include "protocol/wire/asking/requests.hpp"

#include <algorithm>

#include "base/json/base64.hpp"
#include "base/json/writer.hpp"
#include "base/value/value.hpp"
#include "protocol/model/iso_8601.hpp"
#include "protocol/wire/asking/results.hpp"
#include "protocol/wire/notifications.hpp"
#include "protocol/wire/wire_constants.hpp"

namespace hondana::wire::asking {
namespace {

request make_request(std::string_view method) {
  request out;
  out.method = method;
  return out;
}

request make_list_request(std::string_view method, const optional_cursor& cursor) {
  auto out = make_request(method);
  if (cursor) json::writer(out.params).key("cursor").string(*cursor);
  return out;
}

request make_uri_request(std::string_view method, std::string_view uri) {
  auto out = make_request(method);
  out.target = uri;
  json::writer(out.params).key("uri").string(uri);
  return out;
}

void write_texts(json::writer& writer, std::string_view name, const named_texts& entries) {
  writer.key(name).begin_object();
  for (const auto& [key, text] : entries) writer.member(key, text);
  writer.end_object();
}

void write_uris(json::writer& writer, std::string_view name, const std::vector<std::string>& uris) {
  writer.key(name).begin_array();
  for (const auto& uri : uris) writer.string(uri);
  writer.end_array();
}

request make_uris_request(std::string_view method, const std::vector<std::string>& uris) {
  auto out = make_request(method);
  if (!uris.empty()) out.target = uris.front();
  json::writer writer(out.params);
  write_uris(writer, "uris", uris);
  return out;
}

void write(json::writer& writer, const entry_filter& filter) {
  writer.key("filter").begin_object();
  if (filter.text) writer.member("text", *filter.text);
  if (filter.uri_prefix) writer.member("uriPrefix", *filter.uri_prefix);
  if (filter.uri_pattern) writer.member("uriPattern", *filter.uri_pattern);
  if (filter.mime_type) writer.member("mimeType", *filter.mime_type + (filter.mime_type->ends_with('/') ? "*" : ""));
  if (filter.kind) writer.member("kind", *filter.kind);
  if (filter.audience) writer.member("audience", *filter.audience == chat_role::user ? "user" : "assistant");
  if (filter.min_priority) writer.key("minPriority").number(*filter.min_priority);
  if (filter.modified_since) writer.member("modifiedSince", model::format_iso_8601(*filter.modified_since));
  writer.end_object();
}

request make_complete_request(std::string_view type, std::string_view member, std::string_view reference,
                              std::string_view argument, std::string_view partial_value, const named_texts& context) {
  auto out = make_request("completion/complete");
  out.target = reference;
  json::writer writer(out.params);
  writer.key("ref").begin_object().member("type", type).member(member, reference).end_object();
  writer.key("argument").begin_object().member("name", argument).member("value", partial_value).end_object();
  if (context.empty()) return out;
  writer.key("context").begin_object();
  write_texts(writer, "arguments", context);
  writer.end_object();
  return out;
}

std::string make_notification(std::string_view method) {
  std::string out;
  json::writer(out).begin_object().member("jsonrpc", "2.0").member("method", method).end_object();
  return out;
}

}  // namespace

request list_resources(const optional_cursor& cursor, const entry_filter* filter) {
  auto out = make_request("resources/list");
  json::writer writer(out.params);
  if (filter != nullptr) write(writer, *filter);
  if (cursor) writer.key("cursor").string(*cursor);
  return out;
}

request list_templates(const optional_cursor& cursor) { return make_list_request("resources/templates/list", cursor); }

request list_folder(std::string_view uri, const optional_cursor& cursor) {
  auto out = make_request("resources/directory/read");
  out.target = uri;
  json::writer writer(out.params);
  writer.key("uri").string(uri);
  if (cursor) writer.key("cursor").string(*cursor);
  return out;
}

request list_tools(const optional_cursor& cursor) { return make_list_request("tools/list", cursor); }
request list_prompts(const optional_cursor& cursor) { return make_list_request("prompts/list", cursor); }
request list_skills(const optional_cursor& cursor) { return make_list_request("skills/list", cursor); }

request read(std::string_view uri, std::string_view version) {
  auto out = make_request("resources/read");
  out.target = uri;
  out.repeats_target = true;
  out.allows_input_requests = true;
  json::writer writer(out.params);
  writer.key("uri").string(uri);
  if (!version.empty()) writer.key("version").string(version);
  return out;
}

request get_resource(std::string_view uri) { return make_uri_request("resources/get", uri); }
request get_skill(std::string_view uri) { return make_uri_request("skills/get", uri); }

request get_prompt(std::string_view name, const named_texts& arguments) {
  auto out = make_request("prompts/get");
  out.target = name;
  out.repeats_target = true;
  out.allows_input_requests = true;
  json::writer writer(out.params);
  writer.key("name").string(name);
  if (!arguments.empty()) write_texts(writer, "arguments", arguments);
  return out;
}

request call_tool(std::string_view name, const value& arguments) {
  auto out = make_request("tools/call");
  out.target = name;
  out.repeats_target = true;
  out.allows_input_requests = true;
  json::writer(out.params).key("name").string(name).key("arguments").raw(arguments.is_null() ? "{}" : arguments.to_text());
  return out;
}

request complete_template(std::string_view uri_template, std::string_view variable, std::string_view partial_value,
                          const named_texts& context) {
  return make_complete_request("ref/resource", "uri", uri_template, variable, partial_value, context);
}

request complete_prompt(std::string_view name, std::string_view argument, std::string_view partial_value,
                        const named_texts& context) {
  return make_complete_request("ref/prompt", "name", name, argument, partial_value, context);
}

request subscribe(std::string_view uri) { return make_uri_request("resources/subscribe", uri); }
request unsubscribe(std::string_view uri) { return make_uri_request("resources/unsubscribe", uri); }
request subscribe_entries(const std::vector<std::string>& uris) { return make_uris_request("resources/subscribe", uris); }
request unsubscribe_entries(const std::vector<std::string>& uris) { return make_uris_request("resources/unsubscribe", uris); }

request listen(const watch_request& watch, bool entries) {
  auto out = make_request("subscriptions/listen");
  json::writer writer(out.params);
  writer.key("notifications").begin_object();
  if (watch.resource_list) writer.key("resourcesListChanged").boolean(true);
  if (watch.tool_list) writer.key("toolsListChanged").boolean(true);
  if (watch.prompt_list) writer.key("promptsListChanged").boolean(true);
  if (!watch.uris.empty()) write_uris(writer, entries ? entries_member : "resourceSubscriptions", watch.uris);
  writer.end_object();
  return out;
}

request set_level(log_level min_level) {
  auto out = make_request("logging/setLevel");
  json::writer(out.params).key("level").string(name_of(min_level));
  return out;
}

request ping() { return make_request("ping"); }
request discover() { return make_request("server/discover"); }

request initialize(const client_options& options, const negotiated_protocol& protocol) {
  auto out = make_request("initialize");
  json::writer writer(out.params);
  writer.key("protocolVersion").string(protocol.revision);
  writer.key("capabilities");
  write_capabilities(writer, options, protocol);
  writer.key("clientInfo");
  write_client_info(writer, options, protocol);
  return out;
}

request custom_request(std::string_view method, const value& params) {
  auto out = make_request(method);
  out.allows_input_requests = true;
  if (const auto* members = params.as_object()) {
    json::writer writer(out.params);
    for (const auto& [name, member_value] : *members) writer.key(name).raw(member_value.to_text());
  }
  for (const auto* member : {"uri", "name"}) {
    const auto* target_value = params.find(member);
    if (target_value == nullptr || target_value->as_string() == nullptr || !out.target.empty()) continue;
    out.target = *target_value->as_string();
    out.repeats_target = method == "resources/read" || method == "tools/call" || method == "prompts/get";
  }
  return out;
}

std::string initialized() { return make_notification("notifications/initialized"); }
std::string roots_changed() { return make_notification("notifications/roots/list_changed"); }

namespace {

void write_elicitation(json::writer& writer, const client_handlers& handlers, const negotiated_protocol& protocol) {
  if (!handlers.form_elicitation && !handlers.url_elicitation) return;
  if (!protocol.is_modern && protocol.revision < "2025-06-18") return;
  if (!handlers.form_elicitation && protocol.revision < "2025-11-25") return;
  writer.key("elicitation").begin_object();
  if (protocol.revision >= "2025-11-25") {
    if (handlers.form_elicitation) writer.key("form").begin_object().end_object();
    if (handlers.url_elicitation) writer.key("url").begin_object().end_object();
  }
  writer.end_object();
}

void write_sampling(json::writer& writer, const client_handlers& handlers, const negotiated_protocol& protocol) {
  if (!handlers.sampling) return;
  writer.key("sampling").begin_object();
  if (protocol.revision >= "2025-11-25") {
    if (handlers.sampling_tools) writer.key("tools").begin_object().end_object();
    if (handlers.sampling_context) writer.key("context").begin_object().end_object();
  }
  writer.end_object();
}

/// Encodes a header value. Spec: 2026-07-28 basic/transports/streamable-http#value-encoding.
std::string encode_header_value(std::string_view value) {
  const bool is_plain = std::all_of(value.begin(), value.end(), [](char c) { return c >= ' ' && c <= '~'; }) &&
                        !value.starts_with(' ') && !value.ends_with(' ') &&
                        !(value.starts_with("=?base64?") && value.ends_with("?="));
  if (is_plain) return std::string(value);
  std::string out = "=?base64?";
  json::append_base64(out, value);
  return out + "?=";
}

}  // namespace

void write_capabilities(json::writer& writer, const client_options& options, const negotiated_protocol& protocol) {
  const auto& handlers = options.handlers;
  writer.begin_object();
  if (handlers.roots) {
    writer.key("roots").begin_object();
    if (!protocol.is_modern) writer.key("listChanged").boolean(true);
    writer.end_object();
  }
  write_sampling(writer, handlers, protocol);
  write_elicitation(writer, handlers, protocol);
  writer.key(protocol.is_modern ? "extensions" : "experimental").begin_object();
  writer.key(versions_extension).begin_object().end_object();
  if (protocol.is_modern) writer.key(skills_extension).begin_object().end_object();
  writer.end_object().end_object();
}

void write_client_info(json::writer& writer, const client_options& options, const negotiated_protocol& protocol) {
  writer.begin_object().member("name", options.name).member("version", options.version);
  if (protocol.revision >= "2025-06-18") writer.member_if("title", options.title);
  writer.end_object();
}

std::string encode_request(const request& request, std::uint64_t id, const negotiated_protocol& protocol,
                           const client_options& options, bool requests_progress, const trace_context& trace) {
  std::string out;
  out.reserve(256 + request.params.size());
  json::writer writer(out);
  writer.begin_object().member("jsonrpc", "2.0").key("id").unsigned_integer(id).member("method", request.method);
  const auto extra_meta = options.meta ? options.meta() : value::object();
  const bool has_meta =
      protocol.is_modern || requests_progress || !extra_meta.empty() || !trace.traceparent.empty() || !trace.baggage.empty();
  if (has_meta || !request.params.empty()) {
    // The members are JSON already, so the writer gets one raw value.
    std::string params = "{" + request.params;
    if (has_meta) {
      std::string meta;
      json::writer inner(meta);
      inner.begin_object();
      if (requests_progress) inner.key("progressToken").unsigned_integer(id);
      if (protocol.is_modern) {
        inner.member(revision_key, protocol.revision);
        inner.key(client_key);
        write_client_info(inner, options, protocol);
        inner.key(capabilities_key);
        write_capabilities(inner, options, protocol);
        if (options.min_log_level) inner.member(level_key, name_of(*options.min_log_level));
      }
      // A tracestate without its traceparent is meaningless.
      if (!trace.traceparent.empty()) {
        inner.member("traceparent", trace.traceparent).member_if("tracestate", trace.tracestate);
      }
      inner.member_if("baggage", trace.baggage);
      const auto is_trace_member = [&trace](std::string_view name) {
        return ((name == "traceparent" || name == "tracestate") && !trace.traceparent.empty()) ||
               (name == "baggage" && !trace.baggage.empty());
      };
      for (const auto& [name, entry_value] : extra_meta)
        if (!is_trace_member(name)) inner.key(name).raw(entry_value.to_text());
      inner.end_object();
      params += (request.params.empty() ? "\"_meta\":" : ",\"_meta\":") + meta;
    }
    params += '}';
    writer.key("params").raw(params);
  }
  writer.end_object();
  return out;
}

std::vector<std::pair<std::string, std::string>> headers_of(const request& request, const negotiated_protocol& protocol) {
  if (!protocol.is_modern) return {};
  std::vector<std::pair<std::string, std::string>> out{{"MCP-Protocol-Version", protocol.revision},
                                                       {"Mcp-Method", request.method}};
  if (request.repeats_target) out.emplace_back("Mcp-Name", encode_header_value(request.target));
  return out;
}

std::vector<std::pair<std::string, std::string>> session_headers(const negotiated_protocol& protocol) {
  if (protocol.is_modern || protocol.revision < "2025-06-18") return {};
  return {{"MCP-Protocol-Version", protocol.revision}};
}

std::pair<std::string, std::string> argument_header(std::string_view name, std::string_view value) {
  return {"Mcp-Param-" + std::string(name), encode_header_value(value)};
}

server_description parse_server_description(const json::object& result, const negotiated_protocol& protocol) {
  server_description out;
  out.revision = protocol.revision;
  out.is_modern = protocol.is_modern;
  out.instructions = text_member(result, "instructions");
  auto server_info = object_member(result, "serverInfo");
  if (protocol.is_modern) {
    if (const auto meta = object_member(result, "_meta")) {
      if (const auto inner = object_member(*meta, server_key)) server_info = inner;
    }
    for (const auto& element : elements_of(result, "supportedVersions")) {
      if (const auto text = element.as_string("supportedVersions")) out.revisions.emplace_back(*text);
    }
  }
  if (server_info) {
    out.name = text_member(*server_info, "name");
    out.title = text_member(*server_info, "title");
    out.version = text_member(*server_info, "version");
  }
  const auto capabilities = object_member(result, "capabilities");
  if (!capabilities) return out;
  if (const auto member = result.find("capabilities"); member && *member) {
    if (auto parsed = copy_value(**member)) out.capabilities = std::move(*parsed);
  }
  if (const auto resources = object_member(*capabilities, "resources")) {
    out.has_resources = true;
    out.has_subscriptions = flag_member(*resources, "subscribe");
    out.has_list_changes = flag_member(*resources, "listChanged");
  }
  out.has_tools = object_member(*capabilities, "tools").has_value();
  out.has_prompts = object_member(*capabilities, "prompts").has_value();
  // Revisions before 2025-03-26 have completion, but no capability for it.
  out.has_completion = object_member(*capabilities, "completions").has_value() || protocol.revision == "2024-11-05";
  const auto extensions = object_member(*capabilities, protocol.is_modern ? "extensions" : "experimental");
  if (!extensions) return out;
  out.has_versions = object_member(*extensions, versions_extension).has_value();
  if (const auto skills = object_member(*extensions, skills_extension)) {
    out.has_skills = true;
    out.has_folders = flag_member(*skills, "directoryRead");
  }
  return out;
}

}  // namespace hondana::wire::asking
