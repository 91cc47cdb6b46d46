/// Calendars and clocks.
#include "sources/logs/records/zone.hpp"
#include "base/ascii/characters.hpp"

#include <array>
#include <chrono>
#include <ctime>

namespace hondana::records {
namespace {

/// Days since 1970; C++20's calendar counts them without tables.
instant days_of(int year, int month, int day) noexcept {
  using namespace std::chrono;
  const year_month_day date{std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                            std::chrono::day(static_cast<unsigned>(day))};
  return sys_days(date).time_since_epoch().count();
}

/// What the C library says of a local hour; asking it for each line would cost more than all else.
instant local_offset(const civil& shown) noexcept {
  struct known_hour {
    instant hour = -1;
    instant offset = 0;
  };
  thread_local constinit std::array<known_hour, 16> known{};
  const auto quarter = instant_of(shown) / (900 * one_second);
  auto& place = known[static_cast<std::size_t>(quarter) % known.size()];
  if (place.hour == quarter) return place.offset;
  std::tm local{};
  local.tm_year = shown.year - 1900;
  local.tm_mon = shown.month - 1;
  local.tm_mday = shown.day;
  local.tm_hour = shown.hour;
  local.tm_min = shown.minute / 15 * 15;
  local.tm_isdst = -1;
  const auto begin = civil{shown.year, shown.month, shown.day, shown.hour, local.tm_min, 0, 0};
  const auto when = std::mktime(&local);
  place = {quarter, when == -1 ? 0 : instant_of(begin) - static_cast<instant>(when) * one_second};
  return place.offset;
}

}  // namespace

bool is_sound(const civil& at) noexcept {
  using namespace std::chrono;
  const year_month_day date{std::chrono::year(at.year), std::chrono::month(static_cast<unsigned>(at.month)),
                            std::chrono::day(static_cast<unsigned>(at.day))};
  return at.year >= 1970 && at.year <= 9999 && date.ok() && at.hour >= 0 && at.hour <= 23 && at.minute >= 0 &&
         at.minute <= 59 && at.second >= 0 && at.second <= 60 && at.micros >= 0 && at.micros < one_second;
}

instant instant_of(const civil& at) noexcept {
  return ((days_of(at.year, at.month, at.day) * 24 + at.hour) * 60 + at.minute) * 60 * one_second + at.second * one_second +
         at.micros;
}

std::optional<zone> zone::named(std::string_view name) noexcept {
  if (ascii::is_same(name, "local")) return zone();
  if (ascii::is_same(name, "utc") || ascii::is_same(name, "gmt")) return zone(0);
  const auto read = offset_at_front(name);
  if (read && read->size == name.size()) return zone(read->minutes);
  if (name.size() == 2 && (name[0] == '+' || name[0] == '-') && ascii::is_digit(name[1])) {
    return zone((name[0] == '-' ? -60 : 60) * (name[1] - '0'));
  }
  return std::nullopt;
}

instant zone::instant_at(const civil& shown) const noexcept {
  const auto offset = minutes_ ? *minutes_ * 60 * one_second : local_offset(shown);
  return instant_of(shown) - offset;
}

std::optional<offset_read> offset_at_front(std::string_view text) noexcept {
  if (text.empty()) return std::nullopt;
  if (text[0] == 'Z' || text[0] == 'z') return offset_read{0, 1};
  if ((text[0] != '+' && text[0] != '-') || text.size() < 3 || !ascii::is_digit(text[1]) || !ascii::is_digit(text[2]))
    return std::nullopt;
  const int hours = (text[1] - '0') * 10 + (text[2] - '0');
  std::size_t at = text.size() > 3 && text[3] == ':' ? 4 : 3;
  int minutes = 0;
  if (text.size() >= at + 2 && ascii::is_digit(text[at]) && ascii::is_digit(text[at + 1])) {
    minutes = (text[at] - '0') * 10 + (text[at + 1] - '0');
    at += 2;
  } else {
    at = 3;
  }
  if (hours > 18 || minutes > 59) return std::nullopt;
  return offset_read{(text[0] == '-' ? -1 : 1) * (hours * 60 + minutes), at};
}

}  // namespace hondana::records
