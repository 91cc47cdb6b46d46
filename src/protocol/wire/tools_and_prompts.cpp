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
constexpr std::size_t most_answers = 64;

struct request_writer {
  json::writer& to;
  const input_members& members;

  void operator()(const form_request& form) const {
    begin("elicitation/create");
    if (members.modes) to.member("mode", "form");
    to.member("message", form.message).key("requestedSchema").raw(form.requestedSchema.to_text());
    to.end_object();
  }
  void operator()(const link_request& link) const {
    begin("elicitation/create");
    to.member("mode", "url").member("message", link.message).member("url", link.url);
    if (members.link_ids) to.member("elicitationId", link.elicitationId);
    to.end_object();
  }
  void operator()(const roots_request&) const {
    begin("roots/list");
    to.end_object();
  }
  void operator()(const sampling_request& sampling) const {
    begin("sampling/createMessage");
    to.key("messages").begin_array();
    for (const auto& one : sampling.messages) write(to, one, members.entries);
    to.end_array();
    const auto raw = [this](std::string_view name, const std::optional<value>& what) {
      if (what) to.key(name).raw(what->to_text());
    };
    raw("modelPreferences", sampling.modelPreferences);
    to.member_if("systemPrompt", sampling.systemPrompt).member_if("includeContext", sampling.includeContext);
    if (sampling.temperature) to.key("temperature").number(*sampling.temperature);
    to.key("maxTokens").integer(sampling.maxTokens);
    if (!sampling.stopSequences.empty()) {
      to.key("stopSequences").begin_array();
      for (const auto& one : sampling.stopSequences) to.string(one);
      to.end_array();
    }
    raw("metadata", sampling.metadata);
    if (members.sampling_tools) {
      raw("tools", sampling.tools);
      raw("toolChoice", sampling.toolChoice);
    }
    to.end_object();
  }

 private:
  void begin(std::string_view method) const { to.member("method", method).key("params").begin_object(); }
};

/// The member `name` if it is an object; otherwise nothing.
json::decoded<std::optional<json::object>> declared(const json::object& from, std::string_view name) {
  HONDANA_TRY(const auto member, from.find(name));
  if (!member || member->type() != json::kind::object) return std::optional<json::object>{};
  return std::optional<json::object>{*member->as_object(from.path_of(name))};
}

}  // namespace

json::decoded<client_abilities> abilities_of(const json::object& capabilities) {
  client_abilities can;
  HONDANA_TRY(const auto elicitation, declared(capabilities, "elicitation"));
  if (elicitation) {
    HONDANA_TRY(const auto form, declared(*elicitation, "form"));
    HONDANA_TRY(const auto url, declared(*elicitation, "url"));
    can.links = url.has_value();
    can.forms = form.has_value() || !can.links;  // an empty declaration means forms
  }
  HONDANA_TRY(const auto sampling, declared(capabilities, "sampling"));
  if (sampling) {
    HONDANA_TRY(const auto tools, declared(*sampling, "tools"));
    HONDANA_TRY(const auto context, declared(*sampling, "context"));
    can.sampling = true;
    can.sampling_tools = tools.has_value();
    can.sampling_context = context.has_value();
  }
  HONDANA_TRY(const auto roots, declared(capabilities, "roots"));
  can.roots = roots.has_value();
  return can;
}

json::decoded<model::input_round> round_of(const json::object& params) {
  model::input_round round;
  HONDANA_TRY(const auto state, params.find_string("requestState"));
  if (state) round.sealed_state = std::string(*state);
  HONDANA_TRY(const auto responses, params.find_object("inputResponses"));
  if (!responses) return round;
  const auto members = responses->members();
  if (members.size() > most_answers) {
    return tl::unexpected(json::bad_member{params.path_of("inputResponses"), "more answers than requests"});
  }
  for (const auto& [key, answer] : members) {
    const auto path = responses->path_of(key);
    if (answer.type() != json::kind::object) return tl::unexpected(answer.as_object(path).error());
    const auto is_same = [&name = key](const auto& one) { return one.first == name; };
    if (std::any_of(round.answers.begin(), round.answers.end(), is_same)) {
      return tl::unexpected(json::bad_member{path, "occurs twice"});
    }
    auto taken = take_value(answer);
    if (!taken) return tl::unexpected(json::bad_member{path, taken.error().public_text});
    round.answers.emplace_back(std::string(key), std::move(*taken));
  }
  return round;
}

bool has_request(const input_request& what, const input_members& members) {
  if (std::holds_alternative<form_request>(what)) return members.forms;
  if (std::holds_alternative<link_request>(what)) return members.links;
  const auto* sampling = std::get_if<sampling_request>(&what);
  return sampling == nullptr || members.sampling_tools || (!sampling->tools && !sampling->toolChoice);
}

void write(json::writer& to, const input_request& what, const input_members& members) {
  std::visit(request_writer{to, members}, what);
}

std::string lacking(const std::vector<std::pair<std::string, input_request>>& requests, const client_abilities& client) {
  client_abilities missing;
  for (const auto& [key, what] : requests) {
    if (client.can(what)) continue;
    missing.forms |= std::holds_alternative<form_request>(what);
    missing.links |= std::holds_alternative<link_request>(what);
    missing.roots |= std::holds_alternative<roots_request>(what);
    if (const auto* one = std::get_if<sampling_request>(&what)) {
      missing.sampling = true;
      missing.sampling_tools |= one->tools || one->toolChoice;
      missing.sampling_context |= !one->includeContext.empty() && one->includeContext != "none";
    }
  }
  if (missing == client_abilities{}) return {};
  std::string text;
  json::writer to(text);
  const auto empty = [&to](std::string_view name, bool is_needed) {
    if (is_needed) to.key(name).begin_object().end_object();
  };
  to.begin_object();
  if (missing.forms || missing.links) {
    to.key("elicitation").begin_object();
    empty("form", missing.forms);
    empty("url", missing.links);
    to.end_object();
  }
  if (missing.sampling) {
    to.key("sampling").begin_object();
    empty("tools", missing.sampling_tools);
    empty("context", missing.sampling_context);
    to.end_object();
  }
  empty("roots", missing.roots);
  to.end_object();
  return text;
}

namespace {

void write_hints(json::writer& to, const tool_annotations& hints) {
  std::string members;
  json::writer inner(members);
  inner.begin_object().member_if("title", hints.title);
  const auto flag = [&inner](std::string_view name, const std::optional<bool>& set) {
    if (set) inner.key(name).boolean(*set);
  };
  flag("readOnlyHint", hints.readOnlyHint);
  flag("destructiveHint", hints.destructiveHint);
  flag("idempotentHint", hints.idempotentHint);
  flag("openWorldHint", hints.openWorldHint);
  inner.end_object();
  if (members != "{}") to.key("annotations").raw(members);
}

/// Before 2026-07-28, structured content must be an object, and so must the values of its schema.
bool may_show_schema(const value& schema, const entry_members& members) {
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
  model::call_tool what{std::string(*name), value::object{}, {}};
  if (*arguments) {
    auto taken = take_value(**params.find("arguments"));
    if (!taken) return tl::unexpected(invalid_params(method, {params.path_of("arguments"), taken.error().public_text}));
    what.arguments = std::move(*taken);
  }
  auto round = round_of(params);
  if (!round) return tl::unexpected(invalid_params(method, round.error()));
  what.round = std::move(*round);
  return model::operation{std::move(what)};
}

void write(json::writer& to, const tool& entry, const entry_members& members) {
  to.begin_object().member("name", entry.name);
  if (members.title) to.member_if("title", entry.title);
  to.member_if("description", entry.description);
  to.key("inputSchema").raw(entry.inputSchema.to_text());
  if (entry.outputSchema && may_show_schema(*entry.outputSchema, members)) {
    to.key("outputSchema").raw(entry.outputSchema->to_text());
  }
  if (members.audio_and_hints) write_hints(to, entry.annotations);
  write_icons(to, entry.icons, members);
  if (members.meta && !entry.meta.is_null()) to.key("_meta").raw(entry.meta.to_text());
  to.end_object();
}

void write(json::writer& to, const tool_result& result, const entry_members& members) {
  to.key("content");
  write(to, result.content, members);
  if (result.structuredContent && members.structure &&
      (members.any_structure || result.structuredContent->as_object() != nullptr)) {
    to.key("structuredContent").raw(result.structuredContent->to_text());
  }
  if (result.isError) to.key("isError").boolean(true);
}

decoded<model::operation> decode_list_prompts(std::string_view method, const json::object& params) {
  return decode_list<model::list_prompts>(method, params);
}

decoded<model::operation> decode_get_prompt(std::string_view method, const json::object& params) {
  const auto name = params.get_string("name");
  if (!name) return tl::unexpected(invalid_params(method, name.error()));
  model::get_prompt what{std::string(*name), {}, {}};
  const auto arguments = params.find_object("arguments");
  if (!arguments) return tl::unexpected(invalid_params(method, arguments.error()));
  if (*arguments) {
    for (const auto& [key, given] : (*arguments)->members()) {
      const auto path = (*arguments)->path_of(key);
      const auto text = given.as_string(path);
      if (!text) return tl::unexpected(invalid_params(method, text.error()));
      const auto is_same = [&name = key](const auto& one) { return one.first == name; };
      if (std::any_of(what.arguments.begin(), what.arguments.end(), is_same)) {
        return tl::unexpected(invalid_params(method, {path, "occurs twice"}));
      }
      what.arguments.emplace_back(std::string(key), std::string(*text));
    }
  }
  auto round = round_of(params);
  if (!round) return tl::unexpected(invalid_params(method, round.error()));
  what.round = std::move(*round);
  return model::operation{std::move(what)};
}

void write(json::writer& to, const prompt& entry, const entry_members& members) {
  to.begin_object().member("name", entry.name);
  if (members.title) to.member_if("title", entry.title);
  to.member_if("description", entry.description);
  if (!entry.arguments.empty()) {
    to.key("arguments").begin_array();
    for (const auto& one : entry.arguments) {
      to.begin_object().member("name", one.name);
      if (members.title) to.member_if("title", one.title);
      to.member_if("description", one.description);
      if (one.required) to.key("required").boolean(true);
      to.end_object();
    }
    to.end_array();
  }
  write_icons(to, entry.icons, members);
  if (members.meta && !entry.meta.is_null()) to.key("_meta").raw(entry.meta.to_text());
  to.end_object();
}

void write(json::writer& to, const prompt_result& result, const entry_members& members) {
  to.member_if("description", result.description);
  to.key("messages").begin_array();
  for (const auto& one : result.messages) write(to, one, members);
  to.end_array();
}

}  // namespace hondana::wire
