/// Tools, prompts and input from clients: decodes requests, writes entries, results and messages.
#include "protocol/wire/tools_and_prompts.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/value/value.hpp"
#include "protocol/wire/entry_json.hpp"
#include "protocol/wire/request_params.hpp"

namespace hondana::wire {
namespace {

/// The maximum number of input responses in one request.
constexpr std::size_t max_responses = 64;

struct request_writer {
  json::writer& writer;
  const input_members& members;

  void operator()(const form_request& form) const {
    begin("elicitation/create");
    if (members.form_modes) writer.member("mode", "form");
    writer.member("message", form.message).key("requestedSchema").raw(form.requested_schema.to_text());
    writer.end_object();
  }
  void operator()(const url_request& link) const {
    begin("elicitation/create");
    writer.member("mode", "url").member("message", link.message).member("url", link.url);
    if (members.elicitation_ids) writer.member("elicitationId", link.elicitation_id.value_or(std::string()));
    writer.end_object();
  }
  void operator()(const roots_request&) const {
    begin("roots/list");
    writer.end_object();
  }
  void operator()(const sampling_request& sampling) const {
    begin("sampling/createMessage");
    writer.key("messages").begin_array();
    for (const auto& message : sampling.messages) write(writer, message, members.entries);
    writer.end_array();
    const auto raw = [this](std::string_view name, const std::optional<value>& content) {
      if (content) writer.key(name).raw(content->to_text());
    };
    raw("modelPreferences", sampling.model_preferences);
    writer.member_if("systemPrompt", sampling.system_prompt).member_if("includeContext", sampling.include_context);
    if (sampling.temperature) writer.key("temperature").number(*sampling.temperature);
    writer.key("maxTokens").integer(sampling.max_tokens);
    if (!sampling.stop_sequences.empty()) {
      writer.key("stopSequences").begin_array();
      for (const auto& sequence : sampling.stop_sequences) writer.string(sequence);
      writer.end_array();
    }
    raw("metadata", sampling.metadata);
    if (members.sampling_tools) {
      raw("tools", sampling.tools);
      raw("toolChoice", sampling.tool_choice);
    }
    writer.end_object();
  }

 private:
  void begin(std::string_view method) const { writer.member("method", method).key("params").begin_object(); }
};

/// The member `name` if it is an object; otherwise nothing.
json::decoded<std::optional<json::object>> find_declared(const json::object& object, std::string_view name) {
  HONDANA_TRY(const auto member, object.find(name));
  if (!member || member->type() != json::kind::object) return std::optional<json::object>{};
  return std::optional<json::object>{*member->as_object(object.path_of(name))};
}

}  // namespace

json::decoded<client_capabilities> parse_capabilities(const json::object& capabilities) {
  client_capabilities result;
  HONDANA_TRY(const auto elicitation, find_declared(capabilities, "elicitation"));
  if (elicitation) {
    HONDANA_TRY(const auto form, find_declared(*elicitation, "form"));
    HONDANA_TRY(const auto url, find_declared(*elicitation, "url"));
    result.url_elicitation = url.has_value();
    result.form_elicitation = form.has_value() || !result.url_elicitation;  // an empty declaration means forms
  }
  HONDANA_TRY(const auto sampling, find_declared(capabilities, "sampling"));
  if (sampling) {
    HONDANA_TRY(const auto tools, find_declared(*sampling, "tools"));
    HONDANA_TRY(const auto context, find_declared(*sampling, "context"));
    result.sampling = true;
    result.sampling_tools = tools.has_value();
    result.sampling_context = context.has_value();
  }
  HONDANA_TRY(const auto roots, find_declared(capabilities, "roots"));
  result.roots = roots.has_value();
  return result;
}

json::decoded<model::input_round> parse_input_round(const json::object& params) {
  model::input_round round;
  HONDANA_TRY(const auto state, params.find_string("requestState"));
  if (state) round.sealed_state = std::string(*state);
  HONDANA_TRY(const auto responses, params.find_object("inputResponses"));
  if (!responses) return round;
  const auto members = responses->members();
  if (members.size() > max_responses) {
    return tl::unexpected(json::member_error{params.path_of("inputResponses"), "more answers than requests"});
  }
  for (const auto& [key, answer] : members) {
    const auto path = responses->path_of(key);
    if (answer.type() != json::kind::object) return tl::unexpected(answer.as_object(path).error());
    const auto is_same = [&name = key](const auto& entry) { return entry.first == name; };
    if (std::any_of(round.responses.begin(), round.responses.end(), is_same)) {
      return tl::unexpected(json::member_error{path, "occurs twice"});
    }
    auto parsed = copy_value(answer);
    if (!parsed) return tl::unexpected(json::member_error{path, parsed.error().public_text});
    round.responses.emplace_back(std::string(key), std::move(*parsed));
  }
  return round;
}

bool supports_request(const input_request& request, const input_members& members) {
  if (std::holds_alternative<form_request>(request)) return members.form_elicitation;
  if (std::holds_alternative<url_request>(request)) return members.url_elicitation;
  const auto* sampling = std::get_if<sampling_request>(&request);
  return sampling == nullptr || members.sampling_tools || (!sampling->tools && !sampling->tool_choice);
}

void write(json::writer& writer, const input_request& request, const input_members& members) {
  std::visit(request_writer{writer, members}, request);
}

std::string missing_capabilities(const std::vector<std::pair<std::string, input_request>>& requests,
                                 const client_capabilities& client) {
  client_capabilities missing;
  for (const auto& [key, request] : requests) {
    if (client.supports(request)) continue;
    missing.form_elicitation |= std::holds_alternative<form_request>(request);
    missing.url_elicitation |= std::holds_alternative<url_request>(request);
    missing.roots |= std::holds_alternative<roots_request>(request);
    if (const auto* sampling = std::get_if<sampling_request>(&request)) {
      missing.sampling = true;
      missing.sampling_tools |= sampling->tools || sampling->tool_choice;
      missing.sampling_context |= !sampling->include_context.empty() && sampling->include_context != "none";
    }
  }
  if (missing == client_capabilities{}) return {};
  std::string text;
  json::writer writer(text);
  const auto write_empty = [&writer](std::string_view name, bool is_needed) {
    if (is_needed) writer.key(name).begin_object().end_object();
  };
  writer.begin_object();
  if (missing.form_elicitation || missing.url_elicitation) {
    writer.key("elicitation").begin_object();
    write_empty("form", missing.form_elicitation);
    write_empty("url", missing.url_elicitation);
    writer.end_object();
  }
  if (missing.sampling) {
    writer.key("sampling").begin_object();
    write_empty("tools", missing.sampling_tools);
    write_empty("context", missing.sampling_context);
    writer.end_object();
  }
  write_empty("roots", missing.roots);
  writer.end_object();
  return text;
}

namespace {

void write_hints(json::writer& writer, const tool_annotations& hints) {
  std::string members;
  json::writer inner(members);
  inner.begin_object().member_if("title", hints.title);
  const auto flag = [&inner](std::string_view name, const std::optional<bool>& hint) {
    if (hint) inner.key(name).boolean(*hint);
  };
  flag("readOnlyHint", hints.read_only_hint);
  flag("destructiveHint", hints.destructive_hint);
  flag("idempotentHint", hints.idempotent_hint);
  flag("openWorldHint", hints.open_world_hint);
  inner.end_object();
  if (members != "{}") writer.key("annotations").raw(members);
}

/// Before 2026-07-28, structured content must be an object, and so must the values of its schema.
bool supports_schema(const value& schema, const entry_members& members) {
  if (!members.structure) return false;
  const auto type = schema.string_at("type");
  return members.any_structure || (type && *type == "object");
}

}  // namespace

decoded<model::operation> decode_list_tools(std::string_view method, const json::object& params) {
  return decode_list<model::list_tools>(method, params);
}

decoded<model::operation> decode_call_tool(std::string_view method, const json::object& params) {
  const auto name = params.get_string("name");
  if (!name) return tl::unexpected(invalid_params(method, name.error()));
  const auto arguments = params.find_object("arguments");
  if (!arguments) return tl::unexpected(invalid_params(method, arguments.error()));
  model::call_tool call{std::string(*name), value::object{}, {}};
  if (*arguments) {
    auto parsed = copy_value(**params.find("arguments"));
    if (!parsed) return tl::unexpected(invalid_params(method, {params.path_of("arguments"), parsed.error().public_text}));
    call.arguments = std::move(*parsed);
  }
  auto round = parse_input_round(params);
  if (!round) return tl::unexpected(invalid_params(method, round.error()));
  call.round = std::move(*round);
  return model::operation{std::move(call)};
}

void write(json::writer& writer, const tool& entry, const entry_members& members) {
  writer.begin_object().member("name", entry.name);
  if (members.title) writer.member_if("title", entry.title);
  writer.member_if("description", entry.description);
  writer.key("inputSchema").raw(entry.input_schema.to_text());
  if (entry.output_schema && supports_schema(*entry.output_schema, members)) {
    writer.key("outputSchema").raw(entry.output_schema->to_text());
  }
  if (members.audio_and_hints) write_hints(writer, entry.annotations);
  write_icons(writer, entry.icons, members);
  if (members.meta && entry.meta) writer.key("_meta").raw(entry.meta->to_text());
  writer.end_object();
}

void write(json::writer& writer, const tool_result& result, const entry_members& members) {
  writer.key("content");
  write(writer, result.content, members);
  if (result.structured_content && members.structure &&
      (members.any_structure || result.structured_content->as_object() != nullptr)) {
    writer.key("structuredContent").raw(result.structured_content->to_text());
  }
  if (result.is_error) writer.key("isError").boolean(true);
}

decoded<model::operation> decode_list_prompts(std::string_view method, const json::object& params) {
  return decode_list<model::list_prompts>(method, params);
}

decoded<model::operation> decode_get_prompt(std::string_view method, const json::object& params) {
  const auto name = params.get_string("name");
  if (!name) return tl::unexpected(invalid_params(method, name.error()));
  model::get_prompt request{std::string(*name), {}, {}};
  const auto arguments = params.find_object("arguments");
  if (!arguments) return tl::unexpected(invalid_params(method, arguments.error()));
  if (*arguments) {
    for (const auto& [key, argument] : (*arguments)->members()) {
      const auto path = (*arguments)->path_of(key);
      const auto text = argument.as_string(path);
      if (!text) return tl::unexpected(invalid_params(method, text.error()));
      const auto is_same = [&name = key](const auto& entry) { return entry.first == name; };
      if (std::any_of(request.arguments.begin(), request.arguments.end(), is_same)) {
        return tl::unexpected(invalid_params(method, {path, "occurs twice"}));
      }
      request.arguments.emplace_back(std::string(key), std::string(*text));
    }
  }
  auto round = parse_input_round(params);
  if (!round) return tl::unexpected(invalid_params(method, round.error()));
  request.round = std::move(*round);
  return model::operation{std::move(request)};
}

void write(json::writer& writer, const prompt& entry, const entry_members& members) {
  writer.begin_object().member("name", entry.name);
  if (members.title) writer.member_if("title", entry.title);
  writer.member_if("description", entry.description);
  if (!entry.arguments.empty()) {
    writer.key("arguments").begin_array();
    for (const auto& argument : entry.arguments) {
      writer.begin_object().member("name", argument.name);
      if (members.title) writer.member_if("title", argument.title);
      writer.member_if("description", argument.description);
      if (argument.required) writer.key("required").boolean(true);
      writer.end_object();
    }
    writer.end_array();
  }
  write_icons(writer, entry.icons, members);
  if (members.meta && entry.meta) writer.key("_meta").raw(entry.meta->to_text());
  writer.end_object();
}

void write(json::writer& writer, const prompt_result& result, const entry_members& members) {
  writer.member_if("description", result.description);
  writer.key("messages").begin_array();
  for (const auto& message : result.messages) write(writer, message, members);
  writer.end_array();
}

}  // namespace hondana::wire
