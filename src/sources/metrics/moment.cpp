/// Points in time as people and clients write them, such as now-5m or RFC 3339 timestamps.
#include "sources/metrics/moment.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <optional>
#include <system_error>

#include "base/ascii/ascii.hpp"
#include "protocol/model/iso_8601.hpp"
#include "sources/metrics/series/aggregation.hpp"

namespace hondana::metrics {
namespace {

using series::instant;

constexpr std::size_t max_moment_bytes = 64;
/// 9999-12-31T23:59:59.999Z and 1900-01-01T00:00:00Z.
constexpr instant max_time = 253'402'300'799'999;
constexpr instant min_time = -2'208'988'800'000;

/// Parses seconds with a fraction, or milliseconds. The number of digits decides.
std::optional<instant> parse_unix_time(std::string_view text) {
  const bool is_negative = text.starts_with('-');
  auto remaining = text.substr(is_negative ? 1 : 0);
  const auto digits =
      static_cast<std::size_t>(std::find_if_not(remaining.begin(), remaining.end(), ascii::is_digit) - remaining.begin());
  constexpr std::size_t max_second_digits = 11, max_millisecond_digits = 15;
  if (digits == 0 || digits > max_millisecond_digits) return std::nullopt;
  instant time = 0;
  std::from_chars(remaining.data(), remaining.data() + digits, time);
  remaining.remove_prefix(digits);
  if (digits > max_second_digits && !remaining.empty()) return std::nullopt;
  if (digits <= max_second_digits) time *= second;
  if (!remaining.empty()) {
    remaining.remove_prefix(1);
    if (text[(is_negative ? 1 : 0) + digits] != '.' || remaining.empty() ||
        !std::all_of(remaining.begin(), remaining.end(), ascii::is_digit))
      return std::nullopt;
    instant digit_value = second / 10;
    for (const char c : remaining) {
      time += (c - '0') * digit_value;
      digit_value /= 10;
    }
  }
  return is_negative ? -time : time;
}

/// Parses a date with an optional time. The time may lack its offset and seconds, and a blank may replace the T.
std::optional<instant> parse_calendar(std::string_view text) {
  constexpr std::size_t date_size = 10, minutes_size = 16;
  if (text.size() < date_size || !ascii::is_digit(text.front())) return std::nullopt;
  std::string normalized(text);
  if (normalized.size() > date_size) {
    if (normalized[date_size] == ' ' || normalized[date_size] == 't') normalized[date_size] = 'T';
    // An unencoded plus sign in a query is decoded as a blank.
    if (const auto blank = normalized.find(' '); blank != std::string::npos) normalized[blank] = '+';
    if (normalized.back() == 'z') normalized.back() = 'Z';
    if (normalized.size() >= minutes_size && (normalized.size() == minutes_size || normalized[minutes_size] != ':'))
      normalized.insert(minutes_size, ":00");
    if (normalized.find_first_of("Z+-", date_size) == std::string::npos) normalized += 'Z';
  }
  const auto parsed = model::parse_time(normalized);
  if (!parsed) return std::nullopt;
  return parsed->time_since_epoch().count();
}

std::optional<moment> parse_relative(std::string_view text, instant now) {
  if (text == "now") return moment{now, true};
  bool is_later = false;
  if (text.starts_with("now")) {
    text.remove_prefix(3);
    // An unencoded plus sign in a query is decoded as a blank.
    if (text.front() != '-' && text.front() != '+' && text.front() != ' ') return std::nullopt;
    is_later = text.front() != '-';
    text.remove_prefix(1);
  } else if (text.starts_with('-')) {
    text.remove_prefix(1);
  }
  // Bare numbers are seconds since 1970, not relative times.
  if (text.empty() || !ascii::is_digit(text.front()) || ascii::is_digit(text.back())) return std::nullopt;
  const auto duration = series::parse_duration(text);
  if (!duration) return std::nullopt;
  return moment{is_later ? now + *duration : now - *duration, true};
}

}  // namespace

result<moment> parse_moment(std::string_view name, std::string_view text, instant now) {
  if (!text.empty() && text.size() <= max_moment_bytes) {
    auto parsed = parse_relative(text, now);
    if (!parsed)
      if (const auto unix_time = parse_unix_time(text)) parsed = moment{*unix_time, false};
    if (!parsed)
      if (const auto calendar_time = parse_calendar(text)) parsed = moment{*calendar_time, false};
    if (parsed && parsed->time >= min_time && parsed->time <= max_time) return *parsed;
  }
  return fail(errc::invalid_argument, std::string(name) +
                                          ": not a valid time. Write how long ago (-1h, -15m), now, now-5m, a date and time "
                                          "(2026-01-31T08:00:00Z) or seconds since 1970.");
}

std::string format_time(instant time) {
  if (time < min_time || time > max_time) return std::to_string(time / second);
  return model::format_iso_8601(std::chrono::sys_time<std::chrono::milliseconds>(std::chrono::milliseconds(time)));
}

std::string format_duration(series::duration duration) {
  const auto pair = [&](series::duration large, const char* large_name, series::duration small, const char* small_name) {
    auto out = std::to_string(duration / large) + ' ' + large_name;
    if (const auto remainder = duration % large / small; remainder != 0)
      out += ' ' + std::to_string(remainder) + ' ' + small_name;
    return out;
  };
  duration = std::max<series::duration>(duration, 0);
  if (duration < minute) return std::to_string(duration / second) + " s";
  if (duration < hour) return pair(minute, "min", second, "s");
  if (duration < day) return pair(hour, "h", minute, "min");
  return pair(day, "d", hour, "h");
}

instant current_time() noexcept {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace hondana::metrics
