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

/// Collects the first error of several reads.
class collector {
 public:
  template <class Read, class To>
  void take(result<std::optional<Read>> from, To& into) {
    if (!from) {
      note(std::move(from.error()));
    } else if (*from) {
      if constexpr (std::is_same_v<To, std::optional<Read>>) {
        into = std::move(*from);
      } else {
        into = static_cast<To>(**from);
      }
    }
  }
  /// Reads a time in milliseconds, from 1 to an hour.
  void take_time(section& from, std::string_view key, std::chrono::milliseconds& into) {
    auto ms = into.count();
    take(from.integer(key, 1, 3'600'000), ms);
    into = std::chrono::milliseconds(ms);
  }
  void check(result<void> outcome) {
    if (!outcome) note(std::move(outcome.error()));
  }
  void note(failure why) {
    if (!first_) first_ = std::move(why);
  }
  [[nodiscard]] std::optional<failure>& first() noexcept { return first_; }

 private:
  std::optional<failure> first_;
};

/// Reads the keys of a table. Invalid values are treated as missing; `finish` returns the first error.
class table_reader {
 public:
  explicit table_reader(section& from) : from_(from) {}

  template <class T>
  std::optional<T> take(result<std::optional<T>> found) {
    if (found) return std::move(*found);
    note(std::move(found.error()));
    return std::nullopt;
  }
  template <class T>
  std::vector<T> take(result<std::vector<T>> found) {
    if (found) return std::move(*found);
    note(std::move(found.error()));
    return {};
  }
  std::optional<std::string> text(std::string_view key) { return take(from_.string(key)); }
  bool truth(std::string_view key, bool otherwise) { return take(from_.boolean(key)).value_or(otherwise); }
  /// An array of strings, or a single one.
  std::vector<std::string> texts(std::string_view key) { return take(from_.string_or_strings(key)); }
  /// A size within [low, high].
  std::uint64_t bytes(std::string_view key, std::uint64_t low, std::uint64_t high, std::uint64_t otherwise);
  /// Makes a path absolute, without a final slash. `written`: the value of the key.
  std::string path(std::string_view key, const std::string& written);
  /// A name of a source for URIs; empty if it is missing.
  std::optional<std::string> slug(std::string_view key);
  void wrong(std::string_view key, std::string_view what) { note(from_.wrong(key, what)); }
  void note(failure why) {
    if (!why_) why_ = std::move(why);
  }
  /// Errors: the first one; a key that was not read.
  [[nodiscard]] result<void> finish();

 private:
  section& from_;
  std::optional<failure> why_;
};

}  // namespace hondana::config
