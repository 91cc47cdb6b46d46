/// Formats and parses times in ISO 8601.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace hondana::model {

/// Formats a time in UTC, with milliseconds only if they are not zero: 2025-01-12T15:00:58Z.
[[nodiscard]] std::string format_iso_8601(std::chrono::sys_time<std::chrono::milliseconds> instant);

/// Parses a date (midnight UTC), or a date and time with `Z` or an offset as in RFC 3339. Truncates fractions to milliseconds.
/// Returns nullopt for other text and for days that do not exist.
[[nodiscard]] std::optional<std::chrono::sys_time<std::chrono::milliseconds>> parse_time(std::string_view text);

}  // namespace hondana::model
