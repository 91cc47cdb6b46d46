/// Recognizes timestamps in log lines, and the time zones of those without an offset.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "sources/logs/records/log_backend.hpp"

namespace hondana::records {

/// A date and time, as shown by a calendar and a clock.
struct civil_time {
  int year = 1970;
  int month = 1;
  int day = 1;
  int hour = 0;
  int minute = 0;
  int second = 0;
  int microsecond = 0;
};

/// Whether the date and time exist. Leap seconds are valid.
[[nodiscard]] bool is_valid(const civil_time& time) noexcept;
/// Interprets the time as UTC.
[[nodiscard]] instant to_instant(const civil_time& time) noexcept;

/// The host's local time, or a fixed offset. Threads: any.
class time_zone {
 public:
  time_zone() = default;
  /// Minutes east of Greenwich.
  explicit time_zone(int minutes) noexcept : minutes_(minutes) {}
  /// "local", "UTC", "Z", "+09:00", "-0330", "+9".
  [[nodiscard]] static std::optional<time_zone> from_name(std::string_view name) noexcept;
  /// The time at which local clocks show `local`. If an hour occurs twice, it is either one.
  [[nodiscard]] instant to_utc(const civil_time& local) const noexcept;

 private:
  std::optional<int> minutes_;
};

/// "Z", "+hh:mm", "+hhmm", "+hh" at the beginning of a text: minutes east of Greenwich, and the length of the offset.
struct parsed_offset {
  int minutes = 0;
  std::size_t size = 0;
};
[[nodiscard]] std::optional<parsed_offset> parse_offset(std::string_view text) noexcept;

/// A time that was found in a line.
struct timestamp {
  instant time = 0;
  std::size_t begin = 0;  ///< Position in the line, without brackets and quotes.
  std::size_t end = 0;
};

/// Recognizes times in log lines. Linear time in the examined part of a line. Threads: any.
///
/// Supported formats:
///
/// * ISO 8601 and RFC 3339: with T or a blank, '.' or ',' before fractions, also without hyphens.
/// * syslog: RFC 5424, and RFC 3164 with the year derived from `latest`.
/// * access logs, nginx, Go, glog, klog, Python's logging, ctime, Apache's error log, and "02-Jan-2026 03:04:05".
/// * seconds since 1970 with 10 digits, and fractions of them with 13, 16 or 19 digits.
class timestamp_parser {
 public:
  static constexpr std::size_t max_line_bytes = 512;
  static constexpr std::size_t max_json_bytes = 16u << 10;  // some loggers write the time last

  /// `zone`: the zone of times without an offset. `latest`: no record is more than a day later. A time without a year gets the
  /// last year that satisfies this.
  timestamp_parser(time_zone zone, instant latest) noexcept : zone_(zone), latest_(latest) {}
  timestamp_parser() noexcept : timestamp_parser(time_zone(), 0) {}

  /// The time of a line: at its beginning, after a priority, after a few words or brackets, or in a field of JSON or logfmt.
  [[nodiscard]] std::optional<timestamp> find_in_line(std::string_view line) const;
  /// A time at the beginning of a text. `begin` is 0.
  [[nodiscard]] std::optional<timestamp> parse_prefix(std::string_view text) const noexcept;
  /// Parses a text that consists only of a time, in any of the formats or as a number since 1970 with a fraction.
  [[nodiscard]] std::optional<instant> parse_value(std::string_view text) const noexcept;

 private:
  time_zone zone_;
  instant latest_;
};

}  // namespace hondana::records
