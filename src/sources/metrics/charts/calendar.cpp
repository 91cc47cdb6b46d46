/// Days and clocks, of milliseconds that are counted as if there were one zone only.
#include "sources/metrics/charts/calendar.hpp"

#include <array>
#include <chrono>
#include <cstdio>

namespace hondana::charts {
namespace {

std::chrono::year_month_day day_of(series::instant shown) noexcept {
  return std::chrono::sys_days(std::chrono::days(floor_to(shown, one_day) / one_day));
}

}  // namespace

std::string date_text(series::instant shown) {
  const auto day = day_of(shown);
  std::array<char, 32> out{};
  std::snprintf(out.data(), out.size(), "%04d-%02u-%02u", static_cast<int>(day.year()), static_cast<unsigned>(day.month()),
                static_cast<unsigned>(day.day()));
  return out.data();
}

std::string clock_text(series::instant shown) {
  const auto rest = shown - floor_to(shown, one_day);
  const auto part = [&](series::duration of, int below) { return static_cast<int>(rest / of % below); };
  std::array<char, 32> out{};
  const int written = std::snprintf(out.data(), out.size(), "%02d:%02d", part(one_hour, 24), part(one_minute, 60));
  std::string text(out.data(), static_cast<std::size_t>(written));
  if (rest % one_minute == 0) return text;
  std::snprintf(out.data(), out.size(), rest % one_second == 0 ? ":%02d" : ":%02d.%03d", part(one_second, 60), part(1, 1000));
  return text + out.data();
}

series::instant month_of(series::instant shown) noexcept {
  const auto day = day_of(shown);
  return series::instant{static_cast<int>(day.year())} * 12 + static_cast<unsigned>(day.month()) - 1;
}

series::instant month_begin(series::instant month) noexcept {
  using namespace std::chrono;
  const auto in_year = floor_to(month, 12);
  const year_month_day first{std::chrono::year(static_cast<int>(in_year / 12)),
                             std::chrono::month(static_cast<unsigned>(month - in_year) + 1), std::chrono::day(1)};
  return series::instant{sys_days(first).time_since_epoch().count()} * one_day;
}

}  // namespace hondana::charts
