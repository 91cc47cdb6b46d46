/// Parses parts of log lines: escape sequences and syslog priorities at the beginning, and fields of JSON or logfmt.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace hondana::records {

/// The number of bytes of terminal escape sequences (colors) at the beginning of a line.
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

/// A syslog priority such as "<34>", including the version that follows in RFC 5424.
struct parsed_priority {
  std::optional<int> value{};
  std::size_t size = 0;
};
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

/// Whether a record is JSON: its first byte that is not a blank is a brace.
[[nodiscard]] bool looks_like_json(std::string_view text) noexcept;

/// The value of a field: of strings the unescaped text, of others the text as written. `path` has the names of nested members
/// with dots between them. Names may contain dots themselves. Elements of arrays are addressed by number.
/// Since records may be masked or cut, malformed texts are read as far as possible. Linear time.
[[nodiscard]] std::optional<std::string> find_field(std::string_view text, std::string_view path);

/// Calls `visit` for the top-level fields of JSON or logfmt, with name and raw value (JSON strings with quotes). It returns
/// whether to continue. Views point into `text`. Linear time, no allocation.
void for_each_field(std::string_view text, const std::function<bool(std::string_view name, std::string_view raw)>& visit);

/// The value of a raw text: without quotes, escapes resolved.
[[nodiscard]] std::string decode_value(std::string_view raw);

}  // namespace hondana::records
