/// Parses parts of log lines: escape sequences, syslog priorities and headers of container runtimes at the beginning, and
/// fields of JSON or logfmt.
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

/// The beginning of a line of a container runtime (CRI): "2026-01-02T03:04:05.678901234Z stdout F ".
struct container_header {
  std::size_t size = 0;       ///< 0: the line has no such header.
  bool is_partial = false;    ///< The next line of the same stream continues the text.
  std::string_view stream{};  ///< "stdout" or "stderr".
};
[[nodiscard]] container_header parse_container_header(std::string_view line) noexcept;
/// Removes the line ends and headers between the parts of a line that a container runtime has split.
[[nodiscard]] std::string join_container_parts(std::string_view record);

/// Whether the first byte of a record that is not a blank is an opening brace.
[[nodiscard]] bool looks_like_json(std::string_view text) noexcept;

/// Calls `visit` for the raw values of a field in JSON or logfmt (JSON strings with quotes), which point into `text`, until it
/// returns false. `path`: the names of nested members with dots between them. Names may contain dots themselves. Elements of
/// arrays are addressed by number. Without a number, all elements are addressed: "tags" visits the array and then its elements,
/// "spans.name" the names of all spans.
/// Since records may be masked or cut, malformed texts are read as far as possible. Linear time.
void for_each_value(std::string_view text, std::string_view path, const std::function<bool(std::string_view raw)>& visit);

/// Returns the first value of `for_each_value`: of a string the unescaped text, otherwise the text as written. nullopt: there
/// is none.
[[nodiscard]] std::optional<std::string> find_field(std::string_view text, std::string_view path);

/// Calls `visit` for the top-level fields of JSON or logfmt, with name and raw value (JSON strings with quotes), which point
/// into `text`. `visit` returns whether to continue. Linear time, no allocation.
void for_each_field(std::string_view text, const std::function<bool(std::string_view name, std::string_view raw)>& visit);

/// Decodes a raw value of `for_each_field`: removes quotes and resolves escapes.
[[nodiscard]] std::string decode_value(std::string_view raw);

}  // namespace hondana::records
