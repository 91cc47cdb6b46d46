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

/// The greatest multiple of `of` that is not greater.
[[nodiscard]] constexpr series::instant floor_to(series::instant value, series::duration of) noexcept {
  const auto rest = value % of;
  return value - (rest < 0 ? rest + of : rest);
}

[[nodiscard]] std::string date_text(series::instant shown);   ///< "2026-11-24"
[[nodiscard]] std::string clock_text(series::instant shown);  ///< "09:30", "09:30:05", "09:30:05.250"
/// Months since the first of year 0, and the instant that one of them begins.
[[nodiscard]] series::instant month_of(series::instant shown) noexcept;
[[nodiscard]] series::instant month_begin(series::instant month) noexcept;

/// Threads: any.
class zone {
 public:
  /// As GLib reads the host's zone files. An empty name is UTC. What is unknown is UTC, too, and says so in `text`.
  zone(const drawing_library& with, std::string_view name);

  /// Milliseconds east of Greenwich.
  [[nodiscard]] series::duration offset_at(series::instant at) const noexcept;
  /// When clocks showed this, in milliseconds as if it were UTC; of the two times of an hour that comes twice, the first; of an
  /// hour that is left out, what it would have been.
  [[nodiscard]] series::instant instant_at(series::instant shown) const noexcept;
  /// "UTC", "Asia/Tokyo (UTC+09:00)", "Europe/Berlin (UTC+02:00, +01:00)", "UTC (unknown time zone Mars/Olympus)"; the offsets
  /// are those of both ends.
  [[nodiscard]] std::string text(series::instant start, series::instant end) const;

 private:
  struct unref {
    const drawing_library* with;
    void operator()(GTimeZone* of) const noexcept { with->time_zone_unref(of); }
  };

  const drawing_library* with_;
  std::string name_;
  std::unique_ptr<GTimeZone, unref> rules_{};
};

/// "2026-11-24 09:30", with seconds and thousandths where they are not zero.
[[nodiscard]] std::string instant_text(series::instant at, const zone& in);

struct time_tick {
  series::instant at = 0;
  std::string text{};      ///< "09:30", "09:30:05", ".250", "11-24", "2026-11", "2026"
  std::string date{};      ///< The day, or the year of days, at the first tick and where it changes; empty elsewhere.
  bool is_change = false;  ///< Of the day, where ticks are hours or less; of the year, where they are days.
};

/// At whole thousandths, seconds, minutes, hours, days, weeks (Mondays), months or years of that zone's clocks and calendar,
/// whichever are the closest of which at most `most` (two at least) fit. From `start` to `end`, which are after year 1 and
/// before year 10000.
[[nodiscard]] std::vector<time_tick> time_ticks(series::instant start, series::instant end, const zone& in, unsigned most);

}  // namespace hondana::charts
