/// Times on an axis.
#pragma once

#include <string>
#include <vector>

#include "sources/metrics/charts/zone.hpp"
#include "sources/metrics/series/sample.hpp"

namespace hondana::charts {

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
