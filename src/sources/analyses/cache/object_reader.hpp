/// Reads a JSON object member by member, with errors that name the place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>
#include <hondana/value.hpp>

#include "sources/analyses/cache/analysis.hpp"

namespace hondana::analyses {

/// The first error of an object. Values read after it are not used.
class decode_error {
 public:
  /// `allows_duplicates`: names that must differ may be equal, because secrets were masked.
  explicit decode_error(bool allows_duplicates = false) noexcept : allows_duplicates_(allows_duplicates) {}

  [[nodiscard]] bool allows_duplicates() const noexcept { return allows_duplicates_; }
  void report(std::string message) {
    if (!message_) message_ = std::move(message);
  }
  [[nodiscard]] bool has_occurred() const noexcept { return message_.has_value(); }
  [[nodiscard]] tl::unexpected<failure> to_failure() const {
    return fail(errc::invalid_argument, message_.value_or(std::string()));
  }

 private:
  std::optional<std::string> message_{};
  bool allows_duplicates_;
};

/// The length limit of a text, and its allowed characters.
struct text_rule {
  std::size_t max_bytes = 0;
  bool is_single_line = true;  ///< No control characters, and at least one character.
};

/// Reads one object. Unknown members are rejected at once. A missing optional member is empty, 0 or null.
class object_reader {
 public:
  /// `input` and `error` must outlive the object.
  object_reader(const value& input, std::string path, decode_error& error, std::initializer_list<std::string_view> known_names);

  [[nodiscard]] std::string text(std::string_view name, const text_rule& rule, bool is_required = false);
  /// A number from 0 to 1.
  [[nodiscard]] double fraction(std::string_view name, bool is_required = false);
  /// A number from 0.
  [[nodiscard]] double amount(std::string_view name);
  [[nodiscard]] std::int64_t count(std::string_view name, std::int64_t min, std::int64_t max, std::int64_t default_value);
  [[nodiscard]] std::optional<instant> time(std::string_view name);
  /// Null if it is absent.
  [[nodiscard]] const value* object(std::string_view name);
  /// The elements of an array, at most `max_elements`; null if it is absent.
  [[nodiscard]] const value::array* array(std::string_view name, std::size_t max_elements);

  [[nodiscard]] std::string path_of(std::string_view name) const;
  [[nodiscard]] std::string path_of(std::string_view name, std::size_t index) const;
  void reject(std::string_view name, const std::string& reason) { error_.report(path_of(name) + ": " + reason); }

 private:
  [[nodiscard]] const value* find(std::string_view name, bool is_required);
  [[nodiscard]] std::optional<double> number(std::string_view name, bool is_required, std::string_view range);

  const value::object* object_ = nullptr;
  std::string path_;
  decode_error& error_;
};

/// Reads a text outside of an object, as in an array.
[[nodiscard]] std::string read_text(const value& input, const std::string& path, const text_rule& rule, decode_error& error);

}  // namespace hondana::analyses
