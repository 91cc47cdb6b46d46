/// Parses JSON messages from peers: strict, with capped nesting, and with errors that name the path of the invalid member.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tl/expected.hpp>

namespace hondana::json {

/// The maximum nesting depth. An empty innermost array or object does not count.
inline constexpr std::size_t max_depth = 128;

enum class kind : std::uint8_t { null, boolean, integer, number, string, array, object };

/// Describes an invalid member: "params.uri: expected a string, got a number".
struct member_error {
  std::string path;
  std::string message;
  [[nodiscard]] std::string text() const { return path.empty() ? message : path + ": " + message; }
};
template <class T>
using decoded = tl::expected<T, member_error>;

class object;
class array;

/// A value inside a `document`: a light view, valid as long as the document lives. Default-constructed: null.
class value {
 public:
  value() noexcept = default;

  [[nodiscard]] kind type() const noexcept;
  [[nodiscard]] bool is_null() const noexcept { return type() == kind::null; }
  /// Serializes the value as JSON text.
  [[nodiscard]] std::string to_json() const;

  /// Typed access. `path`: the name of this value in errors.
  [[nodiscard]] decoded<std::string_view> as_string(std::string_view path) const;
  /// An integer of 64 signed bits. 1.0 is not an integer.
  [[nodiscard]] decoded<std::int64_t> as_integer(std::string_view path) const;
  [[nodiscard]] decoded<double> as_number(std::string_view path) const;
  [[nodiscard]] decoded<bool> as_boolean(std::string_view path) const;
  [[nodiscard]] decoded<object> as_object(std::string_view path) const;
  [[nodiscard]] decoded<array> as_array(std::string_view path) const;

 private:
  friend class document;
  friend class object;
  friend class array;
  value(const void* tape, std::size_t index) noexcept : tape_(tape), index_(index) {}
  const void* tape_ = nullptr;  // the parser's document
  std::size_t index_ = 0;       // index of the value in the document; unused when tape_ is null
};

/// An object with case-sensitive members. Looking up a duplicated member is an error.
class object {
 public:
  object() noexcept = default;
  /// An object without members, which stands for an absent optional object. `path`: its name in errors.
  [[nodiscard]] static object empty(std::string_view path) { return object({}, path); }
  /// The member, or nothing when absent. Errors: the member occurs more than once.
  [[nodiscard]] decoded<std::optional<value>> find(std::string_view name) const;
  /// Required members: an absent member is an error, too.
  [[nodiscard]] decoded<value> get(std::string_view name) const;
  [[nodiscard]] decoded<std::string_view> get_string(std::string_view name) const;
  [[nodiscard]] decoded<object> get_object(std::string_view name) const;
  /// Optional members: nothing when absent; a wrong type is an error.
  [[nodiscard]] decoded<std::optional<std::string_view>> find_string(std::string_view name) const;
  [[nodiscard]] decoded<std::optional<object>> find_object(std::string_view name) const;
  /// All members in document order.
  [[nodiscard]] std::vector<std::pair<std::string_view, value>> members() const;
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// The path of one of its members, for errors: "params.uri".
  [[nodiscard]] std::string path_of(std::string_view member) const;

 private:
  friend class value;
  object(value element, std::string_view path) : element_(element), path_(path) {}
  value element_;
  std::string path_;
};

class array {
 public:
  array() noexcept = default;
  [[nodiscard]] std::size_t size() const;
  /// All elements in order.
  [[nodiscard]] std::vector<value> elements() const;

 private:
  friend class value;
  explicit array(value element) noexcept : element_(element) {}
  value element_;
};

/// Why a text is not an acceptable JSON document.
struct parse_failure {
  std::string message;  ///< Safe to send to a client.
};

/// A parsed message that owns the memory that its values refer to. Movable; values stay valid.
class document {
 public:
  document() noexcept;
  ~document();
  document(document&&) noexcept;
  document& operator=(document&&) noexcept;

  /// Parses one complete JSON text in UTF-8. Errors: malformed, ill-formed UTF-8, deeper than `max_depth`, empty.
  [[nodiscard]] static tl::expected<document, parse_failure> parse(std::string_view text);

  [[nodiscard]] value root() const noexcept;

 private:
  struct tape;
  std::unique_ptr<tape> tape_;
};

}  // namespace hondana::json
