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

/// Collects the first error of a decoding. After an error, do not use any values that were read.
class decode_error {
 public:
  /// `allows_duplicates`: providers and URIs that must differ may be equal, because secrets were masked.
  explicit decode_error(bool allows_duplicates = false) noexcept : allows_duplicates_(allows_duplicates) {}

  [[nodiscard]] bool allows_duplicates() const noexcept { return allows_duplicates_; }
  /// Stores the message, unless one is stored already.
  void report(std::string message) {
    if (!message_) message_ = std::move(message);
  }
  [[nodiscard]] bool has_occurred() const noexcept { return message_.has_value(); }
  /// Returns the message as an error invalid_argument.
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

/// Reads the members of one object. Reports invalid and missing members to the `decode_error`; the returned value is then
/// empty, 0, null or the default, as for a missing optional member.
class object_reader {
 public:
  /// Rejects members that are not among `known_names`, and input that is not an object. `path`: the place of the object, for
  /// errors; may be empty. `input` and `error` must outlive the reader.
  object_reader(const value& input, std::string path, decode_error& error, std::initializer_list<std::string_view> known_names);

  [[nodiscard]] std::string text(std::string_view name, const text_rule& rule, bool is_required = false);
  /// Reads a number from 0 to 1.
  [[nodiscard]] double fraction(std::string_view name, bool is_required = false);
  /// Reads a number from 0 to 1e15.
  [[nodiscard]] double amount(std::string_view name);
  /// Reads an integer from `min` to `max`.
  [[nodiscard]] std::int64_t count(std::string_view name, std::int64_t min, std::int64_t max, std::int64_t default_value);
  /// Reads a time in RFC 3339.
  [[nodiscard]] std::optional<instant> time(std::string_view name);
  /// Returns a member that is an object. Null: absent or null.
  [[nodiscard]] const value* object(std::string_view name);
  /// Returns the elements of an array, at most `max_elements`. Null: absent.
  [[nodiscard]] const value::array* array(std::string_view name, std::size_t max_elements);

  /// "votes[2].confidence", for errors.
  [[nodiscard]] std::string path_of(std::string_view name) const;
  /// "votes[2].names[0]".
  [[nodiscard]] std::string path_of(std::string_view name, std::size_t index) const;
  /// Reports an error of the member `name`.
  void reject(std::string_view name, const std::string& reason) { error_.report(path_of(name) + ": " + reason); }

 private:
  [[nodiscard]] const value* find(std::string_view name, bool is_required);
  /// `range`: for errors: "from 0 to 1".
  [[nodiscard]] std::optional<double> number(std::string_view name, bool is_required, std::string_view range);

  const value::object* object_ = nullptr;
  std::string path_;
  decode_error& error_;
};

/// Reads a text that is not a member, such as an array element. Empty after an error.
[[nodiscard]] std::string read_text(const value& input, const std::string& path, const text_rule& rule, decode_error& error);

}  // namespace hondana::analyses
