/// Helpers for the readers of all formats: lines, places, tables, numbers, errors and limits.
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
struct stretch {
  std::size_t begin = 0;
  std::size_t end = 0;

  [[nodiscard]] bool empty() const noexcept { return begin == end; }
  [[nodiscard]] std::string_view of(std::string_view text) const noexcept { return text.substr(begin, end - begin); }
};

/// The line that begins at `begin`, without its line ending.
[[nodiscard]] inline stretch line_from(std::string_view text, std::size_t begin) noexcept {
  auto end = std::min(text.find('\n', begin), text.size());
  if (end > begin && text[end - 1] == '\r') --end;
  return {begin, end};
}

/// The beginning of the next line; beyond the text if there is none.
[[nodiscard]] inline std::size_t behind(std::string_view text, stretch line) noexcept {
  const auto end = text.find('\n', line.end);
  return end == std::string_view::npos ? text.size() + 1 : end + 1;
}

/// The range without blanks at both ends.
[[nodiscard]] inline stretch trimmed(std::string_view text, stretch from) noexcept {
  while (from.begin < from.end && is_blank(text[from.begin])) ++from.begin;
  while (from.begin < from.end && is_blank(text[from.end - 1])) --from.end;
  return from;
}

[[nodiscard]] inline node text_node(std::string text, place at) {
  node made;
  made.is = kind::text;
  made.text = std::move(text);
  made.at = at;
  return made;
}

[[nodiscard]] inline node boolean_node(bool truth, place at) {
  node made;
  made.is = kind::boolean;
  made.truth = truth;
  made.at = at;
  return made;
}

[[nodiscard]] inline node null_node(place at) {
  node made;
  made.at = at;
  return made;
}

[[nodiscard]] inline node empty_node(kind is, place at) {
  node made;
  made.is = is;
  made.at = at;
  return made;
}

/// An integer or a real. `digits` is valid JSON.
[[nodiscard]] inline node number_node(kind is, std::string digits, place at) {
  node made = text_node(std::move(digits), at);
  made.is = is;
  return made;
}

/// A table under construction, with lookup of keys in constant time.
class growing_table {
 public:
  explicit growing_table(place at) {
    table_.is = kind::table;
    table_.at = at;
  }

  /// The value of a key; null if there is none. Valid until the next `put`.
  [[nodiscard]] node* find(std::string_view key);
  /// Sets a value. A previous value of the key moves to `replaced`. Returns whether the key was new.
  bool put(std::string key, place key_at, node value);

  [[nodiscard]] node& table() noexcept { return table_; }
  [[nodiscard]] node take() { return std::move(table_); }

 private:
  node table_;
  std::unordered_map<std::string, std::size_t> known_;
};

/// The shortest text that parses to the same number, with a decimal point or an exponent. `number` must be finite.
[[nodiscard]] std::string real_text(double number);

/// A number in JSON syntax. An integer keeps its digits; a real gets its shortest form, or stays unchanged if it is too large
/// for a double. No value if the text is not a JSON number.
[[nodiscard]] std::optional<node> json_number(std::string_view written, place at);

/// Why a plain YAML scalar that is a number by the core schema stays text. Source: yaml.org/spec/1.2.2, section 10.3.2.
enum class scalar_doubt : std::uint8_t { none, unwritable, too_large };
struct plain_scalar {
  node what;
  scalar_doubt doubt = scalar_doubt::none;  ///< Why it is a text although it is a number by the core schema.
};
[[nodiscard]] plain_scalar resolve_plain(std::string_view written, place at);

/// The state of parsing one text. Threads: one at a time.
class reading {
 public:
  /// Further remarks are dropped; the last one kept says so.
  static constexpr std::size_t most_remarks = 100;

  reading(std::string_view text, const limits& most);

  [[nodiscard]] std::string_view text() const noexcept { return text_; }
  [[nodiscard]] const limits& most() const noexcept { return most_; }

  /// Lines end with LF or CR LF.
  [[nodiscard]] std::uint32_t line_of(std::size_t offset) const noexcept;
  /// The beginning of a line, counted from 1; the end of the text if there is no such line.
  [[nodiscard]] std::size_t begin_of_line(std::size_t line) const noexcept;
  [[nodiscard]] place at(std::size_t begin, std::size_t end) const noexcept;

  /// "line 3: WHAT"
  [[nodiscard]] tl::unexpected<failure> wrong(std::size_t offset, std::string_view what) const;
  [[nodiscard]] tl::unexpected<failure> wrong_in_line(std::size_t line, std::string_view what) const;
  /// response_too_large, "line N: more than …", for the line of an offset.
  [[nodiscard]] tl::unexpected<failure> too_many(std::size_t offset, std::string_view what) const;
  [[nodiscard]] tl::unexpected<failure> too_deep(std::size_t offset) const;
  void remark(std::size_t offset, std::string_view what);
  void remark_duplicate(std::size_t offset, std::string_view key);

  /// Counts values, and bytes of texts that aliases repeat. Errors: response_too_large.
  [[nodiscard]] result<void> count(std::size_t offset, std::size_t values = 1);
  [[nodiscard]] result<void> count_repeated(std::size_t offset, std::size_t bytes);

  [[nodiscard]] std::vector<std::string> take_remarks() { return std::move(remarks_); }

 private:
  std::string_view text_;
  const limits& most_;
  std::vector<std::size_t> lines_;  // their beginnings
  std::vector<std::string> remarks_;
  std::size_t values_ = 0;
  std::size_t repeated_ = 0;
};

/// A key as shown in messages: in quotes, or "a key" if it is long, not printable, or maybe a secret.
[[nodiscard]] std::string shown(std::string_view key);

/// The readers, one for each format. The text is UTF-8 without a byte order mark and without NUL; for properties, Latin-1 is
/// allowed, too.
[[nodiscard]] result<node> read_toml(reading& from);
[[nodiscard]] result<node> read_yaml(reading& from);
[[nodiscard]] result<node> read_json(reading& from);
[[nodiscard]] result<node> read_ini(reading& from);
[[nodiscard]] result<node> read_dotenv(reading& from);
[[nodiscard]] result<node> read_properties(reading& from);
[[nodiscard]] result<node> read_systemd(reading& from);

}  // namespace hondana::located
