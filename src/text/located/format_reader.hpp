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

/// A stretch of a text.
struct stretch {
  std::size_t begin = 0;
  std::size_t end = 0;

  [[nodiscard]] bool empty() const noexcept { return begin == end; }
  [[nodiscard]] std::string_view of(std::string_view text) const noexcept { return text.substr(begin, end - begin); }
};

/// The line that begins at `begin`, without its end.
[[nodiscard]] inline stretch line_from(std::string_view text, std::size_t begin) noexcept {
  auto end = std::min(text.find('\n', begin), text.size());
  if (end > begin && text[end - 1] == '\r') --end;
  return {begin, end};
}

/// Where the line behind `line` begins; beyond the text when there is none.
[[nodiscard]] inline std::size_t behind(std::string_view text, stretch line) noexcept {
  const auto end = text.find('\n', line.end);
  return end == std::string_view::npos ? text.size() + 1 : end + 1;
}

/// Without blanks at either end.
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

/// An integer or a real, `digits` being JSON.
[[nodiscard]] inline node number_node(kind is, std::string digits, place at) {
  node made = text_node(std::move(digits), at);
  made.is = is;
  return made;
}

/// Keeps the keys apart in constant time.
class growing_table {
 public:
  explicit growing_table(place at) {
    table_.is = kind::table;
    table_.at = at;
  }

  /// The value of a key that has been put; null when there is none. Valid until the next is put.
  [[nodiscard]] node* find(std::string_view key);
  /// Puts a value in the place of one that is there, which is kept as replaced, or behind all. Says whether there was none.
  bool put(std::string key, place key_at, node value);

  [[nodiscard]] node& table() noexcept { return table_; }
  [[nodiscard]] node take() { return std::move(table_); }

 private:
  node table_;
  std::unordered_map<std::string, std::size_t> known_;
};

/// The shortest text that reads back equal, with a point or an exponent, so that it stays no integer. It must be finite.
[[nodiscard]] std::string real_text(double number);

/// A number written as JSON has it. An integer keeps its digits; a real is written in its shortest form, or stays as it is
/// where no double is as large. Nothing when it is not written so.
[[nodiscard]] std::optional<node> json_number(std::string_view written, place at);

/// What a plain scalar of YAML means by the core schema. Source: yaml.org/spec/1.2.2, section 10.3.2.
enum class scalar_doubt : std::uint8_t { none, unwritable, too_large };
struct plain_scalar {
  node what;
  scalar_doubt doubt = scalar_doubt::none;  ///< Why it is a text though the schema has it as a number.
};
[[nodiscard]] plain_scalar resolve_plain(std::string_view written, place at);

/// The reading of one text. Threads: one at a time.
class reading {
 public:
  /// No more remarks than these are kept; the last of them says so.
  static constexpr std::size_t most_remarks = 100;

  reading(std::string_view text, const limits& most);

  [[nodiscard]] std::string_view text() const noexcept { return text_; }
  [[nodiscard]] const limits& most() const noexcept { return most_; }

  /// Lines end with LF or CR LF.
  [[nodiscard]] std::uint32_t line_of(std::size_t offset) const noexcept;
  /// Where the line of that number, from 1, begins; the end of the text when it has no such line.
  [[nodiscard]] std::size_t begin_of_line(std::size_t line) const noexcept;
  [[nodiscard]] place at(std::size_t begin, std::size_t end) const noexcept;

  /// "line 3: WHAT".
  [[nodiscard]] tl::unexpected<failure> wrong(std::size_t offset, std::string_view what) const;
  [[nodiscard]] tl::unexpected<failure> wrong_in_line(std::size_t line, std::string_view what) const;
  /// response_too_large, "line N: more than ...", for the line of an offset.
  [[nodiscard]] tl::unexpected<failure> too_many(std::size_t offset, std::string_view what) const;
  [[nodiscard]] tl::unexpected<failure> too_deep(std::size_t offset) const;
  void remark(std::size_t offset, std::string_view what);
  void remark_duplicate(std::size_t offset, std::string_view key);

  /// Counts values, and the bytes of texts that aliases repeat. Errors: response_too_large.
  [[nodiscard]] result<void> count(std::size_t offset, std::size_t values = 1);
  [[nodiscard]] result<void> count_repeated(std::size_t offset, std::size_t bytes);

  [[nodiscard]] std::vector<std::string> take_remarks() { return std::move(remarks_); }

 private:
  std::string_view text_;
  const limits& most_;
  std::vector<std::size_t> lines_;  // where they begin
  std::vector<std::string> remarks_;
  std::size_t values_ = 0;
  std::size_t repeated_ = 0;
};

/// A key as messages name it: in quotes, or "a key" where it is long, does not print or may be a secret.
[[nodiscard]] std::string shown(std::string_view key);

/// The readers, one a format. The text is UTF-8 without a byte order mark and without NUL, but for properties also Latin-1.
[[nodiscard]] result<node> read_toml(reading& from);
[[nodiscard]] result<node> read_yaml(reading& from);
[[nodiscard]] result<node> read_json(reading& from);
[[nodiscard]] result<node> read_ini(reading& from);
[[nodiscard]] result<node> read_dotenv(reading& from);
[[nodiscard]] result<node> read_properties(reading& from);
[[nodiscard]] result<node> read_systemd(reading& from);

}  // namespace hondana::located
