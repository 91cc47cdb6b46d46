/// Typed arguments of a tool: a list of a struct's members gives the tool's schema, and decodes the arguments of its calls.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <hondana/error.hpp>
#include <hondana/value.hpp>

namespace hondana::inline v0 {

/// Schema keywords of one argument. Those that are not set are not in the schema.
struct argument_options {
  std::string description{};
  /// The value of an absent argument. Without it, the argument is required unless the struct's member is a std::optional.
  std::optional<value> default_value{};
  std::optional<double> min{};   ///< Minimum of a number, of the length of a text, or of the number of elements of a list.
  std::optional<double> max{};   ///< The maximum of the same.
  std::vector<value> choices{};  ///< The only permitted values. Empty: all.
  std::string pattern{};         ///< Regular expression for a text.
  std::string header{};          ///< HTTP clients repeat the argument in the header `Mcp-Param-<header>` (2026-07-28).
};

/// JSON Schema and decoding of a C++ type. Specialize it for your own types: `schema` returns JSON Schema keywords, with "type"
/// first; `decode` returns nullopt for an invalid value.
template <class T>
struct argument_codec;

template <>
struct argument_codec<bool> {
  static value::object schema() { return {{"type", "boolean"}}; }
  static std::optional<bool> decode(const value& input) { return input.as_boolean(); }
};

template <class T>
  requires(std::integral<T> && !std::same_as<T, bool>)
struct argument_codec<T> {
  static value::object schema() { return {{"type", "integer"}}; }
  static std::optional<T> decode(const value& input) {
    const auto number = input.as_integer();
    return number && std::in_range<T>(*number) ? std::optional<T>(static_cast<T>(*number)) : std::nullopt;
  }
};

template <std::floating_point T>
struct argument_codec<T> {
  static value::object schema() { return {{"type", "number"}}; }
  static std::optional<T> decode(const value& input) {
    const auto number = input.as_number();
    return number ? std::optional<T>(static_cast<T>(*number)) : std::nullopt;
  }
};

template <>
struct argument_codec<std::string> {
  static value::object schema() { return {{"type", "string"}}; }
  static std::optional<std::string> decode(const value& input) {
    const auto* text = input.as_string();
    return text != nullptr ? std::optional<std::string>(*text) : std::nullopt;
  }
};

/// Any JSON value.
template <>
struct argument_codec<value> {
  static value::object schema() { return {}; }
  static std::optional<value> decode(const value& input) { return input; }
};

template <class T>
struct argument_codec<std::vector<T>> {
  static value::object schema() { return {{"type", "array"}, {"items", argument_codec<T>::schema()}}; }
  static std::optional<std::vector<T>> decode(const value& input) {
    const auto* elements = input.as_array();
    if (elements == nullptr) return {};
    std::vector<T> out;
    for (const auto& item : *elements) {
      auto element = argument_codec<T>::decode(item);
      if (!element) return {};
      out.push_back(std::move(*element));
    }
    return out;
  }
};

template <class T>
struct argument_codec<std::optional<T>> {
  static value::object schema() { return argument_codec<T>::schema(); }
  static std::optional<std::optional<T>> decode(const value& input) {
    auto inner = argument_codec<T>::decode(input);
    return inner ? std::optional<std::optional<T>>(std::move(inner)) : std::nullopt;
  }
};

/// Maps the arguments of a tool to members of `Struct`, which must be default-constructible.
///
///     struct trip { std::string city; int days = 0; std::optional<std::string> hotel; };
///     const auto arguments = hondana::tool_arguments<trip>()
///         .add("city", &trip::city, {.description = "Where to"})
///         .add("days", &trip::days, {.default_value = 3, .min = 1, .max = 30})
///         .add("hotel", &trip::hotel);
template <class Struct>
class tool_arguments {
 public:
  /// Adds an argument `name`, which is decoded into `member`.
  template <class Member>
  tool_arguments& add(std::string name, Member Struct::* member, argument_options options = {}) {
    constexpr bool may_be_absent = is_optional<Member>::value;
    auto property = argument_codec<Member>::schema();
    add_keywords(property, options);
    if (!may_be_absent && !options.default_value) required_.emplace_back(name);
    readers_.push_back(
        [name, member, default_value = options.default_value](const value& arguments, Struct& target) -> result<void> {
          const auto* argument = arguments.find(name);
          if (argument == nullptr && default_value) argument = &*default_value;
          if (argument == nullptr) {
            if (may_be_absent) return {};
            return fail(errc::invalid_argument, name + ": missing");
          }
          auto decoded = argument_codec<Member>::decode(*argument);
          if (!decoded)
            return fail(errc::invalid_argument,
                        name + ": got " + std::string(name_of(argument->type())) + ", which is not a valid value");
          target.*member = std::move(*decoded);
          return {};
        });
    properties_.emplace_back(std::move(name), std::move(property));
    return *this;
  }

  /// Returns the schema for `tool::input_schema`. It permits no other arguments.
  [[nodiscard]] value schema() const {
    value::object out{{"type", "object"}, {"properties", properties_}};
    if (!required_.empty()) out.emplace_back("required", required_);
    out.emplace_back("additionalProperties", false);
    return out;
  }

  /// Decodes arguments that have passed the schema. Errors: invalid_argument with the name of the argument.
  [[nodiscard]] result<Struct> decode(const value& arguments) const {
    Struct out{};
    for (const auto& reader : readers_) {
      if (auto outcome = reader(arguments, out); !outcome) return tl::unexpected(std::move(outcome.error()));
    }
    return out;
  }

 private:
  template <class T>
  struct is_optional : std::false_type {};
  template <class T>
  struct is_optional<std::optional<T>> : std::true_type {};

  static value to_number(double number) {
    const value out(number);
    const auto integer = out.as_integer();
    return integer ? value(*integer) : out;
  }

  static void add_keywords(value::object& property, const argument_options& options) {
    const auto* type = property.empty() ? nullptr : property.front().second.as_string();
    const auto kind = type != nullptr ? *type : std::string();
    const auto bound_keyword = [&kind](bool is_min) -> std::string {
      if (kind == "string") return is_min ? "minLength" : "maxLength";
      if (kind == "array") return is_min ? "minItems" : "maxItems";
      return is_min ? "minimum" : "maximum";
    };
    if (!options.description.empty()) property.emplace_back("description", options.description);
    if (options.min) property.emplace_back(bound_keyword(true), to_number(*options.min));
    if (options.max) property.emplace_back(bound_keyword(false), to_number(*options.max));
    if (!options.choices.empty()) property.emplace_back("enum", options.choices);
    if (!options.pattern.empty()) property.emplace_back("pattern", options.pattern);
    if (options.default_value) property.emplace_back("default", *options.default_value);
    if (!options.header.empty()) property.emplace_back("x-mcp-header", options.header);
  }

  value::object properties_;
  value::array required_;
  std::vector<std::function<result<void>(const value&, Struct&)>> readers_;
};

}  // namespace hondana::inline v0
