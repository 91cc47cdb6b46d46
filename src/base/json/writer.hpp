/// Writes JSON into a string.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace hondana::json {

/// Writes objects, arrays and scalars in order. The writer adds commas; the caller must balance begin and end calls.
///
/// Strings must be UTF-8. Ill-formed sequences are replaced by U+FFFD, so that the output is always valid JSON.
class writer {
 public:
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
  /// Writes a value that is already JSON.
  writer& raw(std::string_view json);

  /// `key(name).string(value)`, unless `value` is empty.
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

/// Returns `text` as a quoted JSON string.
[[nodiscard]] std::string quoted(std::string_view text);

}  // namespace hondana::json
