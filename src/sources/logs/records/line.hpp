/// What lines of logs begin with.
#pragma once

#include <cstddef>
#include <optional>
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

}  // namespace hondana::records
