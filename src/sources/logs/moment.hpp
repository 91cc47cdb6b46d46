/// Parses and formats times and durations, in microseconds.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <hondana/error.hpp>

#include "sources/logs/records/log_backend.hpp"

namespace hondana::logs {

/// A point in time, and whether it was given relative to the time of the request.
struct moment {
  records::instant time = 0;
  bool is_relative = false;

  bool operator==(const moment&) const = default;
};

/// Parses a time. `name`: of the parameter, for the error text. Errors: invalid_argument. Takes linear time.
/// * `now`, or a duration before `now`: `90s`, `-15m`, `1h30m`, `2d`, `1w`.
/// * A day: `2026-01-31`, midnight UTC.
/// * A date and time, with `T` or a blank between them, in UTC unless it has an offset. Fractions may have microseconds.
/// * Seconds, milliseconds, microseconds or nanoseconds since 1970. The number of digits decides: up to 11, 14 and 17 digits
/// for the first three. So times before March 1973 must be given in seconds.
[[nodiscard]] result<moment> parse_moment(std::string_view name, std::string_view text, records::instant now);

/// Formats a time as RFC 3339 in UTC, without final zeros: 2026-01-31T08:00:00.000123Z. `parse_moment` accepts it.
[[nodiscard]] std::string format_time(records::instant time);

/// Formats a duration for people: "45 s", "12 min", "3 h 20 min", "2 d 4 h". Negative ones become "0 s".
[[nodiscard]] std::string format_duration(records::instant microseconds);

/// Parses a duration: `30s`, `15m`, `24h`, `7d`, `1h30m`. Returns microseconds, or nullopt if it is invalid or longer than 100
/// years.
[[nodiscard]] std::optional<records::instant> parse_duration(std::string_view text);

/// Returns the current time, in microseconds since 1970.
[[nodiscard]] records::instant current_instant() noexcept;

inline constexpr records::instant microsecond = 1;
inline constexpr records::instant millisecond = 1000 * microsecond;
inline constexpr records::instant second = 1000 * millisecond;
inline constexpr records::instant minute = 60 * second;
inline constexpr records::instant hour = 60 * minute;
inline constexpr records::instant day = 24 * hour;

}  // namespace hondana::logs
