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

constexpr std::size_t longest_moment = 64;
/// 9999-12-31T23:59:59.999Z and 1900-01-01T00:00:00Z.
constexpr instant last_instant = 253'402'300'799'999;
constexpr instant first_instant = -2'208'988'800'000;

/// Parses seconds with a fraction, or milliseconds. The number of digits decides.
std::optional<instant> since_1970(std::string_view text) {
  const bool is_before = text.starts_with('-');
  auto rest = text.substr(is_before ? 1 : 0);
  const auto digits = static_cast<std::size_t>(std::find_if_not(rest.begin(), rest.end(), ascii::is_digit) - rest.begin());
  constexpr std::size_t of_seconds = 11, of_milliseconds = 15;
  if (digits == 0 || digits > of_milliseconds) return std::nullopt;
  instant at = 0;
  std::from_chars(rest.data(), rest.data() + digits, at);
  rest.remove_prefix(digits);
  if (digits > of_seconds && !rest.empty()) return std::nullopt;
  if (digits <= of_seconds) at *= second;
  if (!rest.empty()) {
    rest.remove_prefix(1);
    if (text[(is_before ? 1 : 0) + digits] != '.' || rest.empty() || !std::all_of(rest.begin(), rest.end(), ascii::is_digit))
      return std::nullopt;
    instant of_digit = second / 10;
    for (const char c : rest) {
      at += (c - '0') * of_digit;
      of_digit /= 10;
    }
  }
  return is_before ? -at : at;
}

/// Parses a date with an optional time. The time may lack its offset and seconds, and a blank may replace the T.
std::optional<instant> by_calendar(std::string_view text) {
  constexpr std::size_t day_size = 10, to_minutes = 16;
  if (text.size() < day_size || !ascii::is_digit(text.front())) return std::nullopt;
  std::string whole(text);
  if (whole.size() > day_size) {
    if (whole[day_size] == ' ' || whole[day_size] == 't') whole[day_size] = 'T';
    // An unencoded plus sign in a query is decoded as a blank.
    if (const auto blank = whole.find(' '); blank != std::string::npos) whole[blank] = '+';
    if (whole.back() == 'z') whole.back() = 'Z';
    if (whole.size() >= to_minutes && (whole.size() == to_minutes || whole[to_minutes] != ':')) whole.insert(to_minutes, ":00");
    if (whole.find_first_of("Z+-", day_size) == std::string::npos) whole += 'Z';
  }
  const auto at = model::parse_time(whole);
  if (!at) return std::nullopt;
  return at->time_since_epoch().count();
}

std::optional<moment> relative(std::string_view text, instant now) {
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
  const auto span = series::parse_duration(text);
  if (!span) return std::nullopt;
  return moment{is_later ? now + *span : now - *span, true};
}

}  // namespace

result<moment> parse_moment(std::string_view name, std::string_view text, instant now) {
  if (!text.empty() && text.size() <= longest_moment) {
    auto found = relative(text, now);
    if (!found)
      if (const auto at = since_1970(text)) found = moment{*at, false};
    if (!found)
      if (const auto at = by_calendar(text)) found = moment{*at, false};
    if (found && found->at >= first_instant && found->at <= last_instant) return *found;
  }
  return fail(errc::invalid_argument, std::string(name) +
                                          ": not a valid time. Write how long ago (-1h, -15m), now, now-5m, a date and time "
                                          "(2026-01-31T08:00:00Z) or seconds since 1970.");
}

std::string text_of(instant when) {
  if (when < first_instant || when > last_instant) return std::to_string(when / second);
  return model::iso_8601(std::chrono::sys_time<std::chrono::milliseconds>(std::chrono::milliseconds(when)));
}

std::string span_text(series::duration of) {
  const auto pair = [&](series::duration large, const char* large_name, series::duration small, const char* small_name) {
    auto out = std::to_string(of / large) + ' ' + large_name;
    if (const auto rest = of % large / small; rest != 0) out += ' ' + std::to_string(rest) + ' ' + small_name;
    return out;
  };
  of = std::max<series::duration>(of, 0);
  if (of < minute) return std::to_string(of / second) + " s";
  if (of < hour) return pair(minute, "min", second, "s");
  if (of < day) return pair(hour, "h", minute, "min");
  return pair(day, "d", hour, "h");
}

instant present() noexcept {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace hondana::metrics
