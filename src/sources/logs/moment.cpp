/// Parses and formats times and durations, in microseconds.
#include "sources/logs/moment.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <system_error>

#include "base/ascii/ascii.hpp"
#include "protocol/model/iso_8601.hpp"

namespace hondana::logs {
namespace {

using records::instant;

constexpr std::size_t longest_moment = 64;
constexpr instant longest_span = 36'525 * day;

std::optional<instant> number_at_front(std::string_view& text) {
  instant value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || text.empty() || !ascii::is_digit(text.front())) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

std::optional<instant> unit_at_front(std::string_view& text) {
  struct unit {
    std::string_view name;
    instant size;
  };
  // If one name begins with another, the longer one comes first.
  constexpr std::array<unit, 17> units{{{"minutes", minute},
                                        {"minute", minute},
                                        {"mins", minute},
                                        {"min", minute},
                                        {"ms", millisecond},
                                        {"m", minute},
                                        {"seconds", second},
                                        {"second", second},
                                        {"sec", second},
                                        {"s", second},
                                        {"hours", hour},
                                        {"hour", hour},
                                        {"h", hour},
                                        {"days", day},
                                        {"day", day},
                                        {"d", day},
                                        {"w", 7 * day}}};
  for (const auto& one : units) {
    if (!ascii::begins_with(text, one.name)) continue;
    if (text.size() > one.name.size() && ascii::is_letter(text[one.name.size()])) continue;
    text.remove_prefix(one.name.size());
    return one.size;
  }
  return std::nullopt;
}

/// Parses seconds with a fraction, milliseconds, microseconds or nanoseconds. The number of digits decides.
std::optional<instant> since_1970(std::string_view text) {
  const auto digits = static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), ascii::is_digit) - text.begin());
  constexpr std::size_t most_digits = 19;
  if (digits == 0 || digits > most_digits) return std::nullopt;
  auto rest = text;
  const auto whole = number_at_front(rest);
  if (!whole) return std::nullopt;
  constexpr std::size_t of_seconds = 11, of_milliseconds = 14, of_microseconds = 17;
  if (digits > of_seconds) {
    if (!rest.empty()) return std::nullopt;
    if (digits <= of_milliseconds) return *whole * millisecond;
    return digits <= of_microseconds ? *whole : *whole / 1000;
  }
  instant at = *whole * second;
  if (rest.empty()) return at;
  rest.remove_prefix(1);
  if (text[digits] != '.' || rest.empty() || !std::all_of(rest.begin(), rest.end(), ascii::is_digit)) return std::nullopt;
  instant of_digit = second / 10;
  for (const char c : rest) {
    at += (c - '0') * of_digit;
    of_digit /= 10;
  }
  return at;
}

/// Parses a date with an optional time. The time may lack its offset and seconds, and a blank may replace the T.
std::optional<instant> by_calendar(std::string_view text) {
  constexpr std::size_t day_size = 10, to_minutes = 16;
  if (text.size() < day_size || !ascii::is_digit(text.front())) return std::nullopt;
  std::string whole(text);
  if (whole.size() > day_size) {
    if (whole[day_size] == ' ' || whole[day_size] == 't' || whole[day_size] == '_') whole[day_size] = 'T';
    // An unencoded plus sign in a query is decoded as a blank.
    if (const auto blank = whole.find(' '); blank != std::string::npos) whole[blank] = '+';
    if (whole.back() == 'z') whole.back() = 'Z';
    if (whole.size() >= to_minutes && (whole.size() == to_minutes || whole[to_minutes] != ':')) whole.insert(to_minutes, ":00");
    if (whole.find_first_of("Z+-", day_size) == std::string::npos) whole += 'Z';
  }
  instant finer = 0;
  if (const auto point = whole.find('.'); point != std::string::npos) {
    // The digits beyond milliseconds, which parse_time does not support.
    instant of_digit = second / 10;
    auto at = point + 1;
    for (; at < whole.size() && ascii::is_digit(whole[at]); ++at, of_digit /= 10)
      if (of_digit < millisecond) finer += (whole[at] - '0') * of_digit;
    constexpr std::size_t kept_digits = 3;
    if (at > point + 1 + kept_digits) whole.erase(point + 1 + kept_digits, at - point - 1 - kept_digits);
  }
  const auto read = model::parse_time(whole);
  if (!read) return std::nullopt;
  return read->time_since_epoch().count() * millisecond + finer;
}

}  // namespace

std::optional<instant> parse_span(std::string_view text) {
  if (text.empty() || text.size() > longest_moment) return std::nullopt;
  instant all = 0;
  while (!text.empty()) {
    const auto count = number_at_front(text);
    if (!count) return std::nullopt;
    if (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    const auto size = unit_at_front(text);
    if (!size || *count > longest_span / *size) return std::nullopt;
    all += *count * *size;
    if (all > longest_span) return std::nullopt;
    if (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  }
  return all;
}

result<moment> parse_moment(std::string_view name, std::string_view text, instant now) {
  if (text.size() <= longest_moment) {
    if (ascii::is_same(text, "now")) return moment{now, true};
    auto span = text;
    if (span.starts_with('-')) span.remove_prefix(1);
    if (const auto before = parse_span(span)) return moment{now - *before, true};
    if (const auto at = since_1970(text)) return moment{*at, false};
    if (const auto at = by_calendar(text)) return moment{*at, false};
  }
  return fail(errc::invalid_argument, std::string(name) +
                                          ": not a valid time. Write how long ago (15m, 2h, 1d), a day (2026-01-31), a date "
                                          "and time (2026-01-31T08:00:00Z) or seconds since 1970.");
}

std::string text_of(instant when) {
  auto of_day = when % second;
  auto seconds = when / second;
  if (of_day < 0) {
    of_day += second;
    --seconds;
  }
  auto out = model::iso_8601(std::chrono::sys_time<std::chrono::milliseconds>(std::chrono::seconds(seconds)));
  if (of_day == 0) return out;
  auto fraction = std::to_string(second + of_day).substr(1);
  while (fraction.ends_with('0')) fraction.pop_back();
  out.insert(out.size() - 1, '.' + fraction);
  return out;
}

std::string text_of_span(instant microseconds) {
  const auto pair = [&](instant large, const char* large_name, instant small, const char* small_name) {
    auto out = std::to_string(microseconds / large) + ' ' + large_name;
    if (const auto rest = microseconds % large / small; rest != 0) out += ' ' + std::to_string(rest) + ' ' + small_name;
    return out;
  };
  if (microseconds < 0) microseconds = 0;
  if (microseconds < minute) return std::to_string(microseconds / second) + " s";
  if (microseconds < hour) return pair(minute, "min", second, "s");
  if (microseconds < day) return pair(hour, "h", minute, "min");
  return pair(day, "d", hour, "h");
}

instant present_instant() noexcept {
  return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace hondana::logs
