/// Typed arguments: a struct and a list of its members produce a tool's schema, and decode its calls.
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

/// Schema keywords of one member. Those that are not set are not in the schema.
struct field_rules {
  std::string description{};
  /// The value of an absent argument. Without it, every member is required unless it is a std::optional.
  std::optional<value> preset{};
  std::optional<double> least{};  ///< Minimum of a number, length of a text, or number of elements of a list.
  std::optional<double> most{};   ///< The corresponding maximum.
  std::vector<value> choices{};   ///< `enum`.
  std::string pattern{};          ///< Regular expression for a text.
  std::string header{};           ///< HTTP clients repeat the argument in `Mcp-Param-<header>` (2026-07-28).
};

/// Schema and decoding of a C++ type. Specialize it for your own types: `schema()` returns JSON Schema keywords, and `read`
/// returns nullopt for an invalid value.
template <class T>
struct field_type;

template <>
struct field_type<bool> {
  static value::object schema() { return {{"type", "boolean"}}; }
  static std::optional<bool> read(const value& from) { return from.as_boolean(); }
};

template <class T>
  requires(std::integral<T> && !std::same_as<T, bool>)
struct field_type<T> {
  static value::object schema() { return {{"type", "integer"}}; }
  static std::optional<T> read(const value& from) {
    const auto number = from.as_integer();
    return number && std::in_range<T>(*number) ? std::optional<T>(static_cast<T>(*number)) : std::nullopt;
  }
};

template <std::floating_point T>
struct field_type<T> {
  static value::object schema() { return {{"type", "number"}}; }
  static std::optional<T> read(const value& from) {
    const auto number = from.as_number();
    return number ? std::optional<T>(static_cast<T>(*number)) : std::nullopt;
  }
};

template <>
struct field_type<std::string> {
  static value::object schema() { return {{"type", "string"}}; }
  static std::optional<std::string> read(const value& from) {
    const auto* text = from.as_string();
    return text != nullptr ? std::optional<std::string>(*text) : std::nullopt;
  }
};

/// Any JSON value.
template <>
struct field_type<value> {
  static value::object schema() { return {}; }
  static std::optional<value> read(const value& from) { return from; }
};

template <class T>
struct field_type<std::vector<T>> {
  static value::object schema() { return {{"type", "array"}, {"items", field_type<T>::schema()}}; }
  static std::optional<std::vector<T>> read(const value& from) {
    const auto* elements = from.as_array();
    if (elements == nullptr) return {};
    std::vector<T> out;
    for (const auto& one : *elements) {
      auto element = field_type<T>::read(one);
      if (!element) return {};
      out.push_back(std::move(*element));
    }
    return out;
  }
};

template <class T>
struct field_type<std::optional<T>> {
  static value::object schema() { return field_type<T>::schema(); }
  static std::optional<std::optional<T>> read(const value& from) {
    auto inner = field_type<T>::read(from);
    return inner ? std::optional<std::optional<T>>(std::move(inner)) : std::nullopt;
  }
};

/// The arguments of a tool as members of `Struct`, which must be default-constructible.
///
///     struct trip { std::string city; int days = 0; std::optional<std::string> hotel; };
///     const auto arguments = hondana::fields<trip>()
///         .add("city", &trip::city, {.description = "Where to"})
///         .add("days", &trip::days, {.preset = 3, .least = 1, .most = 30})
///         .add("hotel", &trip::hotel);
template <class Struct>
class fields {
 public:
  /// Adds an argument with this name, which is decoded into `member`.
  template <class Member>
  fields& add(std::string name, Member Struct::* member, field_rules rules = {}) {
    constexpr bool may_be_absent = is_optional<Member>::value;
    auto part = field_type<Member>::schema();
    describe(part, rules);
    if (!may_be_absent && !rules.preset) required_.emplace_back(name);
    readers_.push_back([name, member, preset = rules.preset](const value& from, Struct& into) -> result<void> {
      const auto* given = from.find(name);
      if (given == nullptr && preset) given = &*preset;
      if (given == nullptr) {
        if (may_be_absent) return {};
        return fail(errc::invalid_argument, name + ": missing");
      }
      auto read = field_type<Member>::read(*given);
      if (!read)
        return fail(errc::invalid_argument,
                    name + ": got " + std::string(name_of(given->type())) + ", which is not a valid value");
      into.*member = std::move(*read);
      return {};
    });
    properties_.emplace_back(std::move(name), std::move(part));
    return *this;
  }

  /// The `inputSchema`. It permits these members and no others.
  [[nodiscard]] value schema() const {
    value::object out{{"type", "object"}, {"properties", properties_}};
    if (!required_.empty()) out.emplace_back("required", required_);
    out.emplace_back("additionalProperties", false);
    return out;
  }

  /// Decodes arguments. Errors: invalid_argument, naming the member.
  [[nodiscard]] result<Struct> decode(const value& arguments) const {
    Struct out{};
    for (const auto& read : readers_) {
      if (auto done = read(arguments, out); !done) return tl::unexpected(std::move(done.error()));
    }
    return out;
  }

 private:
  template <class T>
  struct is_optional : std::false_type {};
  template <class T>
  struct is_optional<std::optional<T>> : std::true_type {};

  static value limit(double number) {
    const value out(number);
    const auto whole = out.as_integer();
    return whole ? value(*whole) : out;
  }

  static void describe(value::object& part, const field_rules& rules) {
    const auto* type = part.empty() ? nullptr : part.front().second.as_string();
    const auto kind = type != nullptr ? *type : std::string();
    const auto end = [&kind](bool is_least) -> std::string {
      if (kind == "string") return is_least ? "minLength" : "maxLength";
      if (kind == "array") return is_least ? "minItems" : "maxItems";
      return is_least ? "minimum" : "maximum";
    };
    if (!rules.description.empty()) part.emplace_back("description", rules.description);
    if (rules.least) part.emplace_back(end(true), limit(*rules.least));
    if (rules.most) part.emplace_back(end(false), limit(*rules.most));
    if (!rules.choices.empty()) part.emplace_back("enum", rules.choices);
    if (!rules.pattern.empty()) part.emplace_back("pattern", rules.pattern);
    if (rules.preset) part.emplace_back("default", *rules.preset);
    if (!rules.header.empty()) part.emplace_back("x-mcp-header", rules.header);
  }

  value::object properties_;
  value::array required_;
  std::vector<std::function<result<void>(const value&, Struct&)>> readers_;
};

}  // namespace hondana::inline v0
