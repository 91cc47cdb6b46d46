/// Methods and their parameters.
#include "protocol/wire/asking/requests.hpp"

#include "base/json/writer.hpp"
#include "protocol/model/times.hpp"
#include "protocol/wire/asking/speech.hpp"
#include "protocol/wire/logging.hpp"
#include "protocol/wire/names.hpp"

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

}  // namespace hondana::wire::asking
