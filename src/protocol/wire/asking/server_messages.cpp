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

constexpr int method_not_found_code = -32601;
constexpr int invalid_params_code = -32602;
constexpr int internal_error_code = -32603;
constexpr std::size_t max_input_requests = 64;

using parsed_request = tl::expected<server_request, reply>;

tl::unexpected<reply> invalid_params_reply(std::string text) {
  return tl::unexpected(reply{{}, invalid_params_code, "params." + std::move(text)});
}

/// The content of an accepted form, with defaults for missing fields.
value with_defaults(const value& content, const value& schema) {
  value::object out;
  if (const auto* members = content.as_object()) out = *members;
  const auto* properties = schema.find("properties");
  const auto* fields = properties == nullptr ? nullptr : properties->as_object();
  if (fields == nullptr) return out;
  for (const auto& [name, field] : *fields) {
    const auto* default_value = field.find("default");
    const bool is_present =
        std::any_of(out.begin(), out.end(), [&field_name = name](const auto& entry) { return entry.first == field_name; });
    if (default_value != nullptr && !is_present) out.emplace_back(name, *default_value);
  }
  return out;
}

parsed_request parse_elicitation(const value& params) {
  const auto mode = params.string_at("mode").value_or("");
  const auto message = params.string_at("message").value_or("");
  if (mode.empty() || mode == "form") {
    const auto* schema = params.find("requestedSchema");
    if (schema == nullptr || schema->as_object() == nullptr)
      return invalid_params_reply("requestedSchema: missing, or not an object");
    return form_request{message, *schema};
  }
  if (mode != "url") return invalid_params_reply("mode: this client supports \"form\" and \"url\"");
  const auto url = params.string_at("url").value_or("");
  // Other schemes could start a local program.
  if (!url.starts_with("https://") && !url.starts_with("http://")) return invalid_params_reply("url: expected https: or http:");
  return url_request{message, url, params.string_at("elicitationId").value_or("")};
}

/// Adds the blocks of one message, whose content is a block or an array of blocks.
result<void> add_messages(const value& source, std::vector<message>& messages) {
  const auto message_role = source.string_at("role").value_or("") == "assistant" ? chat_role::assistant : chat_role::user;
  const auto* content = source.find("content");
  if (content == nullptr) return fail(errc::protocol_error, "a message without content");
  const auto add = [&](const value& block) -> result<void> {
    const auto parsed = json::document::parse(block.to_text());
    if (!parsed) return fail(errc::protocol_error, parsed.error().message);
    const auto object = parsed->root().as_object("content");
    if (!object) return fail(errc::protocol_error, object.error().text());
    HONDANA_TRY(auto parsed_block, parse_block(*object));
    if (parsed_block) messages.push_back({message_role, std::move(*parsed_block)});
    return {};
  };
  const auto* blocks = content->as_array();
  if (blocks == nullptr) return add(*content);
  for (const auto& block : *blocks) {
    HONDANA_TRY(add(block));
  }
  return {};
}

parsed_request parse_sampling(const value& params) {
  sampling_request request;
  const auto* messages = params.find("messages");
  const auto* elements = messages == nullptr ? nullptr : messages->as_array();
  if (elements == nullptr) return invalid_params_reply("messages: missing, or not an array");
  for (const auto& element : *elements) {
    if (auto added = add_messages(element, request.messages); !added)
      return invalid_params_reply("messages: " + added.error().public_text);
  }
  if (const auto* max_tokens = params.find("maxTokens"); max_tokens != nullptr && max_tokens->as_integer())
    request.max_tokens = *max_tokens->as_integer();
  request.system_prompt = params.string_at("systemPrompt").value_or("");
  request.include_context = params.string_at("includeContext").value_or("");
  if (const auto* temperature = params.find("temperature"); temperature != nullptr)
    request.temperature = temperature->as_number();
  const auto copy_member = [&params](std::string_view name, std::optional<value>& target) {
    if (const auto* member = params.find(name)) target = *member;
  };
  copy_member("modelPreferences", request.model_preferences);
  copy_member("metadata", request.metadata);
  copy_member("tools", request.tools);
  copy_member("toolChoice", request.tool_choice);
  if (const auto* stops = params.find("stopSequences"); stops != nullptr && stops->as_array() != nullptr) {
    for (const auto& sequence : *stops->as_array()) {
      if (const auto* text = sequence.as_string()) request.stop_sequences.push_back(*text);
    }
  }
  return request;
}

reply make_elicitation_reply(const result<elicitation_response>& response, const value* schema) {
  if (!response) return failure_reply(response.error().public_text);
  value::object out{{"action", response->action}};
  if (response->action == "accept" && schema != nullptr)
    out.emplace_back("content", with_defaults(response->content.value_or(value()), *schema));
  return {value(std::move(out)).to_text()};
}

}  // namespace

std::optional<server_request_kind> find_request_kind(std::string_view method) noexcept {
  if (method == "elicitation/create") return server_request_kind::elicitation;
  if (method == "sampling/createMessage") return server_request_kind::sampling;
  if (method == "roots/list") return server_request_kind::roots;
  return {};
}

reply method_not_found_reply(std::string text) { return {{}, method_not_found_code, std::move(text)}; }
reply failure_reply(std::string text) { return {{}, internal_error_code, std::move(text)}; }

tl::expected<server_request, reply> parse_server_request(std::string_view method, const value& params) {
  const auto kind = find_request_kind(method);
  if (!kind)
    return tl::unexpected(
        method_not_found_reply("this client does not support the method " + std::string(method.substr(0, 100))));
  switch (*kind) {
    case server_request_kind::elicitation:
      return parse_elicitation(params);
    case server_request_kind::sampling:
      return parse_sampling(params);
    case server_request_kind::roots:
      break;
  }
  return roots_request{};
}

reply make_reply(const result<elicitation_response>& response, const form_request& request) {
  return make_elicitation_reply(response, &request.requested_schema);
}

reply make_reply(const result<elicitation_response>& response, const url_request&) {
  return make_elicitation_reply(response, nullptr);
}

reply make_reply(const result<sampling_response>& response) {
  if (!response) return failure_reply(response.error().public_text);
  value::object out{{"role", "assistant"}, {"content", response->content}, {"model", response->model}};
  if (!response->stop_reason.empty()) out.emplace_back("stopReason", response->stop_reason);
  return {value(std::move(out)).to_text()};
}

reply make_reply(const result<std::vector<root>>& response) {
  if (!response) return failure_reply(response.error().public_text);
  value::array entries;
  for (const auto& root : *response) {
    value::object entry{{"uri", root.uri}};
    if (!root.name.empty()) entry.emplace_back("name", root.name);
    entries.emplace_back(std::move(entry));
  }
  return {value(value::object{{"roots", std::move(entries)}}).to_text()};
}

std::string encode_reply(const rpc::request_id& id, const reply& reply) {
  std::string out;
  json::writer writer(out);
  writer.begin_object().member("jsonrpc", "2.0").key("id").raw(rpc::to_json(id));
  if (reply.code == 0) {
    writer.key("result").raw(reply.result);
  } else {
    writer.key("error").begin_object().key("code").integer(reply.code).member("message", reply.text).end_object();
  }
  writer.end_object();
  return out;
}

result_kind find_result_kind(const json::object& result) {
  const auto kind = text_member(result, "resultType");
  // Results before 2026-07-28 have no type.
  if (kind.empty() || kind == "complete") return result_kind::complete;
  return kind == "input_required" ? result_kind::input_required : result_kind::unknown;
}

result<input_requirement> parse_input_requirement(const json::object& result) {
  input_requirement out;
  if (const auto state = result.find("requestState"); state && *state) out.state = (*state)->to_json();
  const auto requests = object_member(result, "inputRequests");
  if (!requests && out.state.empty())
    return fail(errc::protocol_error, "the server requires input, but sent neither inputRequests nor requestState");
  if (!requests) return out;
  if (requests->members().size() > max_input_requests)
    return fail(errc::protocol_error,
                "the server sent more than " + std::to_string(max_input_requests) + " requests for input at once");
  for (const auto& [key, request] : requests->members()) {
    const auto inner = request.as_object("inputRequests");
    if (!inner) return fail(errc::protocol_error, inner.error().text());
    input_requirement::request_entry entry{std::string(key), text_member(*inner, "method")};
    if (const auto member = inner->find("params"); member && *member) {
      auto parsed = copy_value(**member);
      if (!parsed) return fail(errc::protocol_error, parsed.error().public_text);
      entry.params = std::move(*parsed);
    }
    out.requests.push_back(std::move(entry));
  }
  return out;
}

result<std::string> response_to(const input_requirement::request_entry& request, const reply& reply) {
  if (reply.code == 0) return reply.result;
  const bool is_handler_failure = reply.code == internal_error_code;
  if (is_handler_failure && find_request_kind(request.method) == server_request_kind::elicitation)
    return R"({"action":"cancel"})";
  return fail(is_handler_failure ? errc::server_error : errc::protocol_error,
              "the server requires an answer to " + request.method.substr(0, 100) + ", but there is none: " + reply.text);
}

std::string encode_responses(const input_requirement& requirement,
                             const std::vector<std::pair<std::string, std::string>>& responses) {
  std::string out;
  json::writer writer(out);
  if (!requirement.requests.empty()) {
    writer.key("inputResponses").begin_object();
    for (const auto& [key, response] : responses) writer.key(key).raw(response);
    writer.end_object();
  }
  if (!requirement.state.empty()) writer.key("requestState").raw(requirement.state);
  return out;
}

namespace {

std::uint64_t id_member(const json::object& object, std::string_view name) {
  const auto id = integer_member(object, name);
  return id && *id > 0 ? static_cast<std::uint64_t>(*id) : 0;
}

std::optional<watch_event> parse_list_change(std::string_view method) {
  watch_event out;
  if (method == "notifications/resources/list_changed") {
    out.kind = watch_event_kind::resource_list;
  } else if (method == "notifications/tools/list_changed") {
    out.kind = watch_event_kind::tool_list;
  } else if (method == "notifications/prompts/list_changed") {
    out.kind = watch_event_kind::prompt_list;
  } else {
    return {};
  }
  return out;
}

std::optional<watch_event> parse_content_change(const json::object& params) {
  watch_event out;
  out.uri = text_member(params, "uri");
  out.title = text_member(params, "title");
  return out.uri.empty() ? std::nullopt : std::optional(std::move(out));
}

std::optional<watch_event> parse_entry_change(const json::object& params) {
  auto entry = parse_resource(params);
  if (!entry) return {};
  watch_event out;
  out.uri = entry->uri;
  out.title = entry->title;
  out.entry = std::move(*entry);
  return out;
}

stream_opened parse_acknowledgement(const json::object& params) {
  stream_opened out;
  const auto notifications = object_member(params, "notifications");
  if (!notifications) return out;
  auto& accepted = out.accepted;
  accepted.resource_list = flag_member(*notifications, "resourcesListChanged");
  accepted.tool_list = flag_member(*notifications, "toolsListChanged");
  accepted.prompt_list = flag_member(*notifications, "promptsListChanged");
  for (const auto name : {std::string_view("resourceSubscriptions"), entries_member}) {
    for (const auto& uri : elements_of(*notifications, name)) {
      if (const auto text = uri.as_string(name)) accepted.uris.emplace_back(*text);
    }
  }
  accepted.include_entries = !elements_of(*notifications, entries_member).empty();
  return out;
}

log_message parse_log_message(const json::object& params) {
  log_message out;
  out.level = parse_level(text_member(params, "level")).value_or(log_level::info);
  out.logger = text_member(params, "logger");
  if (const auto member = params.find("data"); member && *member) {
    if (auto parsed = copy_value(**member)) out.data = std::move(*parsed);
  }
  return out;
}

call_progress parse_progress(const json::object& params) {
  call_progress out;
  out.call = id_member(params, "progressToken");
  out.current.done = number_member(params, "progress").value_or(0);
  out.current.total = number_member(params, "total");
  out.current.message = text_member(params, "message");
  return out;
}

}  // namespace

server_notification parse_notification(const rpc::notification& notification) {
  server_notification out;
  const auto& [method, params] = notification;
  if (const auto meta = object_member(params, "_meta")) out.stream = id_member(*meta, stream_key);
  const auto set_event = [&out](std::optional<watch_event> parsed) {
    if (parsed) out.event = std::move(*parsed);
  };
  if (method == "notifications/progress") {
    out.event = parse_progress(params);
  } else if (method == "notifications/message") {
    out.event = parse_log_message(params);
  } else if (method == "notifications/resources/updated") {
    set_event(parse_content_change(params));
  } else if (method == "notifications/resources/content_changed") {
    set_event(parse_entry_change(params));
  } else if (method == "notifications/subscriptions/acknowledged") {
    out.event = parse_acknowledgement(params);
  } else if (method == "notifications/cancelled") {
    out.stream = id_member(params, "requestId");
    out.event = stream_closed();
  } else {
    set_event(parse_list_change(method));
  }
  return out;
}

}  // namespace hondana::wire::asking
