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

/// One `label OP "value"`. Copies share what is compiled. Threads: any.
class matcher {
 public:
  enum class relation : std::uint8_t { equal, not_equal, matches, matches_not };  ///< `=`, `!=`, `=~`, `!~`

  static constexpr std::size_t longest_value = 4096;

  /// Expressions are RE2's and anchored at both ends; `.` is a line feed, too. Errors: invalid_argument for a label name that
  /// cannot be, a value that is too long or no UTF-8, and an expression that is none or too large; the text says which.
  [[nodiscard]] static result<matcher> of(std::string label_name, relation how, std::string value);

  [[nodiscard]] const std::string& label_name() const noexcept { return name_; }
  [[nodiscard]] relation how() const noexcept { return how_; }
  [[nodiscard]] const std::string& value() const noexcept { return value_; }
  /// Of the value that a series has for this label; empty where it has none.
  [[nodiscard]] bool admits(std::string_view value) const;
  [[nodiscard]] bool admits(const identity& of) const { return admits(of.value_of(name_)); }
  /// `label=~"value"`, escaped so that nothing in the value ends it.
  [[nodiscard]] std::string to_text() const;

 private:
  matcher(std::string name, relation how, std::string value, std::shared_ptr<const re2::RE2> compiled) noexcept
      : name_(std::move(name)), value_(std::move(value)), how_(how), compiled_(std::move(compiled)) {}

  std::string name_, value_;
  relation how_;
  std::shared_ptr<const re2::RE2> compiled_;
};

/// Series of one metric that all matchers admit.
struct selector {
  static constexpr std::size_t most_matchers = 32;

  std::string name{};  ///< Empty: of any metric; then there is a matcher that does not admit the empty value.
  std::vector<matcher> matchers{};

  [[nodiscard]] bool admits(const identity& of) const;
  /// `name{a="b",c!~"d"}`, safe to stand in PromQL whatever the values hold. A name that is a word of PromQL (`inf`, `sum`) is
  /// written as `{__name__="sum"}`.
  [[nodiscard]] std::string to_text() const;
};

/// Reads `a="b", c=~'d.*', e!="f"` without braces: the three quotes of PromQL with its escapes, a comma at the end allowed,
/// nothing at all allowed. `__name__` is not. Errors: invalid_argument that says at which byte (from 1) what was expected.
[[nodiscard]] result<std::vector<matcher>> parse_matchers(std::string_view text);

/// What somebody has typed of such a body so far, for completing it.
struct partial_matchers {
  std::vector<matcher> whole{};                      ///< Those before the last comma.
  std::string before{};                              ///< The text up to where `typed` begins.
  std::string label_name{};                          ///< Of the value that is being typed; empty: a label's name is.
  matcher::relation how = matcher::relation::equal;  ///< Between that label and the value.
  std::string typed{};                               ///< Of the name or value, unescaped.
  bool has_quote = false;                            ///< `before` ends with the quote that the value begins with.

  /// The text with `with` in the place of `typed`, a value with its quotes: `parse_matchers` takes it, if the name is followed
  /// by a relation.
  [[nodiscard]] std::string completed(std::string_view with) const;
};
/// After a value's second quote it is that value that is being typed, until a comma comes. Errors: invalid_argument where
/// nothing could follow that would make it whole.
[[nodiscard]] result<partial_matchers> parse_partial_matchers(std::string_view text);

/// "=", "!=", "=~", "!~".
[[nodiscard]] std::string_view text_of(matcher::relation how) noexcept;

/// Appends `value` as it stands between two of `quote`, `"` or `'`: escaped where PromQL needs it, and where a person could not
/// see what it is. `value` is UTF-8.
void append_escaped(std::string& out, std::string_view value, char quote);

struct quoted_text {
  std::string value{};
  std::size_t end = 0;     ///< Where reading went on to: behind the second quote, or the end of the text.
  bool is_closed = false;  ///< The second quote is there.
};
/// Reads a quoted text that begins at `at`, where its first quote stands. A text that ends within is not closed; an escape that
/// ends with the text is left out. Errors: invalid_argument with the byte (from 1) for an escape that is none, a line feed
/// where none can be, and what is no UTF-8.
[[nodiscard]] result<quoted_text> read_quoted(std::string_view text, std::size_t at);

}  // namespace hondana::series
