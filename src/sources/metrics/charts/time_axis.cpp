/// The time axis of a chart: time zones, calendar arithmetic and tick marks.
#include "sources/metrics/charts/time_axis.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "sources/metrics/charts/display_text.hpp"

namespace hondana::charts {
namespace {

std::chrono::year_month_day day_of(series::instant local_time) noexcept {
  return std::chrono::sys_days(std::chrono::days(floor_to(local_time, one_day) / one_day));
}

}  // namespace

std::string date_text(series::instant local_time) {
  const auto day = day_of(local_time);
  std::array<char, 32> out{};
  std::snprintf(out.data(), out.size(), "%04d-%02u-%02u", static_cast<int>(day.year()), static_cast<unsigned>(day.month()),
                static_cast<unsigned>(day.day()));
  return out.data();
}

std::string clock_text(series::instant local_time) {
  const auto time_of_day = local_time - floor_to(local_time, one_day);
  const auto part = [&](series::duration unit, int modulus) { return static_cast<int>(time_of_day / unit % modulus); };
  std::array<char, 32> out{};
  const int written = std::snprintf(out.data(), out.size(), "%02d:%02d", part(one_hour, 24), part(one_minute, 60));
  std::string text(out.data(), static_cast<std::size_t>(written));
  if (time_of_day % one_minute == 0) return text;
  std::snprintf(out.data(), out.size(), time_of_day % one_second == 0 ? ":%02d" : ":%02d.%03d", part(one_second, 60),
                part(1, 1000));
  return text + out.data();
}

series::instant month_of(series::instant local_time) noexcept {
  const auto day = day_of(local_time);
  return series::instant{static_cast<int>(day.year())} * 12 + static_cast<unsigned>(day.month()) - 1;
}

series::instant month_begin(series::instant month) noexcept {
  using namespace std::chrono;
  const auto year_start = floor_to(month, 12);
  const year_month_day first{std::chrono::year(static_cast<int>(year_start / 12)),
                             std::chrono::month(static_cast<unsigned>(month - year_start) + 1), std::chrono::day(1)};
  return series::instant{sys_days(first).time_since_epoch().count()} * one_day;
}

namespace {

constexpr std::size_t max_zone_name_bytes = 64;

/// Restricts the name, since it becomes part of a path.
bool is_zone_name(std::string_view name) noexcept {
  if (name.empty() || name.size() > max_zone_name_bytes || name.front() == '/' || name.find("..") != std::string_view::npos) {
    return false;
  }
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '/' || c == '_' || c == '+' ||
           c == '-' || c == ':';
  });
}

std::string offset_text(series::duration offset) {
  const auto minutes = offset / 60'000;
  std::array<char, 16> out{};
  std::snprintf(out.data(), out.size(), "%c%02d:%02d", minutes < 0 ? '-' : '+', static_cast<int>(std::abs(minutes) / 60 % 100),
                static_cast<int>(std::abs(minutes) % 60));
  return out.data();
}

}  // namespace

zone::zone(const drawing_library& library, std::string_view name)
    : library_(&library), name_(name == "UTC" ? std::string_view() : name) {
  if (!is_zone_name(name_)) return;
  rules_ = {library.time_zone_new_identifier(name_.c_str()), unref{&library}};
}

series::duration zone::offset_at(series::instant time) const noexcept {
  if (!rules_) return 0;
  const auto seconds = time >= 0 ? time / 1000 : (time - 999) / 1000;
  const gint interval = library_->time_zone_find_interval(rules_.get(), G_TIME_TYPE_UNIVERSAL, seconds);
  return interval < 0 ? 0 : series::duration{library_->time_zone_get_offset(rules_.get(), interval)} * 1000;
}

series::instant zone::instant_at(series::instant local_time) const noexcept {
  // The offsets of the day before and the day after are those on both sides of a change.
  const auto earlier = local_time - offset_at(local_time - 86'400'000);
  if (earlier + offset_at(earlier) == local_time) return earlier;
  const auto later = local_time - offset_at(local_time + 86'400'000);
  return later + offset_at(later) == local_time ? later : earlier;
}

std::string zone::text(series::instant start, series::instant end) const {
  if (name_.empty()) return "UTC";
  if (!rules_) return "UTC (unknown time zone " + display_text(name_, 40) + ")";
  const auto first = offset_text(offset_at(start));
  const auto last = offset_text(offset_at(end));
  return name_ + " (UTC" + first + (first == last ? "" : ", " + last) + ")";
}

std::string instant_text(series::instant time, const zone& zone) {
  const auto local_time = time + zone.offset_at(time);
  return date_text(local_time) + " " + clock_text(local_time);
}

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

// 1970-01-01 was a Thursday. Weeks begin with the Monday before it.
constexpr series::duration first_monday = -3 * one_day;

std::vector<time_tick> even_ticks(series::instant start, series::instant end, const zone& zone, series::duration step) {
  std::vector<time_tick> out;
  const auto origin = step % (7 * one_day) == 0 ? first_monday : 0;
  // If clocks are set back, local time at the end can be less than shortly before it.
  const auto [min_offset, max_offset] = std::minmax({zone.offset_at(start), zone.offset_at(end)});
  for (auto local_time = floor_to(start + min_offset - origin, step) + origin; local_time <= end + max_offset;
       local_time += step) {
    const auto time = zone.instant_at(local_time);
    if (time < start || time > end || time + zone.offset_at(time) != local_time) continue;
    if (!out.empty() && time <= out.back().time) continue;
    time_tick tick{time, {}, {}, false};
    const auto date = date_text(local_time);
    if (step >= one_day) {
      tick.text = date.substr(date.size() - 5);
      tick.date = date.substr(0, date.size() - 6);
    } else {
      tick.text = clock_text(local_time);
      if (step < one_second && tick.text.size() > 8) tick.text = tick.text.substr(8);
      tick.date = date;
    }
    out.push_back(std::move(tick));
  }
  return out;
}

std::vector<time_tick> month_ticks(series::instant start, series::instant end, const zone& zone, series::duration step) {
  std::vector<time_tick> out;
  const auto last = month_of(end + zone.offset_at(end));
  for (auto month = floor_to(month_of(start + zone.offset_at(start)), step); month <= last; month += step) {
    const auto local_time = month_begin(month);
    const auto time = zone.instant_at(local_time);
    if (time < start || time > end) continue;
    const auto date = date_text(local_time);
    out.push_back({time, step % 12 == 0 ? date.substr(0, date.size() - 6) : date.substr(0, date.size() - 3), {}, false});
  }
  return out;
}

}  // namespace

std::vector<time_tick> time_ticks(series::instant start, series::instant end, const zone& zone, unsigned max_ticks) {
  const auto duration = std::max<series::duration>(end - start, 1);
  const auto fits = [&](series::duration step) { return step > 0 && duration / step + 1 <= std::max(max_ticks, 2U); };
  std::vector<time_tick> out;
  if (const auto* const step = std::find_if(even_steps.begin(), even_steps.end(), fits); step != even_steps.end()) {
    out = even_ticks(start, end, zone, *step);
  } else {
    const auto* const months =
        std::find_if(month_steps.begin(), month_steps.end(), [&](auto count) { return fits(count * 30 * one_day); });
    out = month_ticks(start, end, zone, months == month_steps.end() ? month_steps.back() : *months);
  }
  std::string previous_date;
  for (auto& tick : out) {
    if (tick.date == previous_date) {
      tick.date.clear();
    } else {
      tick.is_change = !previous_date.empty();
      previous_date = tick.date;
    }
  }
  return out;
}

}  // namespace hondana::charts
