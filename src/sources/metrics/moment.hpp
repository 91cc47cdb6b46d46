/// Points in time as people and clients write them, such as now-5m or RFC 3339 timestamps.
#pragma once

#include <string>
#include <string_view>

#include <hondana/error.hpp>

#include "sources/metrics/series/data_model.hpp"

namespace hondana::metrics {

/// A point in time, and whether it was given relative to the time of the request.
struct moment {
  series::instant time = 0;
  bool is_relative = false;
};

/// Parses a time from 1900 to 9999. Relative times: `now`, `now-5m`, `now+1h`, and durations before `now` (`-1h`, `1h30m`).
/// Absolute times: a day (`2026-01-31`, midnight UTC), or a date and time (UTC unless it has an offset). Also seconds since
/// 1970 with or without a fraction, or milliseconds since 1970 (12 digits or more).
/// `name`: of the parameter, for the error text. Errors: invalid_argument. Takes linear time.
[[nodiscard]] result<moment> parse_moment(std::string_view name, std::string_view text, series::instant now);

/// Formats a time as RFC 3339 in UTC, with milliseconds unless they are zero. Times before 1900 or after 9999 become seconds
/// since 1970.
[[nodiscard]] std::string format_time(series::instant time);

/// Formats a duration for people: "45 s", "12 min", "3 h 20 min", "2 d 4 h". Negative ones become "0 s".
[[nodiscard]] std::string format_duration(series::duration duration);

/// Returns the time of the system clock.
[[nodiscard]] series::instant current_time() noexcept;

inline constexpr series::duration second = 1000;
inline constexpr series::duration minute = 60 * second;
inline constexpr series::duration hour = 60 * minute;
inline constexpr series::duration day = 24 * hour;

}  // namespace hondana::metrics
