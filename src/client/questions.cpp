/// Elicitation, sampling and roots on the client's side.
#include "client/questions.hpp"

#include <algorithm>
#include <utility>

#include "json/reader.hpp"
#include "wire/asking/results.hpp"

namespace hondana::outbound {
namespace {

constexpr int unknown_method = -32601;
constexpr int wrong_params = -32602;
constexpr int failed = -32603;

reply refusal(const failure& why) { return {{}, failed, why.public_text}; }

reply answered(const result<form_answer>& given, const value& schema) {
  if (!given) return refusal(given.error());
  value::object out{{"action", given->action}};
  if (given->action == "accept" && !schema.is_null()) out.emplace_back("content", with_defaults(given->content, schema));
  return {value(std::move(out)).to_text()};
}

/// Blocks of one message, which may be one or several.
result<void> add_messages(const value& from, std::vector<message>& to) {
  const auto whose = from.string_at("role").value_or("") == "assistant" ? role::assistant : role::user;
  const auto* content = from.find("content");
  if (content == nullptr) return fail(errc::broken_protocol, "a message without content");
  const auto add = [&](const value& block) -> result<void> {
    const auto parsed = json::document::parse(block.to_text());
    if (!parsed) return fail(errc::broken_protocol, parsed.error().what);
    const auto object = parsed->root().as_object("content");
    if (!object) return fail(errc::broken_protocol, object.error().text());
    auto made = wire::asking::block_of(*object);
    if (!made) return tl::unexpected(std::move(made.error()));
    if (*made) to.push_back({whose, std::move(**made)});
    return {};
  };
  const auto* several = content->as_array();
  if (several == nullptr) return add(*content);
  for (const auto& one : *several) {
    if (auto done = add(one); !done) return done;
  }
  return {};
}

}  // namespace

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

bool questions::has_handler(std::string_view method) const noexcept {
  if (method == "elicitation/create") return by_.form || by_.link;
  if (method == "sampling/createMessage") return static_cast<bool>(by_.sampling);
  return method == "roots/list" && by_.roots;
}

reply questions::answer(std::string_view method, const value& params) {
  try {
    if (method == "elicitation/create") {
      const auto mode = params.string_at("mode").value_or("");
      if (mode.empty() || mode == "form") return form(params);
      if (mode == "url") return link(params);
      return {{}, wrong_params, "params.mode: this client knows \"form\" and \"url\""};
    }
    if (method == "sampling/createMessage") return sample(params);
    if (method == "roots/list") return list_roots();
  } catch (const std::exception&) {
    // A handler is the application's; what went wrong there is none of the server's business.
    return {{}, failed, "the client failed to answer"};
  }
  return {{}, unknown_method, "this client has no method " + std::string(method.substr(0, 100))};
}

reply questions::form(const value& params) {
  if (!by_.form) return {{}, unknown_method, "this client shows no forms"};
  const auto* schema = params.find("requestedSchema");
  if (schema == nullptr || schema->as_object() == nullptr)
    return {{}, wrong_params, "params.requestedSchema: missing, or no object"};
  return answered(by_.form({params.string_at("message").value_or(""), *schema}, params), *schema);
}

reply questions::link(const value& params) {
  if (!by_.link) return {{}, unknown_method, "this client opens no links"};
  const auto url = params.string_at("url").value_or("");
  // Anything else could start a program of this machine.
  if (!url.starts_with("https://") && !url.starts_with("http://"))
    return {{}, wrong_params, "params.url: expected https: or http:"};
  return answered(
      by_.link({params.string_at("message").value_or(""), url, params.string_at("elicitationId").value_or("")}, params), {});
}

reply questions::sample(const value& params) {
  if (!by_.sampling) return {{}, unknown_method, "this client does no sampling"};
  sampling_request asked;
  const auto* messages = params.find("messages");
  const auto* all = messages == nullptr ? nullptr : messages->as_array();
  if (all == nullptr) return {{}, wrong_params, "params.messages: missing, or no array"};
  for (const auto& one : *all) {
    if (auto done = add_messages(one, asked.messages); !done)
      return {{}, wrong_params, "params.messages: " + done.error().public_text};
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
  const auto given = by_.sampling(asked, params);
  if (!given) return refusal(given.error());
  value::object out{{"role", "assistant"}, {"content", given->content}, {"model", given->model}};
  if (!given->stopReason.empty()) out.emplace_back("stopReason", given->stopReason);
  return {value(std::move(out)).to_text()};
}

reply questions::list_roots() {
  if (!by_.roots) return {{}, unknown_method, "this client has no roots"};
  const auto given = by_.roots();
  if (!given) return refusal(given.error());
  value::array all;
  for (const auto& one : *given) {
    value::object entry{{"uri", one.uri}};
    if (!one.name.empty()) entry.emplace_back("name", one.name);
    all.emplace_back(std::move(entry));
  }
  return {value(value::object{{"roots", std::move(all)}}).to_text()};
}

}  // namespace hondana::outbound
