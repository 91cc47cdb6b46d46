/// Recognizes timestamps in log lines, and the time zones of those without an offset.
#include "sources/logs/records/timestamp.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>
#include <functional>
#include <limits>

#include "base/ascii/ascii.hpp"
#include "sources/logs/records/fields.hpp"

namespace hondana::records {
namespace {

/// Days since 1970.
instant days_since_epoch(int year, int month, int day) noexcept {
  using namespace std::chrono;
  const year_month_day date{std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                            std::chrono::day(static_cast<unsigned>(day))};
  return sys_days(date).time_since_epoch().count();
}

/// The offset of local time. It is cached per quarter of an hour, since calling the C library for each line would take most of
/// the time.
instant local_offset(const civil_time& local) noexcept {
  struct known_quarter {
    instant quarter = -1;
    instant offset = 0;
  };
  thread_local constinit std::array<known_quarter, 16> cache{};
  const auto quarter = to_instant(local) / (900 * one_second);
  auto& cached = cache[static_cast<std::size_t>(quarter) % cache.size()];
  if (cached.quarter == quarter) return cached.offset;
  std::tm broken_down{};
  broken_down.tm_year = local.year - 1900;
  broken_down.tm_mon = local.month - 1;
  broken_down.tm_mday = local.day;
  broken_down.tm_hour = local.hour;
  broken_down.tm_min = local.minute / 15 * 15;
  broken_down.tm_isdst = -1;
  const auto begin = civil_time{local.year, local.month, local.day, local.hour, broken_down.tm_min, 0, 0};
  const auto posix_time = std::mktime(&broken_down);
  cached = {quarter, posix_time == -1 ? 0 : to_instant(begin) - static_cast<instant>(posix_time) * one_second};
  return cached.offset;
}

}  // namespace

bool is_valid(const civil_time& time) noexcept {
  using namespace std::chrono;
  const year_month_day date{std::chrono::year(time.year), std::chrono::month(static_cast<unsigned>(time.month)),
                            std::chrono::day(static_cast<unsigned>(time.day))};
  return time.year >= 1970 && time.year <= 9999 && date.ok() && time.hour >= 0 && time.hour <= 23 && time.minute >= 0 &&
         time.minute <= 59 && time.second >= 0 && time.second <= 60 && time.microsecond >= 0 && time.microsecond < one_second;
}

instant to_instant(const civil_time& time) noexcept {
  return ((days_since_epoch(time.year, time.month, time.day) * 24 + time.hour) * 60 + time.minute) * 60 * one_second +
         time.second * one_second + time.microsecond;
}

std::optional<time_zone> time_zone::from_name(std::string_view name) noexcept {
  if (ascii::equals_ignore_case(name, "local")) return time_zone();
  if (ascii::equals_ignore_case(name, "utc") || ascii::equals_ignore_case(name, "gmt")) return time_zone(0);
  const auto parsed = parse_offset(name);
  if (parsed && parsed->size == name.size()) return time_zone(parsed->minutes);
  if (name.size() == 2 && (name[0] == '+' || name[0] == '-') && ascii::is_digit(name[1])) {
    return time_zone((name[0] == '-' ? -60 : 60) * (name[1] - '0'));
  }
  return std::nullopt;
}

instant time_zone::to_utc(const civil_time& local) const noexcept {
  const auto offset = minutes_ ? *minutes_ * 60 * one_second : local_offset(local);
  return to_instant(local) - offset;
}

std::optional<parsed_offset> parse_offset(std::string_view text) noexcept {
  if (text.empty()) return std::nullopt;
  if (text[0] == 'Z' || text[0] == 'z') return parsed_offset{0, 1};
  if ((text[0] != '+' && text[0] != '-') || text.size() < 3 || !ascii::is_digit(text[1]) || !ascii::is_digit(text[2]))
    return std::nullopt;
  const int hours = (text[1] - '0') * 10 + (text[2] - '0');
  std::size_t offset = text.size() > 3 && text[3] == ':' ? 4 : 3;
  int minutes = 0;
  if (text.size() >= offset + 2 && ascii::is_digit(text[offset]) && ascii::is_digit(text[offset + 1])) {
    minutes = (text[offset] - '0') * 10 + (text[offset + 1] - '0');
    offset += 2;
  } else {
    offset = 3;
  }
  if (hours > 18 || minutes > 59) return std::nullopt;
  return parsed_offset{(text[0] == '-' ? -1 : 1) * (hours * 60 + minutes), offset};
}

namespace {

constexpr instant one_day = 86'400 * one_second;

/// Parses parts of a time from a position on. Its functions return false if the text does not match.
struct time_scanner {
  std::string_view text;
  std::size_t offset = 0;

  [[nodiscard]] char peek() const noexcept { return offset < text.size() ? text[offset] : '\0'; }
  bool skip(char c) noexcept {
    if (peek() != c) return false;
    ++offset;
    return true;
  }
  bool parse_digits(std::size_t count, int& number) noexcept {
    if (offset + count > text.size()) return false;
    int value = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (!ascii::is_digit(text[offset + i])) return false;
      value = value * 10 + (text[offset + i] - '0');
    }
    offset += count;
    number = value;
    return true;
  }
  /// "02", " 2" or "2".
  bool parse_day(int& number) noexcept {
    if (peek() == ' ') ++offset;
    return parse_digits(2, number) || parse_digits(1, number);
  }
  bool parse_month(int& number) noexcept {
    constexpr std::string_view names = "janfebmaraprmayjunjulaugsepoctnovdec";
    if (offset + 3 > text.size()) return false;
    const std::array<char, 3> abbreviation{ascii::to_lower(text[offset]), ascii::to_lower(text[offset + 1]),
                                           ascii::to_lower(text[offset + 2])};
    for (int i = 0; i < 12; ++i) {
      if (names.substr(static_cast<std::size_t>(i) * 3, 3) != std::string_view(abbreviation.data(), 3)) continue;
      offset += 3;
      number = i + 1;
      return true;
    }
    return false;
  }
  bool skip_weekday() noexcept {
    constexpr std::string_view names = "MonTueWedThuFriSatSun";
    const auto abbreviation = text.substr(std::min(offset, text.size()), 3);
    const auto position = abbreviation.size() == 3 ? names.find(abbreviation) : std::string_view::npos;
    if (position == std::string_view::npos || position % 3 != 0) return false;
    offset += 3;
    skip(',');
    return skip(' ');
  }
  /// "03:04:05", with fractions after '.' or ','.
  bool parse_clock(civil_time& time) noexcept {
    if (!parse_digits(2, time.hour) || !skip(':') || !parse_digits(2, time.minute)) return false;
    if (!skip(':') || !parse_digits(2, time.second)) return false;
    parse_fraction(time);
    return !ascii::is_digit(peek()) && peek() != ':';
  }
  void parse_fraction(civil_time& time) noexcept {
    if ((peek() != '.' && peek() != ',') || offset + 1 >= text.size() || !ascii::is_digit(text[offset + 1])) return;
    ++offset;
    int scale = 100'000;
    for (std::size_t count = 0; ascii::is_digit(peek()) && count < 12; ++count, ++offset) {
      time.microsecond += (peek() - '0') * scale;
      scale /= 10;
    }
  }
};

struct parsed_time {
  civil_time local{};
  std::optional<int> offset{};  // minutes
  bool has_year = true;
};

/// An offset, optionally after a blank. Also "UTC" and "GMT".
void parse_zone_offset(time_scanner& scanner, parsed_time& parsed) noexcept {
  const auto begin = scanner.offset;
  scanner.skip(' ');
  const auto remaining = scanner.text.substr(scanner.offset);
  if (remaining.starts_with("UTC") || remaining.starts_with("GMT")) {
    parsed.offset = 0;
    scanner.offset += 3;
    return;
  }
  const auto zone_offset = parse_offset(remaining);
  const auto is_terminated =
      zone_offset && (remaining.size() == zone_offset->size ||
                      (!ascii::is_digit(remaining[zone_offset->size]) && !ascii::is_letter(remaining[zone_offset->size])));
  // After a blank, a number is an offset only if it has all its digits.
  if (is_terminated && (scanner.offset == begin || zone_offset->size >= 5)) {
    parsed.offset = zone_offset->minutes;
    scanner.offset += zone_offset->size;
    return;
  }
  scanner.offset = begin;
}

/// "2026-01-02T03:04:05", also with a blank or '_', with slashes, or "20260102T030405".
bool parse_iso(time_scanner& scanner, parsed_time& parsed) noexcept {
  auto& local = parsed.local;
  if (!scanner.parse_digits(4, local.year)) return false;
  if (const char separator = scanner.peek(); separator == '-' || separator == '/') {
    scanner.skip(separator);
    if (!scanner.parse_digits(2, local.month) || !scanner.skip(separator) || !scanner.parse_digits(2, local.day)) return false;
    if (!scanner.skip('T') && !scanner.skip('t') && !scanner.skip(' ') && !scanner.skip('_')) return false;
    if (!scanner.parse_clock(local)) return false;
  } else {
    if (!scanner.parse_digits(2, local.month) || !scanner.parse_digits(2, local.day) ||
        (!scanner.skip('T') && !scanner.skip(' ')))
      return false;
    if (ascii::is_digit(scanner.peek()) && scanner.offset + 2 < scanner.text.size() &&
        scanner.text[scanner.offset + 2] == ':') {
      if (!scanner.parse_clock(local)) return false;
    } else {
      if (!scanner.parse_digits(2, local.hour) || !scanner.parse_digits(2, local.minute) ||
          !scanner.parse_digits(2, local.second))
        return false;
      scanner.parse_fraction(local);
      if (ascii::is_digit(scanner.peek())) return false;
    }
  }
  parse_zone_offset(scanner, parsed);
  return true;
}

/// "02/Jan/2026:03:04:05 +0900" and "02-Jan-2026 03:04:05.123".
bool parse_day_first(time_scanner& scanner, parsed_time& parsed) noexcept {
  auto& local = parsed.local;
  if (!scanner.parse_digits(2, local.day)) return false;
  const char separator = scanner.peek();
  if ((separator != '/' && separator != '-' && separator != ' ') || !scanner.skip(separator) ||
      !scanner.parse_month(local.month) || !scanner.skip(separator) || !scanner.parse_digits(4, local.year) ||
      (!scanner.skip(':') && !scanner.skip(' ')) || !scanner.parse_clock(local)) {
    return false;
  }
  parse_zone_offset(scanner, parsed);
  return true;
}

/// "Jan 2 03:04:05": syslog. With a weekday before and a year after it, optionally after "UTC": ctime, Apache's error log,
/// date.
bool parse_month_first(time_scanner& scanner, parsed_time& parsed) noexcept {
  auto& local = parsed.local;
  const bool has_weekday = scanner.skip_weekday();
  if (!scanner.parse_month(local.month) || !scanner.skip(' ') || !scanner.parse_day(local.day) || !scanner.skip(' '))
    return false;
  if (auto ahead = scanner; ahead.parse_digits(4, local.year) && ahead.skip(' ')) {  // "Jan  2 2026 03:04:05"
    scanner = ahead;
    return scanner.parse_clock(local);
  }
  if (!scanner.parse_clock(local)) return false;
  auto ahead = scanner;
  auto zoned = parsed;
  parse_zone_offset(ahead, zoned);
  // After a syslog time, four digits belong to the message. After a ctime time, which has a weekday, they are the year.
  if (has_weekday && ahead.skip(' ') && ahead.parse_digits(4, zoned.local.year) && !ascii::is_digit(ahead.peek()) &&
      zoned.local.year >= 1970) {
    scanner = ahead;
    parsed = zoned;
  } else {
    parsed.has_year = false;
  }
  return true;
}

/// "I0102 03:04:05.123456": glog and klog.
bool parse_glog(time_scanner& scanner, parsed_time& parsed) noexcept {
  auto& local = parsed.local;
  ++scanner.offset;
  parsed.has_year = false;
  auto dated = scanner;
  if (dated.parse_digits(8, local.year) && dated.skip(' ')) {  // with --log_year_in_prefix
    local.day = local.year % 100;
    local.month = local.year / 100 % 100;
    local.year /= 10000;
    parsed.has_year = true;
    scanner = dated;
    return scanner.parse_clock(local) && local.microsecond >= 0;
  }
  return scanner.parse_digits(2, local.month) && scanner.parse_digits(2, local.day) && scanner.skip(' ') &&
         scanner.parse_clock(local);
}

/// Seconds, milliseconds, microseconds or nanoseconds since 1970. The number of digits decides.
std::optional<timestamp> parse_epoch(std::string_view text) noexcept {
  std::size_t size = 0;
  instant integer = 0;
  while (size < text.size() && size < 20 && ascii::is_digit(text[size])) {
    if (size < 18 || (size == 18 && integer < std::numeric_limits<instant>::max() / 10))
      integer = integer * 10 + (text[size] - '0');
    ++size;
  }
  if (size != 10 && size != 13 && size != 16 && size != 19) return std::nullopt;
  if (text[0] == '0') return std::nullopt;
  instant micros = size == 10 ? integer * one_second : size == 13 ? integer * 1000 : size == 16 ? integer : integer / 1000;
  if ((size == 10 || size == 13) && size + 1 < text.size() && text[size] == '.' && ascii::is_digit(text[size + 1])) {
    instant scale = (size == 10 ? one_second : 1000) / 10;
    for (++size; size < text.size() && ascii::is_digit(text[size]); ++size, scale /= 10) micros += (text[size] - '0') * scale;
  }
  constexpr std::string_view terminators = " \t,;:|]\")}\r\n";
  if (size < text.size() && terminators.find(text[size]) == std::string_view::npos) return std::nullopt;
  return timestamp{micros, 0, size};
}

bool is_time_field(std::string_view name) noexcept {
  constexpr std::array<std::string_view, 11> names{"time",      "ts",        "timestamp", "@timestamp", "t",        "datetime",
                                                   "eventTime", "eventtime", "date",      "asctime",    "Timestamp"};
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

std::optional<timestamp> timestamp_parser::parse_prefix(std::string_view text) const noexcept {
  if (text.size() < 10) return std::nullopt;
  text = text.substr(0, 64);
  time_scanner scanner{text};
  parsed_time parsed;
  bool is_parsed = false;
  if (ascii::is_digit(text[0])) {
    is_parsed = parse_iso(scanner, parsed);
    if (!is_parsed) {
      scanner.offset = 0;
      parsed = {};
      is_parsed = parse_day_first(scanner, parsed);
    }
    if (!is_parsed) return parse_epoch(text);
  } else if (std::string_view("IWEFD").find(text[0]) != std::string_view::npos && ascii::is_digit(text[1])) {
    is_parsed = parse_glog(scanner, parsed);
  } else if (ascii::is_letter(text[0])) {
    is_parsed = parse_month_first(scanner, parsed);
  }
  if (!is_parsed) return std::nullopt;
  const auto resolve = [this, &parsed] {
    if (!parsed.offset) return zone_.to_utc(parsed.local);
    return to_instant(parsed.local) - *parsed.offset * 60 * one_second;
  };
  if (parsed.has_year) {
    if (!is_valid(parsed.local)) return std::nullopt;
    return timestamp{resolve(), 0, scanner.offset};
  }
  // The last year in which the time is at most a day after the latest time. For a leap day, there is one within eight years.
  using namespace std::chrono;
  const auto latest_day = floor<days>(microseconds(std::max<instant>(latest_, 0)) + microseconds(one_day));
  const int newest = static_cast<int>(year_month_day(sys_days(latest_day)).year());
  for (int year = newest + 1; year >= newest - 8; --year) {
    parsed.local.year = year;
    if (!is_valid(parsed.local)) continue;
    if (const auto resolved = resolve(); resolved <= latest_ + one_day) return timestamp{resolved, 0, scanner.offset};
  }
  return std::nullopt;
}

std::optional<timestamp> timestamp_parser::find_in_line(std::string_view line) const {
  line = line.substr(0, std::min(line.size(), max_json_bytes));
  line = line.substr(0, line.find('\n'));
  auto begin = skip_escapes(line);
  if (begin >= line.size()) return std::nullopt;
  if (line[begin] == '{') {
    std::optional<timestamp> match;
    const auto inspect = [&](std::string_view name, std::string_view raw) {
      if (!is_time_field(name)) return true;
      const bool is_quoted = raw.starts_with('"');
      const auto value = is_quoted ? raw.substr(1, raw.size() - (raw.size() > 1 && raw.back() == '"' ? 2 : 1)) : raw;
      const auto time = parse_value(value);
      if (!time) return true;
      const auto value_begin = static_cast<std::size_t>(value.data() - line.data());
      match = timestamp{*time, value_begin, value_begin + value.size()};
      return false;
    };
    for_each_field(line.substr(begin), std::cref(inspect));
    return match;
  }
  line = line.substr(0, max_line_bytes);
  if (line[begin] == ' ' || line[begin] == '\t') return std::nullopt;
  const auto parse_at = [&](std::size_t offset) -> std::optional<timestamp> {
    auto parsed = parse_prefix(line.substr(offset));
    if (parsed) {
      parsed->begin += offset;
      parsed->end += offset;
    }
    return parsed;
  };
  begin += parse_priority(line.substr(begin)).size;
  while (begin < line.size() && (line[begin] == '[' || line[begin] == '"' || line[begin] == '(')) ++begin;
  if (auto leading = parse_at(begin)) return leading;
  // After a few words: a level, a thread, the address of a client.
  constexpr std::size_t max_words = 6;
  constexpr std::size_t max_bytes = 160;
  std::size_t words = 0;
  for (auto i = begin; i < line.size() && i < begin + max_bytes && words < max_words; ++i) {
    const char c = line[i];
    if (c == ' ' || c == '\t') ++words;
    if (c != ' ' && c != '\t' && c != '[' && c != '(' && c != '|' && c != '"' && c != '=') continue;
    if (i + 1 >= line.size() || !ascii::is_digit(line[i + 1])) continue;
    if (c == '=') {
      auto name = line.substr(begin, i - begin);
      name.remove_prefix(std::min(name.find_last_of(" \t") + 1, name.size()));
      if (!is_time_field(name)) continue;
      if (auto parsed = parse_at(i + 1)) return parsed;
      continue;
    }
    auto candidate = parse_at(i + 1);
    // In the middle of a line, only times with a colon count: ordinary numbers are frequent there.
    if (candidate && candidate->end - candidate->begin > 10 &&
        line.substr(candidate->begin, candidate->end - candidate->begin).find(':') != line.npos) {
      return candidate;
    }
  }
  return std::nullopt;
}

std::optional<instant> timestamp_parser::parse_value(std::string_view text) const noexcept {
  if (const auto timestamp = parse_prefix(text); timestamp && timestamp->end == text.size()) return timestamp->time;
  // Numbers with an exponent, or with fewer digits than the current time, are not times.
  if (const auto epoch_time = parse_epoch(text); epoch_time && epoch_time->end == text.size()) return epoch_time->time;
  return std::nullopt;
}

}  // namespace hondana::records
