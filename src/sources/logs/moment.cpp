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

constexpr std::size_t max_moment_bytes = 64;
constexpr instant max_duration = 36'525 * day;

std::optional<instant> consume_number(std::string_view& text) {
  instant value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || text.empty() || !ascii::is_digit(text.front())) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

std::optional<instant> consume_unit(std::string_view& text) {
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
  for (const auto& entry : units) {
    if (!ascii::starts_with_ignore_case(text, entry.name)) continue;
    if (text.size() > entry.name.size() && ascii::is_letter(text[entry.name.size()])) continue;
    text.remove_prefix(entry.name.size());
    return entry.size;
  }
  return std::nullopt;
}

/// Parses seconds with a fraction, milliseconds, microseconds or nanoseconds. The number of digits decides.
std::optional<instant> parse_epoch(std::string_view text) {
  const auto digits = static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), ascii::is_digit) - text.begin());
  constexpr std::size_t max_digits = 19;
  if (digits == 0 || digits > max_digits) return std::nullopt;
  auto remaining = text;
  const auto integer = consume_number(remaining);
  if (!integer) return std::nullopt;
  constexpr std::size_t max_second_digits = 11, max_millisecond_digits = 14, max_microsecond_digits = 17;
  if (digits > max_second_digits) {
    if (!remaining.empty()) return std::nullopt;
    if (digits <= max_millisecond_digits) return *integer * millisecond;
    return digits <= max_microsecond_digits ? *integer : *integer / 1000;
  }
  instant time = *integer * second;
  if (remaining.empty()) return time;
  remaining.remove_prefix(1);
  if (text[digits] != '.' || remaining.empty() || !std::all_of(remaining.begin(), remaining.end(), ascii::is_digit))
    return std::nullopt;
  instant digit_value = second / 10;
  for (const char c : remaining) {
    time += (c - '0') * digit_value;
    digit_value /= 10;
  }
  return time;
}

/// Parses a date with an optional time. The time may lack its offset and seconds, and a blank may replace the T.
std::optional<instant> parse_calendar(std::string_view text) {
  constexpr std::size_t date_size = 10, minute_end = 16;
  if (text.size() < date_size || !ascii::is_digit(text.front())) return std::nullopt;
  std::string normalized(text);
  if (normalized.size() > date_size) {
    if (normalized[date_size] == ' ' || normalized[date_size] == 't' || normalized[date_size] == '_')
      normalized[date_size] = 'T';
    // An unencoded plus sign in a query is decoded as a blank.
    if (const auto blank = normalized.find(' '); blank != std::string::npos) normalized[blank] = '+';
    if (normalized.back() == 'z') normalized.back() = 'Z';
    if (normalized.size() >= minute_end && (normalized.size() == minute_end || normalized[minute_end] != ':'))
      normalized.insert(minute_end, ":00");
    if (normalized.find_first_of("Z+-", date_size) == std::string::npos) normalized += 'Z';
  }
  instant sub_millisecond = 0;
  if (const auto point = normalized.find('.'); point != std::string::npos) {
    // The digits beyond milliseconds, which parse_time does not support.
    instant digit_value = second / 10;
    auto offset = point + 1;
    for (; offset < normalized.size() && ascii::is_digit(normalized[offset]); ++offset, digit_value /= 10)
      if (digit_value < millisecond) sub_millisecond += (normalized[offset] - '0') * digit_value;
    constexpr std::size_t millisecond_digits = 3;
    if (offset > point + 1 + millisecond_digits)
      normalized.erase(point + 1 + millisecond_digits, offset - point - 1 - millisecond_digits);
  }
  const auto parsed = model::parse_time(normalized);
  if (!parsed) return std::nullopt;
  return parsed->time_since_epoch().count() * millisecond + sub_millisecond;
}

}  // namespace

std::optional<instant> parse_duration(std::string_view text) {
  if (text.empty() || text.size() > max_moment_bytes) return std::nullopt;
  instant total = 0;
  while (!text.empty()) {
    const auto count = consume_number(text);
    if (!count) return std::nullopt;
    if (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    const auto size = consume_unit(text);
    if (!size || *count > max_duration / *size) return std::nullopt;
    total += *count * *size;
    if (total > max_duration) return std::nullopt;
    if (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  }
  return total;
}

result<moment> parse_moment(std::string_view name, std::string_view text, instant now) {
  if (text.size() <= max_moment_bytes) {
    if (ascii::equals_ignore_case(text, "now")) return moment{now, true};
    auto duration_text = text;
    if (duration_text.starts_with('-')) duration_text.remove_prefix(1);
    if (const auto elapsed = parse_duration(duration_text)) return moment{now - *elapsed, true};
    if (const auto epoch_time = parse_epoch(text)) return moment{*epoch_time, false};
    if (const auto calendar_time = parse_calendar(text)) return moment{*calendar_time, false};
  }
  return fail(errc::invalid_argument, std::string(name) +
                                          ": not a valid time. Write how long ago (15m, 2h, 1d), a day (2026-01-31), a date "
                                          "and time (2026-01-31T08:00:00Z) or seconds since 1970.");
}

std::string format_time(instant time) {
  auto subsecond = time % second;
  auto seconds = time / second;
  if (subsecond < 0) {
    subsecond += second;
    --seconds;
  }
  auto out = model::format_iso_8601(std::chrono::sys_time<std::chrono::milliseconds>(std::chrono::seconds(seconds)));
  if (subsecond == 0) return out;
  auto fraction = std::to_string(second + subsecond).substr(1);
  while (fraction.ends_with('0')) fraction.pop_back();
  out.insert(out.size() - 1, '.' + fraction);
  return out;
}

std::string format_duration(instant microseconds) {
  const auto format_units = [&](instant large, const char* large_name, instant small, const char* small_name) {
    auto out = std::to_string(microseconds / large) + ' ' + large_name;
    if (const auto remainder = microseconds % large / small; remainder != 0)
      out += ' ' + std::to_string(remainder) + ' ' + small_name;
    return out;
  };
  if (microseconds < 0) microseconds = 0;
  if (microseconds < minute) return std::to_string(microseconds / second) + " s";
  if (microseconds < hour) return format_units(minute, "min", second, "s");
  if (microseconds < day) return format_units(hour, "h", minute, "min");
  return format_units(day, "d", hour, "h");
}

instant current_instant() noexcept {
  return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace hondana::logs
