/// Reads many keys of a table and collects the first error.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
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

/// Reads the keys of a table. Functions with a target keep it if the key is missing or its value is wrong. `finish` returns the
/// first error.
class table_reader {
 public:
  explicit table_reader(section& table) : table_(table) {}

  [[nodiscard]] bool has(std::string_view key) const { return table_.has(key); }
  [[nodiscard]] std::string resolve_path(const std::string& path) const { return table_.resolve_path(path); }

  /// A text; nothing if it is missing or wrong.
  std::optional<std::string> string(std::string_view key);
  template <class Target>
  void string(std::string_view key, Target& target) {
    assign(table_.string(key), target);
  }
  /// A text; an empty one counts as absent.
  void text(std::string_view key, std::optional<std::string>& target) {
    string(key, target);
    if (target == "") target.reset();
  }
  template <class Target>
  void boolean(std::string_view key, Target& target) {
    assign(table_.boolean(key), target);
  }
  template <class Target>
  void integer(std::string_view key, std::int64_t low, std::int64_t high, Target& target) {
    assign(table_.integer(key, low, high), target);
  }
  template <class Target>
  void number(std::string_view key, double low, double high, Target& target) {
    assign(table_.number(key, low, high), target);
  }
  /// A number of bytes, without limits.
  template <class Target>
  void bytes(std::string_view key, Target& target) {
    assign(table_.bytes(key), target);
  }
  /// A number of bytes within [low, high].
  template <class Target>
  void bytes(std::string_view key, std::uint64_t low, std::uint64_t high, Target& target) {
    assign(check_range(key, table_.bytes(key), low, high), target);
  }
  /// A time in milliseconds within [low, high].
  template <class Target>
  void milliseconds(std::string_view key, Target& target, std::int64_t low = 1, std::int64_t high = 3'600'000) {
    std::optional<std::int64_t> count;
    integer(key, low, high, count);
    if (count) target = std::chrono::milliseconds(*count);
  }
  /// An array of strings. Sets an empty `target` if the key is missing.
  void strings(std::string_view key, std::vector<std::string>& target) { assign(table_.strings(key), target); }
  /// An array of strings, or a single one.
  std::vector<std::string> string_or_strings(std::string_view key);
  /// A table of strings under names of the user's choice. Empty if it is missing or wrong.
  std::vector<std::pair<std::string, std::string>> strings_by_name(std::string_view key);
  /// The path of a file, resolved relative to the folder of the configuration file. `kind`: what the file is, for the error.
  template <class Target>
  void file(std::string_view key, Target& target, std::string_view kind = "file") {
    if (auto path = file_path(key, kind)) target = std::move(*path);
  }
  /// Makes a path absolute and lexically normal, without a final slash. `value`: the value of `key`, which is only for errors.
  /// Empty after an error.
  std::string absolute_path(std::string_view key, const std::string& value);
  /// A name for URIs: 1 to 64 of a-z, 0-9 and `-`. Nothing if it is missing. Any other name is an error, but is returned.
  std::optional<std::string> slug(std::string_view key);
  /// One of several texts, each with its value.
  template <class Value, std::size_t count>
  void choice(std::string_view key, const std::array<std::pair<std::string_view, Value>, count>& choices, Value& target) {
    const auto text = string(key);
    if (!text) return;
    std::array<std::string_view, count> known;
    for (std::size_t i = 0; i < count; ++i) {
      known[i] = choices[i].first;
      if (known[i] == *text) {
        target = choices[i].second;
        return;
      }
    }
    add_error(table_.unknown_value(key, *text, known));
  }
  /// The table under a key, such as `[http]`, as the function `read` returns it: a result for a `section`.
  template <class Reader, class Target>
  void subtable(std::string_view key, const Reader& read, Target& target) {
    std::optional<section> nested;
    assign(table_.subsection(key), nested);
    if (nested) assign_value(read(std::move(*nested)), target);
  }
  /// An array of tables, such as `[[source]]`.
  std::vector<section> subtables(std::string_view key);

  /// Stores a value, or its error.
  template <class Value, class Target>
  void assign(result<std::optional<Value>> value, Target& target) {
    if (!value) return add_error(std::move(value.error()));
    if (!*value) return;
    if constexpr (std::is_same_v<Target, std::optional<Value>>) {
      target = std::move(*value);
    } else {
      target = static_cast<Target>(std::move(**value));
    }
  }
  template <class Value>
  void assign(result<std::vector<Value>> values, std::vector<Value>& target) {
    assign_value(std::move(values), target);
  }
  /// Stores the error of `outcome`, if any.
  void check(result<void> outcome) {
    if (!outcome) add_error(std::move(outcome.error()));
  }
  void add_error_at(std::string_view key, std::string_view message) { add_error(table_.error_at(key, message)); }
  /// Stores an error, unless there is an earlier one.
  void add_error(failure error) {
    if (!error_) error_ = std::move(error);
  }
  /// The first error so far.
  [[nodiscard]] result<void> first_error() const;
  /// Must be called after all keys have been read. Errors: a key that was not read, because it may be a misspelling of one that
  /// is missing; otherwise the first error.
  [[nodiscard]] result<void> finish();

 private:
  template <class Value, class Target>
  void assign_value(result<Value> value, Target& target) {
    if (!value) return add_error(std::move(value.error()));
    target = std::move(*value);
  }
  std::optional<std::string> file_path(std::string_view key, std::string_view kind);
  result<std::optional<std::uint64_t>> check_range(std::string_view key, result<std::optional<std::uint64_t>> size,
                                                   std::uint64_t low, std::uint64_t high) const;

  section& table_;
  std::optional<failure> error_;
};

}  // namespace hondana::config
