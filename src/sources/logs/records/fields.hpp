/// Parses parts of log lines: escape sequences and syslog priorities at the beginning, and fields of JSON or logfmt.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace hondana::records {

/// The number of bytes of terminal escape sequences (colors) at the beginning of a line.
[[nodiscard]] constexpr std::size_t skipped_escapes(std::string_view line) noexcept {
  std::size_t at = 0;
  while (at + 2 < line.size() && line[at] == '\x1B' && line[at + 1] == '[') {
    auto end = at + 2;
    while (end < line.size() && end < at + 32 && line[end] >= ' ' && line[end] < '@') ++end;
    if (end >= line.size() || line[end] < '@' || line[end] > '~') break;
    at = end + 1;
  }
  return at;
}

/// A syslog priority such as "<34>", including the version that follows in RFC 5424.
struct priority_read {
  std::optional<int> value{};
  std::size_t size = 0;
};
[[nodiscard]] constexpr priority_read priority_at(std::string_view line) noexcept {
  if (line.size() < 3 || line[0] != '<') return {};
  int value = 0;
  std::size_t at = 1;
  while (at < line.size() && at < 4 && line[at] >= '0' && line[at] <= '9') value = value * 10 + (line[at++] - '0');
  if (at == 1 || at >= line.size() || line[at] != '>' || value > 191) return {};
  ++at;
  if (at + 1 < line.size() && line[at] == '1' && line[at + 1] == ' ') at += 2;
  return {value, at};
}

/// Whether a record is JSON: its first byte that is not a blank is a brace.
[[nodiscard]] bool looks_like_json(std::string_view text) noexcept;

/// The value of a field: of strings the unescaped text, of others the text as written. `path` has the names of nested members
/// with dots between them. Names may contain dots themselves. Elements of arrays are addressed by number.
/// Since records may be masked or cut, malformed texts are read as far as possible. Linear time.
[[nodiscard]] std::optional<std::string> field_of(std::string_view text, std::string_view path);

/// Calls `each` for the top-level fields of JSON or logfmt, with name and raw value (JSON strings with quotes). It returns
/// whether to continue. Views point into `text`. Linear time, no allocation.
void each_field(std::string_view text, const std::function<bool(std::string_view name, std::string_view raw)>& each);

/// The value of a raw text: without quotes, escapes resolved.
[[nodiscard]] std::string text_of_raw(std::string_view raw);

}  // namespace hondana::records
