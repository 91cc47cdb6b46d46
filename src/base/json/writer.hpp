/// Writes JSON into a string.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace hondana::json {

/// Writes objects, arrays and scalars in the order of the calls, and the commas between them.
/// The caller must balance begin and end calls, and write a key before each member of an object.
///
/// In keys and strings, ill-formed UTF-8 is replaced by U+FFFD.
class writer {
 public:
  /// Appends to `out`, which must outlive the writer.
  explicit writer(std::string& out) noexcept : out_(out) {}

  writer& begin_object();
  writer& end_object();
  writer& begin_array();
  writer& end_array();
  writer& key(std::string_view name);
  writer& string(std::string_view value);
  writer& integer(std::int64_t value);
  writer& unsigned_integer(std::uint64_t value);
  /// Writes the shortest form that parses as the same number. Infinities and NaN become null.
  writer& number(double value);
  writer& boolean(bool value);
  writer& null();
  /// Writes `json`, which must be one JSON value, unchanged.
  writer& raw(std::string_view json);

  /// Writes a string member, unless `value` is empty.
  writer& member_if(std::string_view name, std::string_view value) {
    if (!value.empty()) key(name).string(value);
    return *this;
  }
  writer& member(std::string_view name, std::string_view value) { return key(name).string(value); }

 private:
  void write_separator();
  std::string& out_;
  bool needs_comma_ = false;
};

/// Returns `text` as a JSON string with its quotation marks. Ill-formed UTF-8 is replaced by U+FFFD.
[[nodiscard]] std::string quoted(std::string_view text);

}  // namespace hondana::json
