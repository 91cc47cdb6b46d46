/// Helpers that read many keys of a table and collect the first error.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <hondana/error.hpp>

#include "sources/config/section.hpp"

namespace hondana::config {

/// Stores values that were read from a table, and the first error.
class error_collector {
 public:
  /// Stores a value in `target`. Keeps `target` if the value is missing or an error.
  template <class Value, class Target>
  void assign(result<std::optional<Value>> value, Target& target) {
    if (!value) {
      add(std::move(value.error()));
    } else if (*value) {
      if constexpr (std::is_same_v<Target, std::optional<Value>>) {
        target = std::move(*value);
      } else {
        target = static_cast<Target>(**value);
      }
    }
  }
  /// Stores a list in `target`, an empty one for a missing key. Keeps `target` after an error.
  template <class T>
  void assign(result<std::vector<T>> values, std::vector<T>& target) {
    if (values) {
      target = std::move(*values);
    } else {
      add(std::move(values.error()));
    }
  }
  /// Reads the path of a file, and makes it absolute. `kind`: what the file is, for the error.
  void assign_path(section& table, std::string_view key, std::string& target, std::string_view kind = "file") {
    std::optional<std::string> path;
    assign(table.string(key), path);
    if (!path) return;
    if (path->empty() || path->find('\0') != std::string::npos)
      return add(table.error_at(key, "expected the path of a " + std::string(kind)));
    target = table.resolve_path(*path);
  }
  /// Reads a time from 1 ms to an hour. Keeps `target` if it is missing or wrong.
  void assign_time(section& table, std::string_view key, std::chrono::milliseconds& target) {
    auto ms = target.count();
    assign(table.integer(key, 1, 3'600'000), ms);
    target = std::chrono::milliseconds(ms);
  }
  /// Stores the error of `outcome`, if any.
  void check(result<void> outcome) {
    if (!outcome) add(std::move(outcome.error()));
  }
  /// Stores an error, unless there is an earlier one.
  void add(failure error) {
    if (!first_) first_ = std::move(error);
  }
  /// The first error; nothing if there is none.
  [[nodiscard]] std::optional<failure>& first() noexcept { return first_; }

 private:
  std::optional<failure> first_;
};

/// Reads the keys of a table. A wrong value is treated as missing, and `finish` returns its error.
class table_reader {
 public:
  explicit table_reader(section& table) : table_(table) {}

  /// Returns a value that was read from the table; nothing if it is missing or an error, which `finish` returns.
  template <class T>
  std::optional<T> unwrap(result<std::optional<T>> value) {
    if (value) return std::move(*value);
    add_error(std::move(value.error()));
    return std::nullopt;
  }
  template <class T>
  std::vector<T> unwrap(result<std::vector<T>> value) {
    if (value) return std::move(*value);
    add_error(std::move(value.error()));
    return {};
  }
  std::optional<std::string> string(std::string_view key) { return unwrap(table_.string(key)); }
  bool boolean(std::string_view key, bool default_value) { return unwrap(table_.boolean(key)).value_or(default_value); }
  /// An array of strings, or a single one.
  std::vector<std::string> string_or_strings(std::string_view key) { return unwrap(table_.string_or_strings(key)); }
  /// A number of bytes. One that is not within [low, high] is an error, but is returned.
  std::uint64_t bytes(std::string_view key, std::uint64_t low, std::uint64_t high, std::uint64_t default_value);
  /// Makes a path absolute and lexically normal, without a final slash. `value`: the value of `key`, which is only for errors.
  /// Empty after an error.
  std::string path(std::string_view key, const std::string& value);
  /// A name for URIs: 1 to 64 of a-z, 0-9 and `-`. Nothing if it is missing. Any other name is an error, but is returned.
  std::optional<std::string> slug(std::string_view key);
  void add_error_at(std::string_view key, std::string_view message) { add_error(table_.error_at(key, message)); }
  void add_error(failure error) {
    if (!error_) error_ = std::move(error);
  }
  /// Must be called after all keys have been read. Errors: the first one; a key that was not read.
  [[nodiscard]] result<void> finish();

 private:
  section& table_;
  std::optional<failure> error_;
};

}  // namespace hondana::config
