/// Points in time as people and clients write them, such as now-5m or RFC 3339 timestamps.
#pragma once

#include <string>
#include <string_view>

#include <hondana/error.hpp>

#include "sources/metrics/series/data_model.hpp"

namespace hondana::metrics {

/// A moment, and whether it goes by when it was asked for.
struct moment {
  series::instant at = 0;
  bool is_relative = false;
};

/// Reads `now`, `now-5m`, `now+1h`; how long ago (`-1h`, `1h30m`); a day (`2026-01-31`, midnight in UTC) or a date and time, in
/// UTC unless it has an offset; seconds since 1970 with or without a fraction, or milliseconds (from 12 digits on). `name`
/// begins the text of an error. Errors: invalid_argument. Linear time.
[[nodiscard]] result<moment> parse_moment(std::string_view name, std::string_view text, series::instant now);

/// RFC 3339 in UTC, with milliseconds where there are any. What no calendar of four digits has is written in seconds.
[[nodiscard]] std::string text_of(series::instant when);

/// For people: "45 s", "12 min", "3 h 20 min", "2 d 4 h".
[[nodiscard]] std::string span_text(series::duration of);

/// By the clock.
[[nodiscard]] series::instant present() noexcept;

inline constexpr series::duration second = 1000;
inline constexpr series::duration minute = 60 * second;
inline constexpr series::duration hour = 60 * minute;
inline constexpr series::duration day = 24 * hour;

}  // namespace hondana::metrics
