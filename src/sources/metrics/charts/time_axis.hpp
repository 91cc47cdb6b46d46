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

/// The greatest multiple of `step` that does not exceed `value`.
[[nodiscard]] constexpr series::instant floor_to(series::instant value, series::duration step) noexcept {
  const auto remainder = value % step;
  return value - (remainder < 0 ? remainder + step : remainder);
}

[[nodiscard]] std::string date_text(series::instant local_time);   ///< "2026-11-24"
[[nodiscard]] std::string clock_text(series::instant local_time);  ///< "09:30", "09:30:05", "09:30:05.250"
/// The number of months since January of year 0, and the time at which a month begins.
[[nodiscard]] series::instant month_of(series::instant local_time) noexcept;
[[nodiscard]] series::instant month_begin(series::instant month) noexcept;

/// A time zone. Threads: any.
class zone {
 public:
  /// Reads the host's zone files through GLib. An empty name means UTC. Unknown names mean UTC too, and `text` says so.
  zone(const drawing_library& library, std::string_view name);

  /// Milliseconds east of Greenwich.
  [[nodiscard]] series::duration offset_at(series::instant time) const noexcept;
  /// The time at which local clocks show `local_time`, which is in milliseconds as if it were UTC. If an hour occurs twice, it
  /// is the first. If an hour is skipped, the old offset continues.
  [[nodiscard]] series::instant instant_at(series::instant local_time) const noexcept;
  /// "UTC", "Asia/Tokyo (UTC+09:00)", "Europe/Berlin (UTC+02:00, +01:00)", "UTC (unknown time zone Mars/Olympus)". The offsets
  /// are those at `start` and `end`.
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

/// "2026-11-24 09:30", with seconds and milliseconds unless they are zero.
[[nodiscard]] std::string instant_text(series::instant time, const zone& zone);

struct time_tick {
  series::instant time = 0;
  std::string text{};      ///< "09:30", "09:30:05", ".250", "11-24", "2026-11", "2026"
  std::string date{};      ///< The day, or the year if ticks are days. Set at the first tick and at changes, else empty.
  bool is_change = false;  ///< A change of the day if ticks are hours or less. A change of the year if they are days.
};

/// Ticks at whole milliseconds, seconds, minutes, hours, days, weeks (Mondays), months or years of the zone's local time. Uses
/// the shortest step with at most `max_ticks` ticks, which is at least two. `start` and `end` must be in the years 1 to 9999.
[[nodiscard]] std::vector<time_tick> time_ticks(series::instant start, series::instant end, const zone& zone,
                                                unsigned max_ticks);

}  // namespace hondana::charts
