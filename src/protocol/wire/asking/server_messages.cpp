/// Requests and notifications from servers, and the replies to their requests.
#include "protocol/wire/asking/server_messages.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "base/json/writer.hpp"
#include "base/value/value.hpp"
#include "protocol/wire/asking/results.hpp"
#include "protocol/wire/notifications.hpp"
#include "protocol/wire/wire_constants.hpp"

namespace hondana::wire::asking {
namespace {

constexpr int unknown_method = -32601;
constexpr int wrong_params = -32602;
constexpr int failed_code = -32603;
constexpr std::size_t most_questions = 64;

using maybe_question = tl::expected<question, reply>;

tl::unexpected<reply> wrong(std::string text) { return tl::unexpected(reply{{}, wrong_params, "params." + std::move(text)}); }

/// The content of an accepted form, with defaults for missing fields.
value with_defaults(const value& content, const value& schema) {
  value::object out;
  if (const auto* given = content.as_object()) out = *given;
  const auto* properties = schema.find("properties");
  const auto* all = properties == nullptr ? nullptr : properties->as_object();
  if (all == nullptr) return out;
  for (const auto& [name, field] : *all) {
    const auto* preset = field.find("default");
    const bool is_given =
        std::any_of(out.begin(), out.end(), [&wanted = name](const auto& one) { return one.first == wanted; });
    if (preset != nullptr && !is_given) out.emplace_back(name, *preset);
  }
  return out;
}

maybe_question elicitation_of(const value& params) {
  const auto mode = params.string_at("mode").value_or("");
  const auto message = params.string_at("message").value_or("");
  if (mode.empty() || mode == "form") {
    const auto* schema = params.find("requestedSchema");
    if (schema == nullptr || schema->as_object() == nullptr) return wrong("requestedSchema: missing, or not an object");
    return form_request{message, *schema};
  }
  if (mode != "url") return wrong("mode: this client supports \"form\" and \"url\"");
  const auto url = params.string_at("url").value_or("");
  // Other schemes could start a local program.
  if (!url.starts_with("https://") && !url.starts_with("http://")) return wrong("url: expected https: or http:");
  return link_request{message, url, params.string_at("elicitationId").value_or("")};
}

/// Adds the blocks of one message, whose content is a block or an array of blocks.
result<void> add_messages(const value& from, std::vector<message>& to) {
  const auto whose = from.string_at("role").value_or("") == "assistant" ? role::assistant : role::user;
  const auto* content = from.find("content");
  if (content == nullptr) return fail(errc::broken_protocol, "a message without content");
  const auto add = [&](const value& block) -> result<void> {
    const auto parsed = json::document::parse(block.to_text());
    if (!parsed) return fail(errc::broken_protocol, parsed.error().what);
    const auto object = parsed->root().as_object("content");
    if (!object) return fail(errc::broken_protocol, object.error().text());
    HONDANA_TRY(auto made, block_of(*object));
    if (made) to.push_back({whose, std::move(*made)});
    return {};
  };
  const auto* several = content->as_array();
  if (several == nullptr) return add(*content);
  for (const auto& one : *several) {
    HONDANA_TRY(add(one));
  }
  return {};
}

maybe_question sampling_of(const value& params) {
  sampling_request asked;
  const auto* messages = params.find("messages");
  const auto* all = messages == nullptr ? nullptr : messages->as_array();
  if (all == nullptr) return wrong("messages: missing, or not an array");
  for (const auto& one : *all) {
    if (auto done = add_messages(one, asked.messages); !done) return wrong("messages: " + done.error().public_text);
  }
  if (const auto* most = params.find("maxTokens"); most != nullptr && most->as_integer()) asked.maxTokens = *most->as_integer();
  asked.systemPrompt = params.string_at("systemPrompt").value_or("");
  asked.includeContext = params.string_at("includeContext").value_or("");
  if (const auto* heat = params.find("temperature"); heat != nullptr) asked.temperature = heat->as_number();
  const auto take = [&params](std::string_view name, std::optional<value>& into) {
    if (const auto* member = params.find(name)) into = *member;
  };
  take("modelPreferences", asked.modelPreferences);
  take("metadata", asked.metadata);
  take("tools", asked.tools);
  take("toolChoice", asked.toolChoice);
  if (const auto* stops = params.find("stopSequences"); stops != nullptr && stops->as_array() != nullptr) {
    for (const auto& one : *stops->as_array()) {
      if (const auto* text = one.as_string()) asked.stopSequences.push_back(*text);
    }
  }
  return asked;
}

reply elicited(const result<form_answer>& given, const value* schema) {
  if (!given) return failed(given.error().public_text);
  value::object out{{"action", given->action}};
  if (given->action == "accept" && schema != nullptr) out.emplace_back("content", with_defaults(given->content, *schema));
  return {value(std::move(out)).to_text()};
}

}  // namespace

std::optional<question_kind> kind_of_question(std::string_view method) noexcept {
  if (method == "elicitation/create") return question_kind::elicitation;
  if (method == "sampling/createMessage") return question_kind::sampling;
  if (method == "roots/list") return question_kind::roots;
  return {};
}

reply unanswered(std::string text) { return {{}, unknown_method, std::move(text)}; }
reply failed(std::string text) { return {{}, failed_code, std::move(text)}; }

tl::expected<question, reply> question_of(std::string_view method, const value& params) {
  const auto kind = kind_of_question(method);
  if (!kind) return tl::unexpected(unanswered("this client does not support the method " + std::string(method.substr(0, 100))));
  switch (*kind) {
    case question_kind::elicitation:
      return elicitation_of(params);
    case question_kind::sampling:
      return sampling_of(params);
    case question_kind::roots:
      break;
  }
  return roots_request{};
}

reply reply_of(const result<form_answer>& given, const form_request& to) { return elicited(given, &to.requestedSchema); }

reply reply_of(const result<form_answer>& given, const link_request&) { return elicited(given, nullptr); }

reply reply_of(const result<sampling_answer>& given) {
  if (!given) return failed(given.error().public_text);
  value::object out{{"role", "assistant"}, {"content", given->content}, {"model", given->model}};
  if (!given->stopReason.empty()) out.emplace_back("stopReason", given->stopReason);
  return {value(std::move(out)).to_text()};
}

reply reply_of(const result<std::vector<root>>& given) {
  if (!given) return failed(given.error().public_text);
  value::array all;
  for (const auto& one : *given) {
    value::object entry{{"uri", one.uri}};
    if (!one.name.empty()) entry.emplace_back("name", one.name);
    all.emplace_back(std::move(entry));
  }
  return {value(value::object{{"roots", std::move(all)}}).to_text()};
}

std::string spelled(const rpc::request_id& id, const reply& with) {
  std::string out;
  json::writer to(out);
  to.begin_object().member("jsonrpc", "2.0").key("id").raw(rpc::to_json(id));
  if (with.code == 0) {
    to.key("result").raw(with.result);
  } else {
    to.key("error").begin_object().key("code").integer(with.code).member("message", with.text).end_object();
  }
  to.end_object();
  return out;
}

result_kind kind_of_result(const json::object& result) {
  const auto kind = text_member(result, "resultType");
  // Results before 2026-07-28 have no type.
  if (kind.empty() || kind == "complete") return result_kind::complete;
  return kind == "input_required" ? result_kind::input_required : result_kind::unknown;
}

result<input_wanted> input_wanted_by(const json::object& result) {
  input_wanted out;
  if (const auto state = result.find("requestState"); state && *state) out.state = (*state)->to_json();
  const auto asked = object_member(result, "inputRequests");
  if (!asked && out.state.empty())
    return fail(errc::broken_protocol, "the server requires input, but sent neither inputRequests nor requestState");
  if (!asked) return out;
  if (asked->members().size() > most_questions)
    return fail(errc::broken_protocol,
                "the server sent more than " + std::to_string(most_questions) + " requests for input at once");
  for (const auto& [key, one] : asked->members()) {
    const auto inner = one.as_object("inputRequests");
    if (!inner) return fail(errc::broken_protocol, inner.error().text());
    input_wanted::one wanted{std::string(key), text_member(*inner, "method")};
    if (const auto member = inner->find("params"); member && *member) {
      auto taken = take_value(**member);
      if (!taken) return fail(errc::broken_protocol, taken.error().public_text);
      wanted.params = std::move(*taken);
    }
    out.questions.push_back(std::move(wanted));
  }
  return out;
}

result<std::string> response_to(const input_wanted::one& one, const reply& with) {
  if (with.code == 0) return with.result;
  const bool has_failed = with.code == failed_code;
  if (has_failed && kind_of_question(one.method) == question_kind::elicitation) return R"({"action":"cancel"})";
  return fail(has_failed ? errc::refused : errc::broken_protocol,
              "the server requires an answer to " + one.method.substr(0, 100) + ", but there is none: " + with.text);
}

std::string responses(const input_wanted& to, const std::vector<std::pair<std::string, std::string>>& all) {
  std::string out;
  json::writer into(out);
  if (!to.questions.empty()) {
    into.key("inputResponses").begin_object();
    for (const auto& [key, response] : all) into.key(key).raw(response);
    into.end_object();
  }
  if (!to.state.empty()) into.key("requestState").raw(to.state);
  return out;
}

namespace {

std::uint64_t id_member(const json::object& of, std::string_view name) {
  const auto id = integer_member(of, name);
  return id && *id > 0 ? static_cast<std::uint64_t>(*id) : 0;
}

std::optional<change> changed_list(std::string_view method) {
  change out;
  if (method == "notifications/resources/list_changed") {
    out.kind = change_kind::resource_list;
  } else if (method == "notifications/tools/list_changed") {
    out.kind = change_kind::tool_list;
  } else if (method == "notifications/prompts/list_changed") {
    out.kind = change_kind::prompt_list;
  } else {
    return {};
  }
  return out;
}

std::optional<change> changed_content(const json::object& params) {
  change out;
  out.uri = text_member(params, "uri");
  out.title = text_member(params, "title");
  return out.uri.empty() ? std::nullopt : std::optional(std::move(out));
}

std::optional<change> changed_entry(const json::object& params) {
  auto entry = resource_of(params);
  if (!entry) return {};
  change out;
  out.uri = entry->uri;
  out.title = entry->title;
  out.entry = std::move(*entry);
  return out;
}

stream_begun begun(const json::object& params) {
  stream_begun out;
  const auto honoured = object_member(params, "notifications");
  if (!honoured) return out;
  auto& these = out.honoured;
  these.resource_list = flag_member(*honoured, "resourcesListChanged");
  these.tool_list = flag_member(*honoured, "toolsListChanged");
  these.prompt_list = flag_member(*honoured, "promptsListChanged");
  for (const auto name : {std::string_view("resourceSubscriptions"), entries_member}) {
    for (const auto& uri : elements_of(*honoured, name)) {
      if (const auto text = uri.as_string(name)) these.uris.emplace_back(*text);
    }
  }
  these.entries = !elements_of(*honoured, entries_member).empty();
  return out;
}

log_message logged(const json::object& params) {
  log_message out;
  out.level = level_named(text_member(params, "level")).value_or(log_level::info);
  out.logger = text_member(params, "logger");
  if (const auto member = params.find("data"); member && *member) {
    if (auto taken = take_value(**member)) out.data = std::move(*taken);
  }
  return out;
}

call_progress progressed(const json::object& params) {
  call_progress out;
  out.call = id_member(params, "progressToken");
  out.now.done = number_member(params, "progress").value_or(0);
  out.now.total = number_member(params, "total");
  out.now.message = text_member(params, "message");
  return out;
}

}  // namespace

news news_of(const rpc::notification& from) {
  news out;
  const auto& [method, params] = from;
  if (const auto meta = object_member(params, "_meta")) out.stream = id_member(*meta, stream_key);
  const auto tell = [&out](std::optional<change> what) {
    if (what) out.what = std::move(*what);
  };
  if (method == "notifications/progress") {
    out.what = progressed(params);
  } else if (method == "notifications/message") {
    out.what = logged(params);
  } else if (method == "notifications/resources/updated") {
    tell(changed_content(params));
  } else if (method == "notifications/resources/content_changed") {
    tell(changed_entry(params));
  } else if (method == "notifications/subscriptions/acknowledged") {
    out.what = begun(params);
  } else if (method == "notifications/cancelled") {
    out.stream = id_member(params, "requestId");
    out.what = stream_ended();
  } else {
    tell(changed_list(method));
  }
  return out;
}

}  // namespace hondana::wire::asking
