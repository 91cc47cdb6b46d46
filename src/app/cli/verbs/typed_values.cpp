/// Reading typed words.
#include "app/cli/verbs/typed_values.hpp"

#include <algorithm>
#include <charconv>
#include <system_error>
#include <utility>

namespace hondana::cli {
namespace {

std::string type_of(const value& schema) {
  const auto* type = schema.find("type");
  if (type == nullptr) return {};
  if (const auto* one = type->as_string()) return *one;
  // Of several the first that is not null will do.
  if (const auto* all = type->as_array()) {
    for (const auto& one : *all) {
      if (one.as_string() != nullptr && *one.as_string() != "null") return *one.as_string();
    }
  }
  return {};
}

tl::unexpected<failure> no(std::string_view text, std::string_view wanted) {
  return fail(errc::invalid_argument, "\"" + std::string(text.substr(0, 200)) + "\" is not a " + std::string(wanted));
}

const value* property(const value& schema, std::string_view name) {
  const auto* all = schema.find("properties");
  return all == nullptr ? nullptr : all->find(name);
}

std::string in_capitals(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  return text;
}

std::string names_of(const value& schema) {
  const auto* all = schema.find("properties");
  std::string out;
  if (all == nullptr || all->as_object() == nullptr) return "none";
  for (const auto& [name, one] : *all->as_object()) out += (out.empty() ? "" : ", ") + name;
  return out.empty() ? "none" : out;
}

}  // namespace

result<value> typed_value(std::string_view text, const value& schema) {
  const auto type = type_of(schema);
  if (type == "string") return value(text);
  if (type == "boolean") {
    if (text == "true" || text == "yes" || text == "y") return value(true);
    if (text == "false" || text == "no" || text == "n") return value(false);
    return no(text, "boolean: write true or false");
  }
  auto parsed = value::parse(text);
  if (type == "integer" || type == "number") {
    if (!parsed || !parsed->as_number()) return no(text, type == "integer" ? "whole number" : "number");
    if (type == "integer" && !parsed->as_integer()) return no(text, "whole number");
    return parsed;
  }
  if (type == "array") {
    if (parsed && parsed->as_array() != nullptr) return parsed;
    const auto* items = schema.find("items");
    auto one = typed_value(text, items == nullptr ? value() : *items);
    if (!one) return one;
    return value(value::array{std::move(*one)});
  }
  if (type == "object") {
    if (parsed && parsed->as_object() != nullptr) return parsed;
    return no(text, "JSON object");
  }
  return parsed ? parsed : result<value>(value(text));
}

result<value> typed_arguments(const std::vector<std::string>& words, const value& input_schema) {
  value::object out;
  for (const auto& word : words) {
    const auto equals = word.find('=');
    if (equals == std::string::npos || equals == 0)
      return fail(errc::invalid_argument,
                  "\"" + word + "\" is not NAME=VALUE; the tool's arguments: " + names_of(input_schema) + ".");
    const auto name = word.substr(0, equals);
    const auto* field = property(input_schema, name);
    if (field == nullptr && input_schema.find("additionalProperties") != nullptr &&
        *input_schema.find("additionalProperties") == value(false))
      return fail(errc::invalid_argument, "The tool has no argument \"" + name + "\"; it has: " + names_of(input_schema) + ".");
    auto typed = typed_value(std::string_view(word).substr(equals + 1), field == nullptr ? value() : *field);
    if (!typed) return fail(errc::invalid_argument, name + ": " + typed.error().public_text + ".");
    const auto known = std::find_if(out.begin(), out.end(), [&name](const auto& one) { return one.first == name; });
    if (known == out.end()) {
      out.emplace_back(name, std::move(*typed));
      continue;
    }
    value::array several;
    if (const auto* before = known->second.as_array()) {
      several = *before;
    } else {
      several.push_back(known->second);
    }
    if (const auto* more = typed->as_array()) {
      several.insert(several.end(), more->begin(), more->end());
    } else {
      several.push_back(std::move(*typed));
    }
    known->second = value(std::move(several));
  }
  return value(std::move(out));
}

bool is_required(const value& schema, std::string_view name) {
  const auto* required = schema.find("required");
  const auto* all = required == nullptr ? nullptr : required->as_array();
  return all != nullptr && std::find(all->begin(), all->end(), value(name)) != all->end();
}

result<void> has_all_required(const value& arguments, const tool& called) {
  const auto* required = called.inputSchema.find("required");
  const auto* all = required == nullptr ? nullptr : required->as_array();
  if (all == nullptr) return {};
  std::string missing;
  std::string given;
  for (const auto& one : *all) {
    const auto* name = one.as_string();
    if (name == nullptr || arguments.find(*name) != nullptr) continue;
    const auto* field = property(called.inputSchema, *name);
    const auto meaning = field == nullptr ? std::string() : field->string_at("description").value_or("");
    missing += (missing.empty() ? "" : ", ") + *name + (meaning.empty() ? "" : " (" + meaning + ')');
    const auto type = field == nullptr ? std::string() : type_of(*field);
    given += (given.empty() ? "" : " ") + *name + '=' + (type.empty() ? "VALUE" : in_capitals(type));
  }
  if (missing.empty()) return {};
  return fail(errc::invalid_argument,
              "The tool " + called.name + " needs " + missing + ". Give it as " + given + ", or in the object of --arguments.");
}

}  // namespace hondana::cli
