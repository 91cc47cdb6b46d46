/// Parses JSON texts strictly and with limited nesting. Errors of typed access name the path of the invalid member.
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

/// The maximum nesting depth of arrays and objects. An empty innermost one does not count.
inline constexpr std::size_t max_depth = 128;

/// `integer`: a number without fraction and exponent. `number`: any other number.
enum class kind : std::uint8_t { null, boolean, integer, number, string, array, object };

/// Describes an invalid member: "params.uri: expected a string, got a number".
struct member_error {
  std::string path;     ///< "params.uri"; empty: the whole document.
  std::string message;  ///< "expected a string, got a number"
  [[nodiscard]] std::string text() const { return path.empty() ? message : path + ": " + message; }
};
template <class T>
using decoded = tl::expected<T, member_error>;

class object;
class array;

/// A view of a value in a `document`, cheap to copy. Valid as long as the document. Default-constructed: null.
class value {
 public:
  value() noexcept = default;

  [[nodiscard]] kind type() const noexcept;
  [[nodiscard]] bool is_null() const noexcept { return type() == kind::null; }
  /// Writes the value as JSON text without white space.
  [[nodiscard]] std::string to_json() const;

  // Typed access. Errors: the value has another type. `path`: the path of this value in errors.

  [[nodiscard]] decoded<std::string_view> as_string(std::string_view path) const;
  /// Errors: also for integers that do not fit into 64 signed bits. 1.0 is not an integer.
  [[nodiscard]] decoded<std::int64_t> as_integer(std::string_view path) const;
  /// Converts integers, too. Large ones are rounded.
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

/// A view of an object, valid as long as the document. Default-constructed: without members. Names are case-sensitive.
/// Each `get` and `find` function gives an error if the member occurs more than once.
class object {
 public:
  object() noexcept = default;
  /// An object without members, in place of an absent optional object. `path`: its path in errors.
  [[nodiscard]] static object empty(std::string_view path) { return object({}, path); }
  /// Finds a member of any type; nullopt if it is absent.
  [[nodiscard]] decoded<std::optional<value>> find(std::string_view name) const;
  /// Finds a member of any type. Errors: also if it is absent.
  [[nodiscard]] decoded<value> get(std::string_view name) const;
  /// Finds a string. Errors: also if the member is absent or of another type.
  [[nodiscard]] decoded<std::string_view> get_string(std::string_view name) const;
  /// Finds an object. Errors: also if the member is absent or of another type.
  [[nodiscard]] decoded<object> get_object(std::string_view name) const;
  /// Finds a string; nullopt if the member is absent. Errors: also if it is of another type.
  [[nodiscard]] decoded<std::optional<std::string_view>> find_string(std::string_view name) const;
  /// Finds an object; nullopt if the member is absent. Errors: also if it is of another type.
  [[nodiscard]] decoded<std::optional<object>> find_object(std::string_view name) const;
  /// All members in document order, including repeated ones.
  [[nodiscard]] std::vector<std::pair<std::string_view, value>> members() const;
  /// The path of this object in the document, for errors; empty for the root.
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// The path of a member with this name, for errors: "params.uri".
  [[nodiscard]] std::string path_of(std::string_view member) const;

 private:
  friend class value;
  object(value element, std::string_view path) : element_(element), path_(path) {}
  value element_;
  std::string path_;
};

/// A view of an array, valid as long as the document. Default-constructed: without elements.
class array {
 public:
  array() noexcept = default;
  [[nodiscard]] std::size_t size() const;
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

/// A parsed JSON text, with the memory that its values refer to. Values stay valid when the document is moved.
class document {
 public:
  /// Its root is null.
  document() noexcept;
  ~document();
  document(document&&) noexcept;
  document& operator=(document&&) noexcept;

  /// Parses one complete JSON text. `text` need not outlive the call. Throws std::bad_alloc.
  /// Errors: empty text, a byte order mark, ill-formed UTF-8, invalid JSON, deeper than `max_depth`, more than 4 GiB.
  /// Also numbers out of range: integers beyond 64 bits, and others beyond the range of `double`.
  [[nodiscard]] static tl::expected<document, parse_failure> parse(std::string_view text);

  [[nodiscard]] value root() const noexcept;

 private:
  struct tape;
  std::unique_ptr<tape> tape_;
};

}  // namespace hondana::json
