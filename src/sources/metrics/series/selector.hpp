/// Label matchers and selectors in the syntax of PromQL: parsing, completion, matching and quoting.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

#include "sources/metrics/series/data_model.hpp"

namespace re2 {
class RE2;
}

namespace hondana::series {

/// A matcher `label OP "value"`. Copies share the compiled expression. Threads: any.
class matcher {
 public:
  enum class match_type : std::uint8_t { equal, not_equal, matches, matches_not };  ///< `=`, `!=`, `=~`, `!~`

  static constexpr std::size_t max_value_bytes = 4096;

  /// Creates a matcher. Regular expressions use RE2 syntax and are anchored at both ends; `.` also matches line feeds. Errors:
  /// invalid_argument for an invalid label name, a value that is too long or not UTF-8, and an expression that is invalid or
  /// too large. The text says which.
  [[nodiscard]] static result<matcher> create(std::string label_name, match_type type, std::string value);

  [[nodiscard]] const std::string& label_name() const noexcept { return name_; }
  [[nodiscard]] match_type type() const noexcept { return type_; }
  [[nodiscard]] const std::string& value() const noexcept { return value_; }
  /// Whether a label value matches. `value` is empty if the series does not have the label.
  [[nodiscard]] bool matches(std::string_view value) const;
  [[nodiscard]] bool matches(const identity& identity) const { return matches(identity.value_of(name_)); }
  /// Formats the matcher as in PromQL: `label=~"value"`, with the value escaped.
  [[nodiscard]] std::string to_text() const;

 private:
  matcher(std::string name, match_type type, std::string value, std::shared_ptr<const re2::RE2> compiled) noexcept
      : name_(std::move(name)), value_(std::move(value)), type_(type), compiled_(std::move(compiled)) {}

  std::string name_, value_;
  match_type type_;
  std::shared_ptr<const re2::RE2> compiled_;
};

/// Selects the series of a metric that satisfy all matchers.
struct selector {
  static constexpr std::size_t max_matchers = 32;

  std::string name{};  ///< Empty: any metric. PromQL then requires a matcher that does not match an empty value.
  std::vector<matcher> matchers{};

  [[nodiscard]] bool matches(const identity& identity) const;
  /// Formats the selector for PromQL, safely for any values: `name{a="b",c!~"d"}`. If the name is a PromQL keyword (`inf`,
  /// `sum`): `{__name__="sum"}`.
  [[nodiscard]] std::string to_text() const;
};

/// Parses `a="b", c=~'d.*', e!="f"` without braces. Allows the three quotes of PromQL with its escapes, a trailing comma, and
/// an empty text. Rejects `__name__`. Errors: invalid_argument, with the byte position (from 1) and what was expected.
[[nodiscard]] result<std::vector<matcher>> parse_matchers(std::string_view text);

/// A list of matchers whose last one is incomplete, for completion.
struct partial_matchers {
  std::vector<matcher> matchers{};                        ///< The matchers before the last comma.
  std::string prefix{};                                   ///< The text before `typed`.
  std::string label_name{};                               ///< The label of the last matcher. Empty: its name is incomplete.
  matcher::match_type type = matcher::match_type::equal;  ///< The operator after `label_name`.
  std::string typed{};                                    ///< The incomplete name or value, unescaped.
  bool has_quote = false;                                 ///< `prefix` ends with the opening quote of the value.

  /// Returns the text with `completion` instead of `typed`. A value gets quotes.
  [[nodiscard]] std::string completed(std::string_view completion) const;
};
/// Parses a list of matchers for completion. Until a comma follows, a value with a closing quote still counts as incomplete.
/// Errors: invalid_argument if no continuation would be valid.
[[nodiscard]] result<partial_matchers> parse_partial_matchers(std::string_view text);

/// Returns the operator: "=", "!=", "=~", "!~".
[[nodiscard]] std::string_view symbol_of(matcher::match_type type) noexcept;

/// Appends `value`, escaped for a quoted string of PromQL. Also escapes control characters. `value` must be UTF-8. `quote`: the
/// quotation mark of the string, `"` or `'`.
void append_escaped(std::string& out, std::string_view value, char quote);

/// The result of `read_quoted`.
struct quoted_text {
  std::string value{};
  std::size_t end = 0;     ///< The position after the closing quote, or the end of the text.
  bool is_closed = false;  ///< The closing quote is there.
};
/// Parses a quoted string of PromQL whose opening quote (`"`, `'` or a backtick) is at `position`. If the text ends inside the
/// string, it is not closed, and an incomplete escape is ignored. Errors: invalid_argument with the byte position (from 1) for
/// an invalid escape, a line feed where none is allowed, and invalid UTF-8.
[[nodiscard]] result<quoted_text> read_quoted(std::string_view text, std::size_t position);

}  // namespace hondana::series
