/// The client for the official conformance suite. It uses every feature that a server has.
///
/// The suite starts it with the server's URL as its last argument, the scenario's name in MCP_CONFORMANCE_SCENARIO, and for
/// some scenarios the calls to make in MCP_CONFORMANCE_CONTEXT.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <hondana/authorization.hpp>
#include <hondana/client.hpp>

#include "login.hpp"

namespace {

using hondana::value;

std::string environment_variable(const char* name) {
  const auto* text = std::getenv(name);
  return text == nullptr ? std::string() : text;
}

/// Accepts a form, and sets boolean fields without a default to true; the client adds the defaults.
hondana::result<hondana::elicitation_response> fill_form(const hondana::form_request& form, const value&) {
  value::object filled;
  if (const auto* properties = form.requested_schema.find("properties"); properties != nullptr && properties->as_object()) {
    for (const auto& [name, field] : *properties->as_object()) {
      const auto* kind = field.find("type");
      if (field.find("default") == nullptr && kind != nullptr && *kind == value("boolean")) filled.emplace_back(name, true);
    }
  }
  return hondana::elicitation_response{"accept", filled};
}

hondana::client_options host_options() {
  hondana::client_options out;
  out.name = "hondana-everything-client";
  out.fetches_https = false;  // the suite runs no servers for the links that it lists
  out.log = [](std::string_view line) { std::fprintf(stderr, "%.*s\n", static_cast<int>(line.size()), line.data()); };
  out.handlers.form_elicitation = fill_form;
  out.handlers.url_elicitation = [](const hondana::url_request&,
                                    const value&) -> hondana::result<hondana::elicitation_response> {
    return hondana::elicitation_response{"decline", {}};
  };
  out.handlers.sampling = [](const hondana::sampling_request&, const value&) -> hondana::result<hondana::sampling_response> {
    return hondana::sampling_response{value::object{{"type", "text"}, {"text", "a continuation"}}, "none", "endTurn"};
  };
  out.handlers.roots = []() -> hondana::result<std::vector<hondana::root>> {
    return std::vector<hondana::root>{{"file:///srv/work", "work"}};
  };
  return out;
}

/// The client's identity for authorization servers: the one in the context, or none.
hondana::oauth_client_options oauth_options(const value& context) {
  hondana::oauth_client_options out;
  const auto context_text = [&context](const char* name) -> std::optional<std::string> {
    const auto* member = context.find(name);
    if (member == nullptr || member->as_string() == nullptr) return std::nullopt;
    return *member->as_string();
  };
  out.client_id = context_text("client_id");
  out.client_secret = context_text("client_secret");
  out.issuer = context_text("issuer");
  // The suite runs both servers, and does not announce their addresses.
  out.trusts_any_issuer = !out.issuer;
  out.private_key = context_text("private_key_pem");
  out.client_name = "hondana-everything-client";
  // The URL at which the suite expects a metadata document. It does not fetch it.
  out.metadata_url = "https://conformance-test.local/client-metadata.json";
  // These scenarios have credentials of a program and no user.
  const bool is_machine = environment_variable("MCP_CONFORMANCE_SCENARIO").starts_with("auth/client-credentials");
  if (is_machine) out.grant = hondana::oauth_grant::client_credentials;
  out.login = std::make_shared<automatic_login>();
  out.log = [](std::string_view line) { std::fprintf(stderr, "%.*s\n", static_cast<int>(line.size()), line.data()); };
  return out;
}

int report_error(std::string_view action, const hondana::failure& error) {
  std::fprintf(stderr, "%.*s: %s\n", static_cast<int>(action.size()), action.data(), error.public_text.c_str());
  return 1;
}

/// An argument for each property that a schema requires, and for each that has its own header.
value arguments_for(const value& schema) {
  value::object out;
  const auto* properties = schema.find("properties");
  if (properties == nullptr || properties->as_object() == nullptr) return out;
  for (const auto& [name, field] : *properties->as_object()) {
    const auto* kind = field.find("type");
    const std::string type = kind != nullptr && kind->as_string() != nullptr ? *kind->as_string() : "";
    if (type == "number" || type == "integer") {
      out.emplace_back(name, 2);
    } else if (type == "boolean") {
      out.emplace_back(name, true);
    } else if (type == "string") {
      out.emplace_back(name, "text");
    } else if (type == "object") {
      out.emplace_back(name, value::object{});
    }
  }
  return out;
}

int call_tools(hondana::client& client) {
  auto tools = client.tools().collect();
  if (!tools) return report_error("list tools", tools.error());
  std::optional<value> rich;
  for (const auto& tool : *tools) {
    auto arguments = arguments_for(tool.input_schema);
    // This tool expects the unchanged schema of the previous tool.
    if (arguments.find("schema") != nullptr && rich) arguments = value::object{{"schema", *rich}};
    rich = tool.input_schema;
    const auto result = client.call_tool(tool.name, arguments);
    if (!result) return report_error("call " + tool.name, result.error());
  }
  return 0;
}

int call_listed(hondana::client& client, const value& calls) {
  for (const auto& call : *calls.as_array()) {
    const auto name = call.string_at("name");
    const auto arguments = call.at("arguments");
    if (!name || !arguments) return report_error("read the context", name ? arguments.error() : name.error());
    if (const auto result = client.call_tool(*name, *arguments); !result) return report_error("call " + *name, result.error());
  }
  return 0;
}

int use_resources(hondana::client& client) {
  auto entries = client.resources().collect();
  if (!entries) return report_error("list resources", entries.error());
  for (const auto& resource : *entries) {
    if (const auto result = client.read(resource.uri); !result) return report_error("read " + resource.uri, result.error());
  }
  return 0;
}

int use_prompts(hondana::client& client) {
  auto prompts = client.prompts().collect();
  if (!prompts) return report_error("list prompts", prompts.error());
  for (const auto& prompt : *prompts) {
    if (const auto result = client.get_prompt(prompt.name); !result)
      return report_error("get prompt " + prompt.name, result.error());
  }
  return 0;
}

/// Loads every skill: its SKILL.md first, and the other files only if that file matches its entry.
int load_skills(hondana::client& client) {
  auto skills = client.skills().collect();
  if (!skills) return report_error("list skills", skills.error());
  for (const auto& skill : *skills) {
    if (const auto front = client.read_skill_file(skill, skill.uri); !front)
      return report_error("load " + skill.uri, front.error());
    for (const auto& file : skill.files.value_or(std::vector<hondana::skill_file>())) {
      if (file.uri == skill.uri) continue;
      if (const auto result = client.read_skill_file(skill, file.uri); !result)
        return report_error("load " + file.uri, result.error());
    }
  }
  return 0;
}

int use_everything(hondana::client& client, const std::string& scenario, const value& context) {
  const auto server = client.server();
  if (scenario == "sep-2640-client-no-prefetch") {
    const auto skills = client.skills().collect();
    return skills ? 0 : report_error("list skills", skills.error());
  }
  if (server.has_skills) return load_skills(client);
  int worst = 0;
  if (const auto* calls = context.find("toolCalls"); calls != nullptr && calls->as_array() != nullptr) {
    // Lists the tools first, as a host does before it calls one.
    if (const auto tools = client.tools().collect(); !tools) return report_error("list tools", tools.error());
    worst = call_listed(client, *calls);
  } else if (server.has_tools) {
    worst = call_tools(client);
  } else {
    // The servers of some scenarios declare no capabilities, but answer requests.
    if (const auto result = client.request("tools/list", {}); !result) worst = report_error("list tools", result.error());
  }
  if (server.has_resources) worst = std::max(worst, use_resources(client));
  if (server.has_prompts) worst = std::max(worst, use_prompts(client));
  return worst;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) {
    std::fprintf(stderr, "usage: everything_client URL\n");
    return 1;
  }
  value context = value::object{};
  if (const auto text = environment_variable("MCP_CONFORMANCE_CONTEXT"); !text.empty()) {
    auto parsed = value::parse(text);
    if (!parsed) return report_error("read MCP_CONFORMANCE_CONTEXT", parsed.error());
    context = std::move(*parsed);
  }
  hondana::http_target target;
  target.url = arguments[count - 1];
  auto tokens = hondana::oauth_session::create(target.url, oauth_options(context));
  if (!tokens) return report_error("prepare to log in to " + target.url, tokens.error());
  target.tokens = *tokens;
  auto client = hondana::client::connect(target, host_options());
  if (!client) return report_error("connect to " + target.url, client.error());
  return use_everything(*client, environment_variable("MCP_CONFORMANCE_SCENARIO"), context);
}
