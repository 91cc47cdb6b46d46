/// Formats and parses times in ISO 8601.
#include "protocol/model/iso_8601.hpp"

#include <cstddef>
#include <cstdlib>

namespace hondana::model {
namespace {

/// Removes `count` digits from the front and returns their value.
std::optional<int> parse_digits(std::string_view& text, std::size_t count) {
  if (text.size() < count) return {};
  int value = 0;
  for (const char c : text.substr(0, count)) {
    if (c < '0' || c > '9') return {};
    value = value * 10 + (c - '0');
  }
  text.remove_prefix(count);
  return value;
}

bool consume(std::string_view& text, char c) {
  if (!text.starts_with(c)) return false;
  text.remove_prefix(1);
  return true;
}

/// `HH:MM`, and `:SS` if `with_seconds`.
std::optional<std::chrono::seconds> parse_clock_time(std::string_view& text, bool with_seconds) {
  const auto hour = parse_digits(text, 2);
  if (!hour || *hour > 23 || !consume(text, ':')) return {};
  const auto minute = parse_digits(text, 2);
  if (!minute || *minute > 59) return {};
  std::chrono::seconds time = std::chrono::hours(*hour) + std::chrono::minutes(*minute);
  if (!with_seconds) return time;
  if (!consume(text, ':')) return {};
  const auto second = parse_digits(text, 2);
  if (!second || *second > 60) return {};
  return time + std::chrono::seconds(*second);
}

/// Appends at least `width` digits.
void append_padded(std::string& out, unsigned value, std::size_t width) {
  char reversed[12];
  std::size_t count = 0;
  for (; value != 0 || count < width; value /= 10) reversed[count++] = static_cast<char>('0' + value % 10);
  while (count > 0) out += reversed[--count];
}

/// Appends at least four characters, including a sign.
void append_year(std::string& out, int year) {
  if (year < 0) out += '-';
  append_padded(out, static_cast<unsigned>(std::abs(year)), year < 0 ? 3 : 4);
}

std::optional<std::chrono::milliseconds> parse_fraction(std::string_view& text) {
  if (!consume(text, '.')) return std::chrono::milliseconds(0);
  int value = 0;
  int scale = 100;
  std::size_t count = 0;
  for (; count < text.size() && text[count] >= '0' && text[count] <= '9'; ++count, scale /= 10) {
    value += (text[count] - '0') * scale;
  }
  if (count == 0 || count > 9) return {};
  text.remove_prefix(count);
  return std::chrono::milliseconds(value);
}

}  // namespace

std::optional<std::chrono::sys_time<std::chrono::milliseconds>> parse_time(std::string_view text) {
  const auto year = parse_digits(text, 4);
  if (!year || !consume(text, '-')) return {};
  const auto month = parse_digits(text, 2);
  if (!month || !consume(text, '-')) return {};
  const auto day = parse_digits(text, 2);
  if (!day) return {};
  const std::chrono::year_month_day date(std::chrono::year(*year), std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day)));
  if (!date.ok()) return {};
  const std::chrono::sys_time<std::chrono::milliseconds> midnight = std::chrono::sys_days(date);
  if (text.empty()) return midnight;
  if (!consume(text, 'T') && !consume(text, 't')) return {};
  const auto time = parse_clock_time(text, true);
  if (!time) return {};
  const auto fraction = parse_fraction(text);
  if (!fraction) return {};
  auto instant = midnight + *time + *fraction;
  if (text == "Z" || text == "z") return instant;
  const bool is_ahead = consume(text, '+');
  if (!is_ahead && !consume(text, '-')) return {};
  const auto offset = parse_clock_time(text, false);
  if (!offset || !text.empty()) return {};
  return is_ahead ? instant - *offset : instant + *offset;
}

std::string format_iso_8601(std::chrono::sys_time<std::chrono::milliseconds> instant) {
  const auto day = std::chrono::floor<std::chrono::days>(instant);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss time(instant - day);
  std::string text;
  text.reserve(sizeof "2000-01-01T00:00:00.000Z");
  append_year(text, static_cast<int>(date.year()));
  append_padded(text += '-', static_cast<unsigned>(date.month()), 2);
  append_padded(text += '-', static_cast<unsigned>(date.day()), 2);
  append_padded(text += 'T', static_cast<unsigned>(time.hours().count()), 2);
  append_padded(text += ':', static_cast<unsigned>(time.minutes().count()), 2);
  append_padded(text += ':', static_cast<unsigned>(time.seconds().count()), 2);
  if (const auto ms = static_cast<unsigned>(time.subseconds().count()); ms != 0) append_padded(text += '.', ms, 3);
  return text += 'Z';
}

}  // namespace hondana::model
