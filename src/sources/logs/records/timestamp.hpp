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

/// Whether the date and time exist, from 1970 to 9999. Leap seconds are valid.
[[nodiscard]] bool is_valid(const civil_time& time) noexcept;
/// Converts a valid time in UTC.
[[nodiscard]] instant to_instant(const civil_time& time) noexcept;

/// The time zone of the host, or a fixed offset from UTC. Threads: any.
class time_zone {
 public:
  /// The host's zone.
  time_zone() = default;
  /// `minutes`: east of Greenwich.
  explicit time_zone(int minutes) noexcept : minutes_(minutes) {}
  /// Parses "local", "UTC", "Z", "+09:00", "-0330", "+9". Returns nullopt for other texts.
  [[nodiscard]] static std::optional<time_zone> from_name(std::string_view name) noexcept;
  /// Returns when clocks in this zone show `local`. If an hour occurs twice, the result is in either one.
  [[nodiscard]] instant to_utc(const civil_time& local) const noexcept;

 private:
  std::optional<int> minutes_;  // nullopt: the host's zone
};

/// The offset of a time zone at the beginning of a text.
struct parsed_offset {
  int minutes = 0;       ///< East of Greenwich.
  std::size_t size = 0;  ///< Length in the text.
};
/// Parses "Z", "+hh:mm", "+hhmm" or "+hh" at the beginning of a text, also with "-". Returns nullopt for other texts.
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

  /// `zone`: the zone of times without an offset. `latest`: when the file was last modified. A time without a year gets the
  /// last year in which it is at most a day after `latest`.
  timestamp_parser(time_zone zone, instant latest) noexcept : zone_(zone), latest_(latest) {}
  timestamp_parser() noexcept : timestamp_parser(time_zone(), 0) {}

  /// Finds the time of the first line of a text; nullopt: there is none. Searches at the beginning, after a priority, after a
  /// few words or brackets, and in fields of JSON and logfmt.
  [[nodiscard]] std::optional<timestamp> find_in_line(std::string_view line) const;
  /// Parses a time at the beginning of a text. `timestamp::begin` is 0. nullopt: there is none.
  [[nodiscard]] std::optional<timestamp> parse_prefix(std::string_view text) const noexcept;
  /// Parses a text that consists only of a time. nullopt: it does not.
  [[nodiscard]] std::optional<instant> parse_value(std::string_view text) const noexcept;

 private:
  time_zone zone_;
  instant latest_;
};

}  // namespace hondana::records
