/// Parses parts of log lines: escape sequences and syslog priorities at the beginning, and fields of JSON or logfmt.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace hondana::records {

/// Returns the number of bytes of terminal escape sequences (colors) at the beginning of a line.
[[nodiscard]] constexpr std::size_t skip_escapes(std::string_view line) noexcept {
  std::size_t offset = 0;
  while (offset + 2 < line.size() && line[offset] == '\x1B' && line[offset + 1] == '[') {
    auto end = offset + 2;
    while (end < line.size() && end < offset + 32 && line[end] >= ' ' && line[end] < '@') ++end;
    if (end >= line.size() || line[end] < '@' || line[end] > '~') break;
    offset = end + 1;
  }
  return offset;
}

/// A syslog priority at the beginning of a line, such as "<34>".
struct parsed_priority {
  std::optional<int> value{};  ///< 0 to 191. nullopt: there is none.
  std::size_t size = 0;        ///< Bytes, with the version "1 " that follows in RFC 5424.
};
/// Parses the priority at the beginning of a line.
[[nodiscard]] constexpr parsed_priority parse_priority(std::string_view line) noexcept {
  if (line.size() < 3 || line[0] != '<') return {};
  int value = 0;
  std::size_t offset = 1;
  while (offset < line.size() && offset < 4 && line[offset] >= '0' && line[offset] <= '9')
    value = value * 10 + (line[offset++] - '0');
  if (offset == 1 || offset >= line.size() || line[offset] != '>' || value > 191) return {};
  ++offset;
  if (offset + 1 < line.size() && line[offset] == '1' && line[offset + 1] == ' ') offset += 2;
  return {value, offset};
}

/// Whether the first byte of a record that is not a blank is an opening brace.
[[nodiscard]] bool looks_like_json(std::string_view text) noexcept;

/// Finds the value of a field in JSON or logfmt: of a string the unescaped text, otherwise the text as written. Returns nullopt
/// if there is none. `path`: the names of nested members with dots between them. Names may contain dots themselves. Elements of
/// arrays are addressed by number.
/// Since records may be masked or cut, malformed texts are read as far as possible. Linear time.
[[nodiscard]] std::optional<std::string> find_field(std::string_view text, std::string_view path);

/// Calls `visit` for the top-level fields of JSON or logfmt, with name and raw value (JSON strings with quotes), which point
/// into `text`. `visit` returns whether to continue. Linear time, no allocation.
void for_each_field(std::string_view text, const std::function<bool(std::string_view name, std::string_view raw)>& visit);

/// Decodes a raw value of `for_each_field`: removes quotes and resolves escapes.
[[nodiscard]] std::string decode_value(std::string_view raw);

}  // namespace hondana::records
