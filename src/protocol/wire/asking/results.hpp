/// Reads server results leniently: lists, contents, tools, prompts, skills and completions.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/client.hpp>

#include "base/json/reader.hpp"

namespace hondana::wire::asking {

/// These functions read an optional member of `of`. A missing member, or one of another type, gives an empty result.
[[nodiscard]] inline std::string text_member(const json::object& of, std::string_view name) {
  const auto member = of.find(name);
  if (!member || !*member) return {};
  const auto text = (*member)->as_string(name);
  return text ? std::string(*text) : std::string();
}

[[nodiscard]] inline std::optional<json::object> object_member(const json::object& of, std::string_view name) {
  const auto member = of.find(name);
  if (!member || !*member) return {};
  auto inner = (*member)->as_object(name);
  if (!inner) return {};
  return std::move(*inner);
}

[[nodiscard]] inline bool flag_member(const json::object& of, std::string_view name) {
  const auto member = of.find(name);
  if (!member || !*member) return false;
  const auto flag = (*member)->as_boolean(name);
  return flag && *flag;
}

[[nodiscard]] inline std::optional<double> number_member(const json::object& of, std::string_view name) {
  const auto member = of.find(name);
  if (!member || !*member) return {};
  const auto number = (*member)->as_number(name);
  if (!number) return {};
  return *number;
}

[[nodiscard]] inline std::optional<std::int64_t> integer_member(const json::object& of, std::string_view name) {
  const auto member = of.find(name);
  if (!member || !*member) return {};
  const auto number = (*member)->as_integer(name);
  if (!number) return {};
  return *number;
}

[[nodiscard]] inline std::vector<json::value> elements_of(const json::object& of, std::string_view name) {
  const auto member = of.find(name);
  if (!member || !*member) return {};
  const auto inner = (*member)->as_array(name);
  if (!inner) return {};
  return inner->elements();
}

/// How long and for whom an answer may be cached.
struct freshness {
  std::chrono::milliseconds ttl{0};
  bool is_public = false;
};
[[nodiscard]] freshness freshness_of(const json::object& result);

/// These functions read results. Errors: broken_protocol with the path, for required members that are missing or members of a
/// wrong type.
[[nodiscard]] result<page<resource>> resources_of(const json::object& result);
[[nodiscard]] result<page<resource_template>> templates_of(const json::object& result);
[[nodiscard]] result<page<tool>> tools_of(const json::object& result);
[[nodiscard]] result<page<prompt>> prompts_of(const json::object& result);
[[nodiscard]] result<page<skill>> skills_of(const json::object& result);
[[nodiscard]] result<skill> skill_of(const json::object& result);
/// Reads the `resource` of a result or of a change notification.
[[nodiscard]] result<resource> resource_of(const json::object& of);
[[nodiscard]] result<read_answer> contents_of(const json::object& result);
[[nodiscard]] result<called> called_of(const json::value& result);
[[nodiscard]] result<prompt_result> prompt_of(const json::object& result);
[[nodiscard]] result<complete_result> completion_of(const json::object& result);
/// Reads a content block; nothing for a type that this client does not know.
[[nodiscard]] result<std::optional<content_block>> block_of(const json::object& of);

}  // namespace hondana::wire::asking
