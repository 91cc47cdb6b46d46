/// Recognizes timestamps in log lines, and the time zones of those without an offset.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "sources/logs/records/log.hpp"

namespace hondana::records {

/// A time as a calendar and a clock show it.
struct civil {
  int year = 1970;
  int month = 1;
  int day = 1;
  int hour = 0;
  int minute = 0;
  int second = 0;
  int micros = 0;
};

/// Whether there is such a day and time; leap seconds are.
[[nodiscard]] bool is_sound(const civil& at) noexcept;
/// As in UTC.
[[nodiscard]] instant instant_of(const civil& at) noexcept;

/// The host's local time, or a fixed offset. Threads: any.
class zone {
 public:
  zone() = default;
  /// Minutes east of Greenwich.
  explicit zone(int minutes) noexcept : minutes_(minutes) {}
  /// "local", "UTC", "Z", "+09:00", "-0330", "+9".
  [[nodiscard]] static std::optional<zone> named(std::string_view name) noexcept;
  /// When clocks there showed this; of the two times of an hour that comes twice, either.
  [[nodiscard]] instant instant_at(const civil& shown) const noexcept;

 private:
  std::optional<int> minutes_;
};

/// "Z", "+hh:mm", "+hhmm", "+hh" at the front of a text: minutes east and how long it was.
struct offset_read {
  int minutes = 0;
  std::size_t size = 0;
};
[[nodiscard]] std::optional<offset_read> offset_at_front(std::string_view text) noexcept;

struct time_stamp {
  instant time = 0;
  std::size_t begin = 0;  ///< Where it stands in the line, without brackets and quotes.
  std::size_t end = 0;
};

/// Reads times. Time: linear in what is looked at of a line. Threads: any.
///
/// Known are ISO 8601 and RFC 3339 (T or blank, '.' or ',' before fractions, also without hyphens), the forms of syslog
/// (RFC 3164, whose year is taken from `latest`, and RFC 5424), of access logs, nginx, Go, glog and klog, Python's logging,
/// ctime and Apache's errors, "02-Jan-2026 03:04:05", and seconds since 1970 with 10, 13, 16 or 19 digits.
class time_reader {
 public:
  static constexpr std::size_t looked_at = 512;
  static constexpr std::size_t looked_at_of_json = 16u << 10;  // some put the time last

  /// `in`: of times that name no offset. `latest`: no record is later, but for a day; what has no year gets the last fitting
  /// one.
  time_reader(zone in, instant latest) noexcept : zone_(in), latest_(latest) {}
  time_reader() noexcept : time_reader(zone(), 0) {}

  /// The time of a line: at its front, behind a priority, a few words or brackets, or in a field of JSON or logfmt.
  [[nodiscard]] std::optional<time_stamp> of_line(std::string_view line) const;
  /// A time that a text begins with; there `begin` is 0.
  [[nodiscard]] std::optional<time_stamp> at_front(std::string_view text) const noexcept;
  /// A value that is a time and nothing else: any of the forms, and numbers since 1970 with fractions.
  [[nodiscard]] std::optional<instant> of_value(std::string_view text) const noexcept;

 private:
  zone zone_;
  instant latest_;
};

}  // namespace hondana::records
