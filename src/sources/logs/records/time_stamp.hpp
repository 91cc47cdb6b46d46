/// Recognizes timestamps in log lines, and the time zones of those without an offset.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "sources/logs/records/log.hpp"

namespace hondana::records {

/// A date and time, as shown by a calendar and a clock.
struct civil {
  int year = 1970;
  int month = 1;
  int day = 1;
  int hour = 0;
  int minute = 0;
  int second = 0;
  int micros = 0;
};

/// Whether the date and time exist. Leap seconds are valid.
[[nodiscard]] bool is_sound(const civil& at) noexcept;
/// Interprets the time as UTC.
[[nodiscard]] instant instant_of(const civil& at) noexcept;

/// The host's local time, or a fixed offset. Threads: any.
class zone {
 public:
  zone() = default;
  /// Minutes east of Greenwich.
  explicit zone(int minutes) noexcept : minutes_(minutes) {}
  /// "local", "UTC", "Z", "+09:00", "-0330", "+9".
  [[nodiscard]] static std::optional<zone> named(std::string_view name) noexcept;
  /// The time at which local clocks show `shown`. If an hour occurs twice, it is either one.
  [[nodiscard]] instant instant_at(const civil& shown) const noexcept;

 private:
  std::optional<int> minutes_;
};

/// "Z", "+hh:mm", "+hhmm", "+hh" at the beginning of a text: minutes east of Greenwich, and the length of the offset.
struct offset_read {
  int minutes = 0;
  std::size_t size = 0;
};
[[nodiscard]] std::optional<offset_read> offset_at_front(std::string_view text) noexcept;

/// A time that was found in a line.
struct time_stamp {
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
class time_reader {
 public:
  static constexpr std::size_t looked_at = 512;
  static constexpr std::size_t looked_at_of_json = 16u << 10;  // some loggers write the time last

  /// `in`: the zone of times without an offset. `latest`: no record is more than a day later. A time without a year gets the
  /// last year that satisfies this.
  time_reader(zone in, instant latest) noexcept : zone_(in), latest_(latest) {}
  time_reader() noexcept : time_reader(zone(), 0) {}

  /// The time of a line: at its beginning, after a priority, after a few words or brackets, or in a field of JSON or logfmt.
  [[nodiscard]] std::optional<time_stamp> of_line(std::string_view line) const;
  /// A time at the beginning of a text. `begin` is 0.
  [[nodiscard]] std::optional<time_stamp> at_front(std::string_view text) const noexcept;
  /// Parses a text that consists only of a time, in any of the formats or as a number since 1970 with a fraction.
  [[nodiscard]] std::optional<instant> of_value(std::string_view text) const noexcept;

 private:
  zone zone_;
  instant latest_;
};

}  // namespace hondana::records
