/// Reads results of servers: lists, contents, tools, prompts, skills and completions. Ignores most invalid optional members.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/client.hpp>

#include "base/json/reader.hpp"

namespace hondana::wire::asking {

// These functions read an optional member of `object`. If it is missing, repeated or of another type, the result is empty
// (`flag_member`: false).

[[nodiscard]] inline std::string text_member(const json::object& object, std::string_view name) {
  const auto member = object.find(name);
  if (!member || !*member) return {};
  const auto text = (*member)->as_string(name);
  return text ? std::string(*text) : std::string();
}

[[nodiscard]] inline std::optional<json::object> object_member(const json::object& object, std::string_view name) {
  const auto member = object.find(name);
  if (!member || !*member) return {};
  auto inner = (*member)->as_object(name);
  if (!inner) return {};
  return std::move(*inner);
}

[[nodiscard]] inline bool flag_member(const json::object& object, std::string_view name) {
  const auto member = object.find(name);
  if (!member || !*member) return false;
  const auto flag = (*member)->as_boolean(name);
  return flag && *flag;
}

[[nodiscard]] inline std::optional<double> number_member(const json::object& object, std::string_view name) {
  const auto member = object.find(name);
  if (!member || !*member) return {};
  const auto number = (*member)->as_number(name);
  if (!number) return {};
  return *number;
}

[[nodiscard]] inline std::optional<std::int64_t> integer_member(const json::object& object, std::string_view name) {
  const auto member = object.find(name);
  if (!member || !*member) return {};
  const auto number = (*member)->as_integer(name);
  if (!number) return {};
  return *number;
}

[[nodiscard]] inline std::vector<json::value> elements_of(const json::object& object, std::string_view name) {
  const auto member = object.find(name);
  if (!member || !*member) return {};
  const auto inner = (*member)->as_array(name);
  if (!inner) return {};
  return inner->elements();
}

/// How long and for whom an answer may be cached.
struct freshness {
  std::chrono::milliseconds ttl{0};
  bool is_public = false;  ///< Also for other callers.
};
/// Reads `ttlMs` and `cacheScope`. A missing or invalid member gives the default.
[[nodiscard]] freshness parse_freshness(const json::object& result);

// These functions read results. Errors: protocol_error, with the path of the member, if a required member is missing or
// invalid. A list with more than 100 000 entries gives response_too_large.

[[nodiscard]] result<list_page<resource>> parse_resources(const json::object& result);
[[nodiscard]] result<list_page<resource_template>> parse_templates(const json::object& result);
[[nodiscard]] result<list_page<tool>> parse_tools(const json::object& result);
[[nodiscard]] result<list_page<prompt>> parse_prompts(const json::object& result);
[[nodiscard]] result<list_page<skill>> parse_skills(const json::object& result);
[[nodiscard]] result<skill> parse_skill(const json::object& result);
/// Reads the entry in the member `resource` of a result or of a change notification.
[[nodiscard]] result<resource> parse_resource(const json::object& object);
[[nodiscard]] result<read_response> parse_contents(const json::object& result);
/// `result`: must be an object. Omits content blocks of unknown types.
[[nodiscard]] result<tool_response> parse_tool_response(const json::value& result);
/// Omits messages with content blocks of unknown types.
[[nodiscard]] result<prompt_result> parse_prompt(const json::object& result);
[[nodiscard]] result<complete_result> parse_completion(const json::object& result);
/// Reads a content block; nullopt if its type is unknown.
[[nodiscard]] result<std::optional<content_block>> parse_block(const json::object& object);

}  // namespace hondana::wire::asking
