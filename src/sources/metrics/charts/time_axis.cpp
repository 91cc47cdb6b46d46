/// Times on an axis.
#include "sources/metrics/charts/time_axis.hpp"

#include <algorithm>
#include <array>

#include "sources/metrics/charts/calendar.hpp"

namespace hondana::charts {
namespace {

constexpr std::array<series::duration, 31> even_steps{1,
                                                      2,
                                                      5,
                                                      10,
                                                      20,
                                                      50,
                                                      100,
                                                      200,
                                                      500,
                                                      1000,
                                                      2000,
                                                      5000,
                                                      10'000,
                                                      15'000,
                                                      30'000,
                                                      one_minute,
                                                      2 * one_minute,
                                                      5 * one_minute,
                                                      10 * one_minute,
                                                      15 * one_minute,
                                                      30 * one_minute,
                                                      one_hour,
                                                      2 * one_hour,
                                                      3 * one_hour,
                                                      6 * one_hour,
                                                      12 * one_hour,
                                                      one_day,
                                                      2 * one_day,
                                                      3 * one_day,
                                                      7 * one_day,
                                                      14 * one_day};
constexpr std::array<series::duration, 15> month_steps{1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200, 2400, 6000, 12'000, 24'000};

// 1970-01-01 was a Thursday; weeks begin with the Monday before it.
constexpr series::duration first_monday = -3 * one_day;

std::vector<time_tick> even_ticks(series::instant start, series::instant end, const zone& in, series::duration step) {
  std::vector<time_tick> out;
  const auto begins = step % (7 * one_day) == 0 ? first_monday : 0;
  // Clocks that are put back show less at the end than shortly before it.
  const auto [least, greatest] = std::minmax({in.offset_at(start), in.offset_at(end)});
  for (auto shown = floor_to(start + least - begins, step) + begins; shown <= end + greatest; shown += step) {
    const auto at = in.instant_at(shown);
    if (at < start || at > end || at + in.offset_at(at) != shown) continue;
    if (!out.empty() && at <= out.back().at) continue;
    time_tick tick{at, {}, {}, false};
    const auto date = date_text(shown);
    if (step >= one_day) {
      tick.text = date.substr(date.size() - 5);
      tick.date = date.substr(0, date.size() - 6);
    } else {
      tick.text = clock_text(shown);
      if (step < one_second && tick.text.size() > 8) tick.text = tick.text.substr(8);
      tick.date = date;
    }
    out.push_back(std::move(tick));
  }
  return out;
}

std::vector<time_tick> month_ticks(series::instant start, series::instant end, const zone& in, series::duration step) {
  std::vector<time_tick> out;
  const auto last = month_of(end + in.offset_at(end));
  for (auto month = floor_to(month_of(start + in.offset_at(start)), step); month <= last; month += step) {
    const auto shown = month_begin(month);
    const auto at = in.instant_at(shown);
    if (at < start || at > end) continue;
    const auto date = date_text(shown);
    out.push_back({at, step % 12 == 0 ? date.substr(0, date.size() - 6) : date.substr(0, date.size() - 3), {}, false});
  }
  return out;
}

}  // namespace

std::vector<time_tick> time_ticks(series::instant start, series::instant end, const zone& in, unsigned most) {
  const auto span = std::max<series::duration>(end - start, 1);
  const auto fits = [&](series::duration step) { return step > 0 && span / step + 1 <= std::max(most, 2U); };
  std::vector<time_tick> out;
  if (const auto* const step = std::find_if(even_steps.begin(), even_steps.end(), fits); step != even_steps.end()) {
    out = even_ticks(start, end, in, *step);
  } else {
    const auto* const months =
        std::find_if(month_steps.begin(), month_steps.end(), [&](auto one) { return fits(one * 30 * one_day); });
    out = month_ticks(start, end, in, months == month_steps.end() ? month_steps.back() : *months);
  }
  std::string shown_before;
  for (auto& tick : out) {
    if (tick.date == shown_before) {
      tick.date.clear();
    } else {
      tick.is_change = !shown_before.empty();
      shown_before = tick.date;
    }
  }
  return out;
}

}  // namespace hondana::charts
