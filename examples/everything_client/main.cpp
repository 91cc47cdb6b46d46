/// The client that the official conformance suite drives: it uses everything a server has, as a thorough host would.
///
/// The suite starts it with the server's URL as its last argument, the scenario's name in MCP_CONFORMANCE_SCENARIO, and for
/// some scenarios the calls it shall make in MCP_CONFORMANCE_CONTEXT.
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

std::string variable(const char* name) {
  const auto* found = std::getenv(name);
  return found == nullptr ? std::string() : found;
}

/// Says yes to whatever a form asks that has no default of its own; the client adds the defaults.
hondana::result<hondana::form_answer> fill(const hondana::form_request& form, const value&) {
  value::object filled;
  if (const auto* properties = form.requestedSchema.find("properties"); properties != nullptr && properties->as_object()) {
    for (const auto& [name, field] : *properties->as_object()) {
      const auto* kind = field.find("type");
      if (field.find("default") == nullptr && kind != nullptr && *kind == value("boolean")) filled.emplace_back(name, true);
    }
  }
  return hondana::form_answer{"accept", filled};
}

hondana::client_options options_of_a_host() {
  hondana::client_options out;
  out.name = "hondana-everything-client";
  out.fetches_https = false;  // the suite has no servers behind the links it lists
  out.log = [](std::string_view line) { std::fprintf(stderr, "%.*s\n", static_cast<int>(line.size()), line.data()); };
  out.handlers.form = fill;
  out.handlers.link = [](const hondana::link_request&, const value&) -> hondana::result<hondana::form_answer> {
    return hondana::form_answer{"decline", {}};
  };
  out.handlers.sampling = [](const hondana::sampling_request&, const value&) -> hondana::result<hondana::sampling_answer> {
    return hondana::sampling_answer{value::object{{"type", "text"}, {"text", "a continuation"}}, "none", "endTurn"};
  };
  out.handlers.roots = []() -> hondana::result<std::vector<hondana::root>> {
    return std::vector<hondana::root>{{"file:///srv/work", "work"}};
  };
  return out;
}

/// Who we are to authorization servers: a client of the name that the context gives, or one of none.
hondana::oauth_settings settings_of_a_host(const value& context) {
  hondana::oauth_settings out;
  const auto given = [&context](const char* name) {
    const auto* found = context.find(name);
    return found == nullptr || found->as_string() == nullptr ? std::string() : *found->as_string();
  };
  out.client_id = given("client_id");
  out.client_secret = given("client_secret");
  out.issuer = given("issuer");
  // The suite plays both servers, and tells nobody beforehand where they are.
  out.any_issuer = out.issuer.empty();
  out.private_key = given("private_key_pem");
  out.client_name = "hondana-everything-client";
  // Where the suite expects a metadata document, which nobody fetches.
  out.metadata_url = "https://conformance-test.local/client-metadata.json";
  // Credentials without somebody to log in are those of a machine.
  const bool is_machine = variable("MCP_CONFORMANCE_SCENARIO").starts_with("auth/client-credentials");
  if (is_machine) out.grant = hondana::oauth_grant::client_credentials;
  out.login = std::make_shared<login_without_user>();
  out.log = [](std::string_view line) { std::fprintf(stderr, "%.*s\n", static_cast<int>(line.size()), line.data()); };
  return out;
}

int complain(std::string_view doing, const hondana::failure& why) {
  std::fprintf(stderr, "%.*s: %s\n", static_cast<int>(doing.size()), doing.data(), why.public_text.c_str());
  return 1;
}

/// An argument for each property that a schema requires, and for each that has a header of its own.
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
  auto tools = client.tools().all();
  if (!tools) return complain("list tools", tools.error());
  std::optional<value> rich;
  for (const auto& one : *tools) {
    auto arguments = arguments_for(one.inputSchema);
    // A tool that wants another's schema back as it was.
    if (arguments.find("schema") != nullptr && rich) arguments = value::object{{"schema", *rich}};
    rich = one.inputSchema;
    const auto got = client.call_tool(one.name, arguments);
    if (!got) return complain("call " + one.name, got.error());
  }
  return 0;
}

int call_as_told(hondana::client& client, const value& calls) {
  for (const auto& one : *calls.as_array()) {
    const auto name = one.string_at("name");
    const auto arguments = one.at("arguments");
    if (!name || !arguments) return complain("read the context", name ? arguments.error() : name.error());
    if (const auto got = client.call_tool(*name, *arguments); !got) return complain("call " + *name, got.error());
  }
  return 0;
}

int use_resources(hondana::client& client) {
  auto entries = client.resources().all();
  if (!entries) return complain("list resources", entries.error());
  for (const auto& one : *entries) {
    if (const auto got = client.read(one.uri); !got) return complain("read " + one.uri, got.error());
  }
  return 0;
}

int use_prompts(hondana::client& client) {
  auto prompts = client.prompts().all();
  if (!prompts) return complain("list prompts", prompts.error());
  for (const auto& one : *prompts) {
    if (const auto got = client.get_prompt(one.name); !got) return complain("get prompt " + one.name, got.error());
  }
  return 0;
}

/// Loads every skill as a host does when it is told to: its SKILL.md first, and the rest only when that is what was announced.
int load_skills(hondana::client& client) {
  auto skills = client.skills().all();
  if (!skills) return complain("list skills", skills.error());
  for (const auto& one : *skills) {
    if (const auto front = client.read_skill_file(one, one.uri); !front) return complain("load " + one.uri, front.error());
    for (const auto& file : one.files.value_or(std::vector<hondana::skill_file>())) {
      if (file.uri == one.uri) continue;
      if (const auto got = client.read_skill_file(one, file.uri); !got) return complain("load " + file.uri, got.error());
    }
  }
  return 0;
}

int use_everything(hondana::client& client, const std::string& scenario, const value& context) {
  const auto server = client.server();
  if (scenario == "sep-2640-client-no-prefetch") {
    const auto skills = client.skills().all();
    return skills ? 0 : complain("list skills", skills.error());
  }
  if (server.has_skills) return load_skills(client);
  int worst = 0;
  if (const auto* calls = context.find("toolCalls"); calls != nullptr && calls->as_array() != nullptr) {
    // The tools are listed first, as a host does before it calls any.
    if (const auto tools = client.tools().all(); !tools) return complain("list tools", tools.error());
    worst = call_as_told(client, *calls);
  } else if (server.has_tools) {
    worst = call_tools(client);
  } else {
    // Some scenarios declare nothing and answer all the same.
    if (const auto got = client.request("tools/list", {}); !got) worst = complain("list tools", got.error());
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
  if (const auto text = variable("MCP_CONFORMANCE_CONTEXT"); !text.empty()) {
    auto parsed = value::parse(text);
    if (!parsed) return complain("read MCP_CONFORMANCE_CONTEXT", parsed.error());
    context = std::move(*parsed);
  }
  hondana::http_target target;
  target.url = arguments[count - 1];
  auto tokens = hondana::oauth_session::of(target.url, settings_of_a_host(context));
  if (!tokens) return complain("prepare to log in to " + target.url, tokens.error());
  target.tokens = *tokens;
  auto client = hondana::client::connect(target, options_of_a_host());
  if (!client) return complain("connect to " + target.url, client.error());
  return use_everything(*client, variable("MCP_CONFORMANCE_SCENARIO"), context);
}
