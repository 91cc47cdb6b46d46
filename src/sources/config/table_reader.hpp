/// Reading a table one member after the other, where the first error counts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/error.hpp>

#include "sources/config/section.hpp"

namespace hondana::config {

/// What is wrong or missing is read as if it were not there; `finish` says so.
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
  /// An array of strings, or one.
  std::vector<std::string> texts(std::string_view key) { return take(from_.string_or_strings(key)); }
  /// From `low` to `high`.
  std::uint64_t bytes(std::string_view key, std::uint64_t low, std::uint64_t high, std::uint64_t otherwise);
  /// Absolute, without a slash at the end. `written`: what stands under the key.
  std::string path(std::string_view key, const std::string& written);
  /// A name of a source as it stands in URIs; nothing: there is none.
  std::optional<std::string> slug(std::string_view key);
  void wrong(std::string_view key, std::string_view what) { note(from_.wrong(key, what)); }
  void note(failure why) {
    if (!why_) why_ = std::move(why);
  }
  /// Errors: the first; a key that nobody asked for.
  [[nodiscard]] result<void> finish();

 private:
  section& from_;
  std::optional<failure> why_;
};

}  // namespace hondana::config
