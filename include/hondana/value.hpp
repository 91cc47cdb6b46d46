/// A JSON value: arguments and results of tools, and JSON schemas.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <hondana/error.hpp>

namespace hondana::inline v0 {

/// One JSON value. Copies are cheap: they share arrays and objects, which are immutable. Members of objects keep their order.
///
/// Threads: any for const functions.
class value {
 public:
  /// `integer`: fits into 64 signed bits and is written without fraction and exponent. `number`: any other number, as a double.
  enum class kind : std::uint8_t { null, boolean, integer, number, string, array, object };
  using array = std::vector<value>;
  using member = std::pair<std::string, value>;
  using object = std::vector<member>;

  /// Limits of the text that `parse` accepts.
  struct parse_limits {
    std::size_t max_bytes = 16u << 20;
    std::size_t max_values = 1'000'000;  ///< Values of all nesting levels together.
  };

  value() noexcept = default;
  // Constructors are implicit, so that `{{"type", "object"}}` is a value. Integers outside the int64 range become `number`.
  explicit(false) value(std::nullptr_t) noexcept {}
  explicit(false) value(bool boolean) noexcept : data_(boolean) {}
  template <class Integer>
    requires(std::integral<Integer> && !std::same_as<Integer, bool>)
  explicit(false) value(Integer integer) noexcept : data_(from_integer(integer)) {}
  explicit(false) value(double number) noexcept : data_(number) {}
  explicit(false) value(const char* text) : data_(std::string(text)) {}
  explicit(false) value(std::string text) noexcept : data_(std::move(text)) {}
  explicit(false) value(std::string_view text) : data_(std::string(text)) {}
  explicit(false) value(array elements) : data_(std::make_shared<const array>(std::move(elements))) {}
  explicit(false) value(object members) : data_(std::make_shared<const object>(std::move(members))) {}

  /// Parses one JSON text. Errors: invalid_argument if the text is malformed, nested deeper than 128 levels, larger than
  /// `limits`, or has an object with a duplicate member. The error text names the position.
  [[nodiscard]] static result<value> parse(std::string_view text, const parse_limits& limits);
  /// As above, with the defaults of `parse_limits`.
  [[nodiscard]] static result<value> parse(std::string_view text);

  /// Serializes to JSON text without white space. Infinities and NaN become null; ill-formed UTF-8 is replaced.
  [[nodiscard]] std::string to_text() const;
  /// As `to_text`, with the members of every object sorted by name. Equal values give equal texts, except that an `integer`
  /// differs from an equal `number` (1 from 1.0).
  [[nodiscard]] std::string to_canonical_text() const;

  [[nodiscard]] kind type() const noexcept;
  [[nodiscard]] bool is_null() const noexcept { return type() == kind::null; }

  // Conversions to C++ values. They return nullopt, or null, for another kind. Pointers stay valid as long as this value.
  [[nodiscard]] std::optional<bool> as_boolean() const noexcept;
  /// For `integer`, and for a `number` without a fraction that fits into 64 signed bits.
  [[nodiscard]] std::optional<std::int64_t> as_integer() const noexcept;
  /// For `integer` and `number`.
  [[nodiscard]] std::optional<double> as_number() const noexcept;
  [[nodiscard]] const std::string* as_string() const noexcept;
  [[nodiscard]] const array* as_array() const noexcept;
  [[nodiscard]] const object* as_object() const noexcept;

  /// Returns the member of an object. Null if the member is missing, or if this value is not an object.
  [[nodiscard]] const value* find(std::string_view name) const noexcept;

  // Lookups of members. `path`: a member's name, or a JSON Pointer (RFC 6901) if it starts with '/'. Errors: invalid_argument
  // with the text "PATH: missing" or "PATH: expected a string, got a number". Types are converted as by `as_boolean` and so on.
  [[nodiscard]] result<value> at(std::string_view path) const;
  [[nodiscard]] result<bool> boolean_at(std::string_view path) const;
  [[nodiscard]] result<std::int64_t> integer_at(std::string_view path) const;
  [[nodiscard]] result<double> number_at(std::string_view path) const;
  [[nodiscard]] result<std::string> string_at(std::string_view path) const;
  [[nodiscard]] result<array> array_at(std::string_view path) const;
  [[nodiscard]] result<object> object_at(std::string_view path) const;

  /// JSON equality: 1 equals 1.0, and the order of members does not matter.
  [[nodiscard]] bool operator==(const value& other) const;

 private:
  using data = std::variant<std::nullptr_t, bool, std::int64_t, double, std::string, std::shared_ptr<const array>,
                            std::shared_ptr<const object>>;
  template <class Integer>
  static data from_integer(Integer integer) noexcept {
    if (std::in_range<std::int64_t>(integer)) return static_cast<std::int64_t>(integer);
    return static_cast<double>(integer);
  }

  data data_ = nullptr;
};

/// Returns the name of a kind for error texts: "a string", "an object".
[[nodiscard]] std::string_view name_of(value::kind kind) noexcept;

}  // namespace hondana::inline v0
