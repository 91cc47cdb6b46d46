/// A JSON value: what tools take and give, and what schemas are written in.
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

/// One JSON value. It is not changed after it was made, and copies share arrays and objects. Members keep their order.
///
/// Threads: any, as for a const object.
class value {
 public:
  enum class kind : std::uint8_t { null, boolean, integer, number, string, array, object };
  using array = std::vector<value>;
  using member = std::pair<std::string, value>;
  using object = std::vector<member>;

  /// What `parse` takes at most.
  struct limits {
    std::size_t bytes = 16u << 20;
    std::size_t values = 1'000'000;  ///< Values of all levels together.
  };

  value() noexcept = default;
  // A JSON value is written as the C++ value it holds.
  explicit(false) value(std::nullptr_t) noexcept {}
  explicit(false) value(bool from) noexcept : data_(from) {}
  template <class Integer>
    requires(std::integral<Integer> && !std::same_as<Integer, bool>)
  explicit(false) value(Integer from) noexcept : data_(of_integer(from)) {}
  explicit(false) value(double from) noexcept : data_(from) {}
  explicit(false) value(const char* from) : data_(std::string(from)) {}
  explicit(false) value(std::string from) noexcept : data_(std::move(from)) {}
  explicit(false) value(std::string_view from) : data_(std::string(from)) {}
  explicit(false) value(array from) : data_(std::make_shared<const array>(std::move(from))) {}
  explicit(false) value(object from) : data_(std::make_shared<const object>(std::move(from))) {}

  /// Reads one JSON text. Errors: invalid_argument when it is malformed, deeper than 128 levels, bigger than `most`, or has an
  /// object with the same member twice; the text names the place.
  [[nodiscard]] static result<value> parse(std::string_view text, const limits& most);
  [[nodiscard]] static result<value> parse(std::string_view text);

  /// The value as JSON text, without white space. Infinities and NaN become null, ill-formed UTF-8 is replaced.
  [[nodiscard]] std::string to_text() const;
  /// The same with the members of every object sorted by name: equal values of equal spelling give equal texts.
  [[nodiscard]] std::string to_canonical_text() const;

  [[nodiscard]] kind type() const noexcept;
  [[nodiscard]] bool is_null() const noexcept { return type() == kind::null; }

  /// The value as a C++ one; nothing when it is of another kind.
  [[nodiscard]] std::optional<bool> as_boolean() const noexcept;
  /// Integers, and numbers without a fraction that fit 64 signed bits.
  [[nodiscard]] std::optional<std::int64_t> as_integer() const noexcept;
  /// Integers and numbers.
  [[nodiscard]] std::optional<double> as_number() const noexcept;
  [[nodiscard]] const std::string* as_string() const noexcept;
  [[nodiscard]] const array* as_array() const noexcept;
  [[nodiscard]] const object* as_object() const noexcept;

  /// The member of an object; null when there is none, or this is no object.
  [[nodiscard]] const value* find(std::string_view name) const noexcept;

  /// Lookups that say what is missing. `path` is the name of a member, or an RFC 6901 pointer when it starts with '/'.
  /// Errors: invalid_argument, "PATH: missing" or "PATH: expected a string, got a number".
  [[nodiscard]] result<value> at(std::string_view path) const;
  [[nodiscard]] result<bool> boolean_at(std::string_view path) const;
  [[nodiscard]] result<std::int64_t> integer_at(std::string_view path) const;
  [[nodiscard]] result<double> number_at(std::string_view path) const;
  [[nodiscard]] result<std::string> string_at(std::string_view path) const;
  [[nodiscard]] result<array> array_at(std::string_view path) const;
  [[nodiscard]] result<object> object_at(std::string_view path) const;

  /// Equality as JSON has it: 1 equals 1.0, and the order of members does not matter.
  [[nodiscard]] bool operator==(const value& other) const;

 private:
  using data = std::variant<std::nullptr_t, bool, std::int64_t, double, std::string, std::shared_ptr<const array>,
                            std::shared_ptr<const object>>;
  template <class Integer>
  static data of_integer(Integer from) noexcept {
    if (std::in_range<std::int64_t>(from)) return static_cast<std::int64_t>(from);
    return static_cast<double>(from);
  }

  data data_ = nullptr;
};

/// "a string", "an object": what errors call a kind.
[[nodiscard]] std::string_view name_of(value::kind what) noexcept;

}  // namespace hondana::inline v0
