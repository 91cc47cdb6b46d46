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

request of_method(std::string_view method) {
  request out;
  out.method = method;
  return out;
}

request list(std::string_view method, const cursor& from) {
  auto out = of_method(method);
  if (from) json::writer(out.params).key("cursor").string(*from);
  return out;
}

request about(std::string_view method, std::string_view uri) {
  auto out = of_method(method);
  out.target = uri;
  json::writer(out.params).key("uri").string(uri);
  return out;
}

void write_texts(json::writer& to, std::string_view name, const named_texts& all) {
  to.key(name).begin_object();
  for (const auto& [key, text] : all) to.member(key, text);
  to.end_object();
}

void write_uris(json::writer& to, std::string_view name, const std::vector<std::string>& uris) {
  to.key(name).begin_array();
  for (const auto& one : uris) to.string(one);
  to.end_array();
}

request of_uris(std::string_view method, const std::vector<std::string>& uris) {
  auto out = of_method(method);
  if (!uris.empty()) out.target = uris.front();
  json::writer to(out.params);
  write_uris(to, "uris", uris);
  return out;
}

void write(json::writer& to, const entry_filter& wanted) {
  to.key("filter").begin_object();
  to.member_if("text", wanted.text).member_if("uriPrefix", wanted.uri_prefix).member_if("uriPattern", wanted.uri_pattern);
  if (!wanted.mime_type.empty()) to.member("mimeType", wanted.mime_type + (wanted.mime_type.ends_with('/') ? "*" : ""));
  to.member_if("kind", wanted.kind);
  if (wanted.audience) to.member("audience", *wanted.audience == role::user ? "user" : "assistant");
  if (wanted.min_priority) to.key("minPriority").number(*wanted.min_priority);
  if (wanted.modified_since) to.member("modifiedSince", model::iso_8601(*wanted.modified_since));
  to.end_object();
}

request complete(std::string_view type, std::string_view member, std::string_view what, std::string_view argument,
                 std::string_view typed, const named_texts& chosen) {
  auto out = of_method("completion/complete");
  out.target = what;
  json::writer to(out.params);
  to.key("ref").begin_object().member("type", type).member(member, what).end_object();
  to.key("argument").begin_object().member("name", argument).member("value", typed).end_object();
  if (chosen.empty()) return out;
  to.key("context").begin_object();
  write_texts(to, "arguments", chosen);
  to.end_object();
  return out;
}

std::string notification(std::string_view method) {
  std::string out;
  json::writer(out).begin_object().member("jsonrpc", "2.0").member("method", method).end_object();
  return out;
}

}  // namespace

request list_resources(const cursor& from, const entry_filter* wanted) {
  auto out = of_method("resources/list");
  json::writer to(out.params);
  if (wanted != nullptr) write(to, *wanted);
  if (from) to.key("cursor").string(*from);
  return out;
}

request list_templates(const cursor& from) { return list("resources/templates/list", from); }

request list_folder(std::string_view uri, const cursor& from) {
  auto out = of_method("resources/directory/read");
  out.target = uri;
  json::writer to(out.params);
  to.key("uri").string(uri);
  if (from) to.key("cursor").string(*from);
  return out;
}

request list_tools(const cursor& from) { return list("tools/list", from); }
request list_prompts(const cursor& from) { return list("prompts/list", from); }
request list_skills(const cursor& from) { return list("skills/list", from); }

request read(std::string_view uri, std::string_view version) {
  auto out = of_method("resources/read");
  out.target = uri;
  out.repeats_target = true;
  out.may_be_asked = true;
  json::writer to(out.params);
  to.key("uri").string(uri);
  if (!version.empty()) to.key("version").string(version);
  return out;
}

request get_resource(std::string_view uri) { return about("resources/get", uri); }
request get_skill(std::string_view uri) { return about("skills/get", uri); }

request get_prompt(std::string_view name, const named_texts& arguments) {
  auto out = of_method("prompts/get");
  out.target = name;
  out.repeats_target = true;
  out.may_be_asked = true;
  json::writer to(out.params);
  to.key("name").string(name);
  if (!arguments.empty()) write_texts(to, "arguments", arguments);
  return out;
}

request call_tool(std::string_view name, const value& arguments) {
  auto out = of_method("tools/call");
  out.target = name;
  out.repeats_target = true;
  out.may_be_asked = true;
  json::writer(out.params).key("name").string(name).key("arguments").raw(arguments.is_null() ? "{}" : arguments.to_text());
  return out;
}

request complete_template(std::string_view uri_template, std::string_view variable, std::string_view typed,
                          const named_texts& chosen) {
  return complete("ref/resource", "uri", uri_template, variable, typed, chosen);
}

request complete_prompt(std::string_view name, std::string_view argument, std::string_view typed, const named_texts& chosen) {
  return complete("ref/prompt", "name", name, argument, typed, chosen);
}

request subscribe(std::string_view uri) { return about("resources/subscribe", uri); }
request unsubscribe(std::string_view uri) { return about("resources/unsubscribe", uri); }
request subscribe_entries(const std::vector<std::string>& uris) { return of_uris("resources/subscribe", uris); }
request unsubscribe_entries(const std::vector<std::string>& uris) { return of_uris("resources/unsubscribe", uris); }

request listen(const watch_request& what, bool entries) {
  auto out = of_method("subscriptions/listen");
  json::writer to(out.params);
  to.key("notifications").begin_object();
  if (what.resource_list) to.key("resourcesListChanged").boolean(true);
  if (what.tool_list) to.key("toolsListChanged").boolean(true);
  if (what.prompt_list) to.key("promptsListChanged").boolean(true);
  if (!what.uris.empty()) write_uris(to, entries ? entries_member : "resourceSubscriptions", what.uris);
  to.end_object();
  return out;
}

request set_level(log_level least) {
  auto out = of_method("logging/setLevel");
  json::writer(out.params).key("level").string(name_of(least));
  return out;
}

request ping() { return of_method("ping"); }
request discover() { return of_method("server/discover"); }

request initialize(const client_options& options, const speech& in) {
  auto out = of_method("initialize");
  json::writer to(out.params);
  to.key("protocolVersion").string(in.revision);
  to.key("capabilities");
  write_capabilities(to, options, in);
  to.key("clientInfo");
  write_self(to, options, in);
  return out;
}

request any(std::string_view method, const value& params) {
  auto out = of_method(method);
  out.may_be_asked = true;
  if (const auto* all = params.as_object()) {
    json::writer to(out.params);
    for (const auto& [name, one] : *all) to.key(name).raw(one.to_text());
  }
  for (const auto* member : {"uri", "name"}) {
    const auto* one = params.find(member);
    if (one == nullptr || one->as_string() == nullptr || !out.target.empty()) continue;
    out.target = *one->as_string();
    out.repeats_target = method == "resources/read" || method == "tools/call" || method == "prompts/get";
  }
  return out;
}

std::string initialized() { return notification("notifications/initialized"); }
std::string roots_changed() { return notification("notifications/roots/list_changed"); }

namespace {

void write_elicitation(json::writer& to, const client_handlers& can, const speech& in) {
  if (!can.form && !can.link) return;
  if (!in.is_modern && in.revision < "2025-06-18") return;
  if (!can.form && in.revision < "2025-11-25") return;
  to.key("elicitation").begin_object();
  if (in.revision >= "2025-11-25") {
    if (can.form) to.key("form").begin_object().end_object();
    if (can.link) to.key("url").begin_object().end_object();
  }
  to.end_object();
}

void write_sampling(json::writer& to, const client_handlers& can, const speech& in) {
  if (!can.sampling) return;
  to.key("sampling").begin_object();
  if (in.revision >= "2025-11-25") {
    if (can.sampling_tools) to.key("tools").begin_object().end_object();
    if (can.sampling_context) to.key("context").begin_object().end_object();
  }
  to.end_object();
}

/// Encodes a header value. Spec: 2026-07-28 basic/transports/streamable-http#value-encoding.
std::string header_spelling(std::string_view value) {
  const bool is_plain = std::all_of(value.begin(), value.end(), [](char c) { return c >= ' ' && c <= '~'; }) &&
                        !value.starts_with(' ') && !value.ends_with(' ') &&
                        !(value.starts_with("=?base64?") && value.ends_with("?="));
  if (is_plain) return std::string(value);
  std::string out = "=?base64?";
  json::append_base64(out, value);
  return out + "?=";
}

}  // namespace

void write_capabilities(json::writer& to, const client_options& options, const speech& in) {
  const auto& can = options.handlers;
  to.begin_object();
  if (can.roots) {
    to.key("roots").begin_object();
    if (!in.is_modern) to.key("listChanged").boolean(true);
    to.end_object();
  }
  write_sampling(to, can, in);
  write_elicitation(to, can, in);
  to.key(in.is_modern ? "extensions" : "experimental").begin_object();
  to.key(versions_extension).begin_object().end_object();
  if (in.is_modern) to.key(skills_extension).begin_object().end_object();
  to.end_object().end_object();
}

void write_self(json::writer& to, const client_options& options, const speech& in) {
  to.begin_object().member("name", options.name).member("version", options.version);
  if (in.revision >= "2025-06-18") to.member_if("title", options.title);
  to.end_object();
}

std::string spelled(const request& what, std::uint64_t id, const speech& in, const client_options& options, bool reports,
                    const trace_context& trace) {
  std::string out;
  out.reserve(256 + what.params.size());
  json::writer to(out);
  to.begin_object().member("jsonrpc", "2.0").key("id").unsigned_integer(id).member("method", what.method);
  const auto more = options.meta ? options.meta() : value::object();
  const bool has_meta = in.is_modern || reports || !more.empty() || !trace.traceparent.empty() || !trace.baggage.empty();
  if (has_meta || !what.params.empty()) {
    // The members are JSON already, so the writer gets one raw value.
    std::string params = "{" + what.params;
    if (has_meta) {
      std::string meta;
      json::writer inner(meta);
      inner.begin_object();
      if (reports) inner.key("progressToken").unsigned_integer(id);
      if (in.is_modern) {
        inner.member(revision_key, in.revision);
        inner.key(client_key);
        write_self(inner, options, in);
        inner.key(capabilities_key);
        write_capabilities(inner, options, in);
        if (options.least_log_level) inner.member(level_key, name_of(*options.least_log_level));
      }
      // A tracestate without its traceparent is meaningless.
      if (!trace.traceparent.empty()) {
        inner.member("traceparent", trace.traceparent).member_if("tracestate", trace.tracestate);
      }
      inner.member_if("baggage", trace.baggage);
      const auto is_said = [&trace](std::string_view name) {
        return ((name == "traceparent" || name == "tracestate") && !trace.traceparent.empty()) ||
               (name == "baggage" && !trace.baggage.empty());
      };
      for (const auto& [name, one] : more)
        if (!is_said(name)) inner.key(name).raw(one.to_text());
      inner.end_object();
      params += (what.params.empty() ? "\"_meta\":" : ",\"_meta\":") + meta;
    }
    params += '}';
    to.key("params").raw(params);
  }
  to.end_object();
  return out;
}

std::vector<std::pair<std::string, std::string>> headers_of(const request& what, const speech& in) {
  if (!in.is_modern) return {};
  std::vector<std::pair<std::string, std::string>> out{{"MCP-Protocol-Version", in.revision}, {"Mcp-Method", what.method}};
  if (what.repeats_target) out.emplace_back("Mcp-Name", header_spelling(what.target));
  return out;
}

std::vector<std::pair<std::string, std::string>> session_fields(const speech& in) {
  if (in.is_modern || in.revision < "2025-06-18") return {};
  return {{"MCP-Protocol-Version", in.revision}};
}

std::pair<std::string, std::string> argument_header(std::string_view name, std::string_view value) {
  return {"Mcp-Param-" + std::string(name), header_spelling(value)};
}

server_description description_of(const json::object& result, const speech& in) {
  server_description out;
  out.revision = in.revision;
  out.is_modern = in.is_modern;
  out.instructions = text_member(result, "instructions");
  auto self = object_member(result, "serverInfo");
  if (in.is_modern) {
    if (const auto meta = object_member(result, "_meta")) {
      if (const auto inner = object_member(*meta, server_key)) self = inner;
    }
    for (const auto& one : elements_of(result, "supportedVersions")) {
      if (const auto text = one.as_string("supportedVersions")) out.revisions.emplace_back(*text);
    }
  }
  if (self) {
    out.name = text_member(*self, "name");
    out.title = text_member(*self, "title");
    out.version = text_member(*self, "version");
  }
  const auto capabilities = object_member(result, "capabilities");
  if (!capabilities) return out;
  if (const auto member = result.find("capabilities"); member && *member) {
    if (auto taken = take_value(**member)) out.capabilities = std::move(*taken);
  }
  if (const auto resources = object_member(*capabilities, "resources")) {
    out.has_resources = true;
    out.has_subscriptions = flag_member(*resources, "subscribe");
    out.has_list_changes = flag_member(*resources, "listChanged");
  }
  out.has_tools = object_member(*capabilities, "tools").has_value();
  out.has_prompts = object_member(*capabilities, "prompts").has_value();
  // Revisions before 2025-03-26 have completion, but no capability for it.
  out.has_completion = object_member(*capabilities, "completions").has_value() || in.revision == "2024-11-05";
  const auto extensions = object_member(*capabilities, in.is_modern ? "extensions" : "experimental");
  if (!extensions) return out;
  out.has_versions = object_member(*extensions, versions_extension).has_value();
  if (const auto skills = object_member(*extensions, skills_extension)) {
    out.has_skills = true;
    out.has_folders = flag_member(*skills, "directoryRead");
  }
  return out;
}

}  // namespace hondana::wire::asking
