/// JSON-RPC 2.0 envelopes, and what a transport knows about a message in addition to its bytes.
#include "protocol/rpc/message.hpp"

#include <utility>

#include "base/json/writer.hpp"

namespace hondana::rpc {
namespace {

constexpr int invalid_request = -32600;
constexpr int invalid_params = -32602;

malformed make_malformed(std::string text, std::optional<request_id> id = {}, int code = invalid_request) {
  return {std::move(id), code, std::move(text), false};
}

json::decoded<std::optional<request_id>> read_id(const json::object& envelope) {
  HONDANA_TRY(const auto member, envelope.find("id"));
  if (!member) return std::optional<request_id>{};
  const auto& value = *member;
  if (value.type() == json::kind::string) return std::optional<request_id>{std::string(*value.as_string("id"))};
  const auto number = value.as_integer("id");
  if (!number) return tl::unexpected(json::member_error{"id", "expected a string or an integer of 64 bits"});
  return std::optional<request_id>{*number};
}

json::decoded<json::object> read_params(const json::object& envelope) {
  const auto member = envelope.find_object("params");
  if (!member) return tl::unexpected(member.error());
  return member->value_or(json::object::empty("params"));
}

/// Whether an invalid message without a method is an answer. Answers are never answered, because that could cause an endless
/// exchange.
bool is_answer(const json::object& envelope) {
  const auto has_member = [&envelope](std::string_view name) {
    const auto member = envelope.find(name);
    return !member || *member;
  };
  return !has_member("method") && (has_member("result") || has_member("error"));
}

response read_answer(const json::object& envelope, std::optional<request_id> id) {
  const auto result = envelope.find("result");
  const auto error = envelope.find_object("error");
  if (!result || !error) return {std::move(id), {}, "the answer is malformed"};
  if (!*error) return {std::move(id), *result, {}};
  const auto text = (*error)->find_string("message");
  return {std::move(id), {}, text && *text ? std::string(**text) : "an error without a message"};
}

}  // namespace

std::string to_json(const request_id& id) {
  if (const auto* number = std::get_if<std::int64_t>(&id)) return std::to_string(*number);
  return json::quoted(std::get<std::string>(id));
}

message read_message(json::value value) {
  const auto envelope = value.as_object("");
  if (!envelope) return make_malformed("Invalid request: expected a JSON object with jsonrpc and method.");
  const auto id = read_id(*envelope);
  if (is_answer(*envelope)) return read_answer(*envelope, id ? *id : std::nullopt);
  if (!id) return make_malformed("Invalid request: " + id.error().text());

  const auto version = envelope->get_string("jsonrpc");
  if (!version) return make_malformed("Invalid request: " + version.error().text(), *id);
  if (*version != "2.0") return make_malformed("Invalid request: jsonrpc: expected \"2.0\"", *id);

  const auto method_member = envelope->find("method");
  if (!method_member) return make_malformed("Invalid request: " + method_member.error().text(), *id);
  if (!*method_member) return make_malformed("Invalid request: method: missing", *id);
  const auto method = (*method_member)->as_string("method");
  if (!method) return make_malformed("Invalid request: " + method.error().text(), *id);

  auto params = read_params(*envelope);
  if (!params) return malformed{*id, invalid_params, "Invalid params: " + params.error().text(), !*id};
  if (*id) return request{**id, std::string(*method), *params};
  return notification{std::string(*method), *params};
}

}  // namespace hondana::rpc
