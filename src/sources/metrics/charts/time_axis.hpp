/// The time axis of a chart: time zones, calendar arithmetic and tick marks.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sources/metrics/charts/drawing_library.hpp"
#include "sources/metrics/series/data_model.hpp"

namespace hondana::charts {

inline constexpr series::duration one_second = 1000;
inline constexpr series::duration one_minute = 60 * one_second;
inline constexpr series::duration one_hour = 60 * one_minute;
inline constexpr series::duration one_day = 24 * one_hour;

// A `local_time` is what clocks in a zone show, as milliseconds since 1970-01-01 00:00 on these clocks.

/// Returns the greatest multiple of `step` that does not exceed `value`.
[[nodiscard]] constexpr series::instant floor_to(series::instant value, series::duration step) noexcept {
  const auto remainder = value % step;
  return value - (remainder < 0 ? remainder + step : remainder);
}

[[nodiscard]] std::string date_text(series::instant local_time);   ///< "2026-11-24"
[[nodiscard]] std::string clock_text(series::instant local_time);  ///< "09:30", "09:30:05", "09:30:05.250"
/// Returns the month as the number of months since January of year 0.
[[nodiscard]] series::instant month_of(series::instant local_time) noexcept;
/// Returns the local time at which a month begins. `month`: a result of `month_of`.
[[nodiscard]] series::instant month_begin(series::instant month) noexcept;

/// A time zone. Threads: any.
class zone {
 public:
  /// Reads the host's zone files through GLib. An empty name means UTC. Unknown names mean UTC too, and `text` says so.
  zone(const drawing_library& library, std::string_view name);

  /// Returns local time minus UTC, in milliseconds.
  [[nodiscard]] series::duration offset_at(series::instant time) const noexcept;
  /// Returns when clocks show `local_time`. If an hour occurs twice, the result is in the first one. If an hour is skipped, the
  /// offset before it applies.
  [[nodiscard]] series::instant instant_at(series::instant local_time) const noexcept;
  /// Describes the zone, with its offsets at `start` and `end`: "UTC", "Asia/Tokyo (UTC+09:00)", "Europe/Berlin (UTC+02:00,
  /// +01:00)", "UTC (unknown time zone Mars/Olympus)".
  [[nodiscard]] std::string text(series::instant start, series::instant end) const;

 private:
  struct unref {
    const drawing_library* library;
    void operator()(GTimeZone* time_zone) const noexcept { library->time_zone_unref(time_zone); }
  };

  const drawing_library* library_;
  std::string name_;
  std::unique_ptr<GTimeZone, unref> rules_{};
};

/// Formats a time in a zone: "2026-11-24 09:30", with seconds and milliseconds unless they are zero.
[[nodiscard]] std::string instant_text(series::instant time, const zone& zone);

/// A tick mark with its labels.
struct time_tick {
  series::instant time = 0;
  std::string text{};  ///< "09:30", "09:30:05", ".250", "11-24", "2026-11", "2026"
  /// The second label: the day if ticks are less than a day apart, the year if they are days or weeks apart. Empty if it would
  /// be that of the tick before, and for other ticks.
  std::string date{};
  bool is_change = false;  ///< `date` is set, and this is not the first tick.
};

/// Returns ticks at whole milliseconds, seconds, minutes, hours, days, weeks (Mondays), months or years of the zone's local
/// time. Chooses the shortest step that gives about `max_ticks` ticks or fewer; short months or changed clocks can add one. The
/// result may be empty. `max_ticks`: less than 2 counts as 2. `start` and `end` must be in the years 1 to 9999.
[[nodiscard]] std::vector<time_tick> time_ticks(series::instant start, series::instant end, const zone& zone,
                                                unsigned max_ticks);

}  // namespace hondana::charts
