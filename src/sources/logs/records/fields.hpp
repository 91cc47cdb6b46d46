/// Parses what log lines are made of: escape sequences and syslog priorities in front, and fields of JSON or logfmt.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace hondana::records {

/// How many bytes at the front are escape sequences for terminals (colours).
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

/// Syslog's "<34>", with the version that RFC 5424 puts behind it.
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

/// Whether a record is one of JSON: its first byte that is no blank is a brace.
[[nodiscard]] bool looks_like_json(std::string_view text) noexcept;

/// The text of a field: of strings what they stand for, of all else as it is written. `path` names members from the outermost
/// on with dots between them; a member's name may have dots itself. Arrays are gone into by number. What is malformed, or cut,
/// is read as far as it goes, since records may be masked or cut. Linear time.
[[nodiscard]] std::optional<std::string> field_of(std::string_view text, std::string_view path);

/// Goes through the fields of the outermost level of JSON, or of logfmt: `each` gets name and raw value (of JSON with its
/// quotes), and returns whether to go on. Views are into `text`. Linear time, and nothing is allocated.
void each_field(std::string_view text, const std::function<bool(std::string_view name, std::string_view raw)>& each);

/// What a raw value stands for: without its quotes, escapes resolved.
[[nodiscard]] std::string text_of_raw(std::string_view raw);

}  // namespace hondana::records
