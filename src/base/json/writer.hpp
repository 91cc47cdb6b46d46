/// Writes JSON into a string.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace hondana::json {

/// Writes objects, arrays and scalars in order; commas are its business, balance is the caller's.
///
/// Strings must be UTF-8; ill-formed sequences are replaced by U+FFFD, so that what is written is always valid JSON.
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
  /// Shortest form that reads back equal; infinities and NaN are written as null.
  writer& number(double value);
  writer& boolean(bool value);
  writer& null();
  /// A value that is JSON already.
  writer& raw(std::string_view json);

  /// `key(name).string(value)`, unless `value` is empty.
  writer& member_if(std::string_view name, std::string_view value) {
    if (!value.empty()) key(name).string(value);
    return *this;
  }
  writer& member(std::string_view name, std::string_view value) { return key(name).string(value); }

 private:
  void separate();
  std::string& out_;
  bool comma_ = false;
};

/// `text` as a quoted JSON string.
[[nodiscard]] std::string quoted(std::string_view text);

}  // namespace hondana::json
