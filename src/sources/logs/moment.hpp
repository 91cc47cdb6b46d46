/// Points in time and spans as people and clients write them, in microseconds.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <hondana/error.hpp>

#include "sources/logs/records/log.hpp"

namespace hondana::logs {

/// A moment, and whether it goes by when it was asked for.
struct moment {
  records::instant at = 0;
  bool is_relative = false;

  bool operator==(const moment&) const = default;
};

/// Reads `now`; what lies so long before `now` (`90s`, `-15m`, `1h30m`, `2d`, `1w`); a day (`2026-01-31`, midnight in UTC); a
/// date and time with `T` or a blank between them, in UTC unless it has an offset, with a fraction as far as microseconds; and
/// seconds, milliseconds, microseconds or nanoseconds since 1970, told apart by their size (11, 14 and 17 digits at most, from
/// 1973 on). `name` begins the text of an error. Errors: invalid_argument. Linear time.
[[nodiscard]] result<moment> parse_moment(std::string_view name, std::string_view text, records::instant now);

/// RFC 3339 in UTC, with as much of the fraction as there is: 2026-01-31T08:00:00.000123Z. `parse_moment` reads it back.
[[nodiscard]] std::string text_of(records::instant when);

/// For people: "45 s", "12 min", "3 h 20 min", "2 d 4 h".
[[nodiscard]] std::string text_of_span(records::instant microseconds);

/// Reads a length of time: `30s`, `15m`, `24h`, `7d`, `1h30m`. Nothing for what is none, or longer than a hundred years.
[[nodiscard]] std::optional<records::instant> parse_span(std::string_view text);

/// Microseconds since 1970.
[[nodiscard]] records::instant present_instant() noexcept;

inline constexpr records::instant microsecond = 1;
inline constexpr records::instant millisecond = 1000 * microsecond;
inline constexpr records::instant second = 1000 * millisecond;
inline constexpr records::instant minute = 60 * second;
inline constexpr records::instant hour = 60 * minute;
inline constexpr records::instant day = 24 * hour;

}  // namespace hondana::logs
