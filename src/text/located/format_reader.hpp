/// Helpers for the readers of all formats: lines, ranges, tables, numbers, errors and limits.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <hondana/error.hpp>

#include "text/located/format.hpp"
#include "text/located/node.hpp"

namespace hondana::located {

[[nodiscard]] constexpr bool is_blank(char c) noexcept { return c == ' ' || c == '\t' || c == '\f' || c == '\v' || c == '\r'; }

/// A range of a text, in bytes.
struct text_span {
  std::size_t begin = 0;
  std::size_t end = 0;

  [[nodiscard]] bool empty() const noexcept { return begin == end; }
  [[nodiscard]] std::string_view slice(std::string_view text) const noexcept { return text.substr(begin, end - begin); }
};

/// Returns the line that begins at `begin`, without its line ending.
[[nodiscard]] inline text_span line_from(std::string_view text, std::size_t begin) noexcept {
  auto end = std::min(text.find('\n', begin), text.size());
  if (end > begin && text[end - 1] == '\r') --end;
  return {begin, end};
}

/// Returns the beginning of the next line; beyond the text if there is none.
[[nodiscard]] inline std::size_t next_line_begin(std::string_view text, text_span line) noexcept {
  const auto end = text.find('\n', line.end);
  return end == std::string_view::npos ? text.size() + 1 : end + 1;
}

/// Returns the range without blanks at both ends.
[[nodiscard]] inline text_span trim(std::string_view text, text_span span) noexcept {
  while (span.begin < span.end && is_blank(text[span.begin])) ++span.begin;
  while (span.begin < span.end && is_blank(text[span.end - 1])) --span.end;
  return span;
}

[[nodiscard]] inline node text_node(std::string text, source_range range) {
  node result;
  result.kind = node_kind::text;
  result.text = std::move(text);
  result.range = range;
  return result;
}

[[nodiscard]] inline node boolean_node(bool boolean, source_range range) {
  node result;
  result.kind = node_kind::boolean;
  result.boolean = boolean;
  result.range = range;
  return result;
}

[[nodiscard]] inline node null_node(source_range range) {
  node result;
  result.range = range;
  return result;
}

[[nodiscard]] inline node empty_node(node_kind kind, source_range range) {
  node result;
  result.kind = kind;
  result.range = range;
  return result;
}

/// Makes an integer or a real. `digits` must be valid JSON.
[[nodiscard]] inline node number_node(node_kind kind, std::string digits, source_range range) {
  node result = text_node(std::move(digits), range);
  result.kind = kind;
  return result;
}

/// A table under construction, with lookup of keys in constant time.
class table_builder {
 public:
  explicit table_builder(source_range range) {
    table_.kind = node_kind::table;
    table_.range = range;
  }

  /// Returns the value of a key; null if there is none. Valid until the next `put`.
  [[nodiscard]] node* find(std::string_view key);
  /// Sets the value of a key. A member that has this key moves to `node::replaced`. Returns whether the key was new.
  bool put(std::string key, source_range key_range, node value);

  [[nodiscard]] node& table() noexcept { return table_; }
  [[nodiscard]] node release() { return std::move(table_); }

 private:
  node table_;
  std::unordered_map<std::string, std::size_t> indices_;
};

/// Returns the shortest text that parses to the same number, with a decimal point or an exponent. `number` must be finite.
[[nodiscard]] std::string real_text(double number);

/// Parses a number in JSON syntax. An integer keeps its digits; a real gets its shortest form, or stays unchanged if it is too
/// large for a double. No value if the text is not a JSON number.
[[nodiscard]] std::optional<node> parse_json_number(std::string_view literal, source_range range);

/// Why a plain YAML scalar stays text although it is a number by the core schema. `unrepresentable`: an infinity or NaN.
/// Source: yaml.org/spec/1.2.2, section 10.3.2.
enum class scalar_issue : std::uint8_t { none, unrepresentable, too_large };
struct plain_scalar {
  node value;
  scalar_issue issue = scalar_issue::none;
};
/// Makes a null, boolean, number or text of a YAML scalar without quotes, by the core schema.
[[nodiscard]] plain_scalar resolve_plain(std::string_view literal, source_range range);

/// The state of parsing one text. The text and the limits must outlive it. Lines end with LF or CR LF; their numbers begin
/// at 1. Threads: one at a time.
class parse_context {
 public:
  /// Limit of warnings. The last one says that further ones are dropped.
  static constexpr std::size_t max_warnings = 100;

  parse_context(std::string_view text, const parse_limits& limits);

  [[nodiscard]] std::string_view text() const noexcept { return text_; }
  [[nodiscard]] const parse_limits& limits() const noexcept { return limits_; }

  /// Returns the number of the line that contains a byte.
  [[nodiscard]] std::uint32_t line_of(std::size_t offset) const noexcept;
  /// Returns the beginning of a line; the end of the text if there is no such line.
  [[nodiscard]] std::size_t begin_of_line(std::size_t line) const noexcept;
  [[nodiscard]] source_range range_of(std::size_t begin, std::size_t end) const noexcept;

  /// Makes the error invalid_argument, "line 3: MESSAGE", for the line of an offset.
  [[nodiscard]] tl::unexpected<failure> error_at(std::size_t offset, std::string_view message) const;
  /// Makes the same error for a line.
  [[nodiscard]] tl::unexpected<failure> error_in_line(std::size_t line, std::string_view message) const;
  /// Makes the error response_too_large, "line 3: MESSAGE".
  [[nodiscard]] tl::unexpected<failure> limit_error(std::size_t offset, std::string_view message) const;
  /// Makes the error invalid_argument for too deep nesting.
  [[nodiscard]] tl::unexpected<failure> depth_error(std::size_t offset) const;
  /// Adds "line 3: MESSAGE" to the warnings.
  void warn(std::size_t offset, std::string_view message);
  /// Warns that a key occurs again.
  void warn_duplicate(std::size_t offset, std::string_view key);

  /// Counts values. Errors: response_too_large.
  [[nodiscard]] result<void> count_values(std::size_t offset, std::size_t values = 1);
  /// Counts bytes of texts that aliases repeat. Errors: response_too_large.
  [[nodiscard]] result<void> count_repeated(std::size_t offset, std::size_t bytes);

  [[nodiscard]] std::vector<std::string> release_warnings() { return std::move(warnings_); }

 private:
  std::string_view text_;
  const parse_limits& limits_;
  std::vector<std::size_t> line_begins_;  // offsets
  std::vector<std::string> warnings_;
  std::size_t value_count_ = 0;
  std::size_t repeated_bytes_ = 0;
};

/// Returns a key as shown in messages: in quotes, or "a key" if it is long, not printable, or maybe a secret.
[[nodiscard]] std::string display_key(std::string_view key);

// The readers of all formats, which return the root. The text must be UTF-8 without a byte order mark and without NUL; for
// properties, Latin-1 is allowed, too. Errors: as `read`.

[[nodiscard]] result<node> read_toml(parse_context& context);
[[nodiscard]] result<node> read_yaml(parse_context& context);
[[nodiscard]] result<node> read_json(parse_context& context);
[[nodiscard]] result<node> read_ini(parse_context& context);
[[nodiscard]] result<node> read_gitconfig(parse_context& context);
[[nodiscard]] result<node> read_editorconfig(parse_context& context);
[[nodiscard]] result<node> read_desktop(parse_context& context);
[[nodiscard]] result<node> read_configparser(parse_context& context);
[[nodiscard]] result<node> read_dotenv(parse_context& context);
[[nodiscard]] result<node> read_compose_env(parse_context& context);
[[nodiscard]] result<node> read_properties(parse_context& context);
[[nodiscard]] result<node> read_systemd(parse_context& context);

}  // namespace hondana::located
