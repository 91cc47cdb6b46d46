/// Reads and writes points in time as ISO 8601 texts.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace hondana::model {

/// ISO 8601 in UTC with milliseconds only when there are any: 2025-01-12T15:00:58Z.
[[nodiscard]] std::string iso_8601(std::chrono::sys_time<std::chrono::milliseconds> when);

/// A date (midnight UTC) or a date and time with its offset, as RFC 3339 writes them; what is finer than milliseconds is cut
/// off. Nothing for what is neither, or a day no calendar has.
[[nodiscard]] std::optional<std::chrono::sys_time<std::chrono::milliseconds>> parse_time(std::string_view text);

}  // namespace hondana::model
