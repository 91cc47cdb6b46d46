/// Dates and times of calendars and clocks, and time zones: of the host, by offset, by abbreviation and of the time zone
/// database.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

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
  /// Returns the offset in minutes of an abbreviation that the zone itself uses in a year, such as "CST" in China. nullopt: it
  /// does not use it.
  [[nodiscard]] std::optional<int> offset_of(std::string_view abbreviation, int year) const noexcept;

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

/// The offsets of a zone of the time zone database, from a file in TZif format (RFC 8536). Threads: any.
class zone_rules {
 public:
  static constexpr std::size_t max_file_bytes = 64u << 10;

  /// Parses the contents of a file, of any version. Returns nullopt if they are malformed or larger than `max_file_bytes`.
  [[nodiscard]] static std::optional<zone_rules> parse(std::string_view tzif);
  /// Seconds east of Greenwich at a time, in seconds since 1970.
  [[nodiscard]] std::int64_t offset_at(std::int64_t time) const noexcept;
  /// As `time_zone::to_utc`.
  [[nodiscard]] instant to_utc(const civil_time& local) const noexcept;

 private:
  struct yearly_change {
    enum class day_kind : std::uint8_t { month_week_day, day_without_leap, day_of_year };
    day_kind kind = day_kind::day_of_year;
    int month = 0, week = 0, day = 0;
    std::int64_t second_of_day = 7200;

    [[nodiscard]] std::int64_t in_year(int year) const noexcept;  // in seconds since 1970, of the local clock
  };
  friend class posix_zone_parser;

  std::vector<std::int64_t> transitions_;  // in seconds since 1970
  std::vector<std::int64_t> offsets_;      // from each transition on. One more than `transitions_`: the first is before them
  // After the last transition: the footer of the file.
  bool has_footer_ = false;
  std::int64_t standard_offset_ = 0;
  std::optional<std::int64_t> summer_offset_{};
  std::array<yearly_change, 2> changes_{};  // to summer time, and from it
};

/// A zone that a text begins with.
struct parsed_zone {
  int minutes = 0;                    ///< East of Greenwich. Not used if `rules` is set.
  const zone_rules* rules = nullptr;  ///< Valid until the process ends.
  std::string_view abbreviation{};    ///< Set if the zone is an abbreviation, which other zones may also use.
  std::size_t size = 0;               ///< Length in the text.
};
/// Parses a zone that is written after a time: an offset, "UTC", "GMT+09:00", usual abbreviations such as "JST", or a name of
/// the time zone database such as "Asia/Tokyo". A closing bracket must follow a name without a slash ("Japan]"). Returns
/// nullopt for other texts. May read a file of the database.
[[nodiscard]] std::optional<parsed_zone> parse_zone(std::string_view text);

}  // namespace hondana::records
