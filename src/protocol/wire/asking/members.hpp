/// Members of foreign answers, read leniently: what is not there, or is of another type, is not there.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/reader.hpp"

namespace hondana::wire::asking {

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

}  // namespace hondana::wire::asking
