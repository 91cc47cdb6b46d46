/// Recognizes timestamps in log lines, and the time zones of those without an offset.
#include "sources/logs/records/time_stamp.hpp"

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
instant days_of(int year, int month, int day) noexcept {
  using namespace std::chrono;
  const year_month_day date{std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                            std::chrono::day(static_cast<unsigned>(day))};
  return sys_days(date).time_since_epoch().count();
}

/// The offset of local time. It is cached per quarter of an hour, since calling the C library for each line would take most of
/// the time.
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

namespace {

constexpr instant day_long = 86'400 * one_second;

/// Parses parts of a time from a position on. Its functions return false if the text does not match.
struct taker {
  std::string_view text;
  std::size_t at = 0;

  [[nodiscard]] char here() const noexcept { return at < text.size() ? text[at] : '\0'; }
  bool skip(char c) noexcept {
    if (here() != c) return false;
    ++at;
    return true;
  }
  bool figures(std::size_t count, int& into) noexcept {
    if (at + count > text.size()) return false;
    int sum = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (!ascii::is_digit(text[at + i])) return false;
      sum = sum * 10 + (text[at + i] - '0');
    }
    at += count;
    into = sum;
    return true;
  }
  /// "02", " 2" or "2".
  bool day(int& into) noexcept {
    if (here() == ' ') ++at;
    return figures(2, into) || figures(1, into);
  }
  bool month(int& into) noexcept {
    constexpr std::string_view names = "janfebmaraprmayjunjulaugsepoctnovdec";
    if (at + 3 > text.size()) return false;
    const std::array<char, 3> three{ascii::lower(text[at]), ascii::lower(text[at + 1]), ascii::lower(text[at + 2])};
    for (int i = 0; i < 12; ++i) {
      if (names.substr(static_cast<std::size_t>(i) * 3, 3) != std::string_view(three.data(), 3)) continue;
      at += 3;
      into = i + 1;
      return true;
    }
    return false;
  }
  bool weekday() noexcept {
    constexpr std::string_view names = "MonTueWedThuFriSatSun";
    const auto three = text.substr(std::min(at, text.size()), 3);
    const auto found = three.size() == 3 ? names.find(three) : std::string_view::npos;
    if (found == std::string_view::npos || found % 3 != 0) return false;
    at += 3;
    skip(',');
    return skip(' ');
  }
  /// "03:04:05", with fractions after '.' or ','.
  bool clock(civil& into) noexcept {
    if (!figures(2, into.hour) || !skip(':') || !figures(2, into.minute)) return false;
    if (!skip(':') || !figures(2, into.second)) return false;
    fractions(into);
    return !ascii::is_digit(here()) && here() != ':';
  }
  void fractions(civil& into) noexcept {
    if ((here() != '.' && here() != ',') || at + 1 >= text.size() || !ascii::is_digit(text[at + 1])) return;
    ++at;
    int scale = 100'000;
    for (std::size_t count = 0; ascii::is_digit(here()) && count < 12; ++count, ++at) {
      into.micros += (here() - '0') * scale;
      scale /= 10;
    }
  }
};

struct reading_of {
  civil shown{};
  std::optional<int> offset{};  // minutes
  bool has_year = true;
};

/// An offset, optionally after a blank. Also "UTC" and "GMT".
void take_offset(taker& in, reading_of& into) noexcept {
  const auto begin = in.at;
  in.skip(' ');
  const auto rest = in.text.substr(in.at);
  if (rest.starts_with("UTC") || rest.starts_with("GMT")) {
    into.offset = 0;
    in.at += 3;
    return;
  }
  const auto read = offset_at_front(rest);
  const auto ends =
      read && (rest.size() == read->size || (!ascii::is_digit(rest[read->size]) && !ascii::is_letter(rest[read->size])));
  // After a blank, a number is an offset only if it has all its digits.
  if (ends && (in.at == begin || read->size >= 5)) {
    into.offset = read->minutes;
    in.at += read->size;
    return;
  }
  in.at = begin;
}

/// "2026-01-02T03:04:05", also with a blank or '_', with slashes, or "20260102T030405".
bool iso(taker& in, reading_of& into) noexcept {
  auto& at = into.shown;
  if (!in.figures(4, at.year)) return false;
  if (const char between = in.here(); between == '-' || between == '/') {
    in.skip(between);
    if (!in.figures(2, at.month) || !in.skip(between) || !in.figures(2, at.day)) return false;
    if (!in.skip('T') && !in.skip('t') && !in.skip(' ') && !in.skip('_')) return false;
    if (!in.clock(at)) return false;
  } else {
    if (!in.figures(2, at.month) || !in.figures(2, at.day) || (!in.skip('T') && !in.skip(' '))) return false;
    if (ascii::is_digit(in.here()) && in.at + 2 < in.text.size() && in.text[in.at + 2] == ':') {
      if (!in.clock(at)) return false;
    } else {
      if (!in.figures(2, at.hour) || !in.figures(2, at.minute) || !in.figures(2, at.second)) return false;
      in.fractions(at);
      if (ascii::is_digit(in.here())) return false;
    }
  }
  take_offset(in, into);
  return true;
}

/// "02/Jan/2026:03:04:05 +0900" and "02-Jan-2026 03:04:05.123".
bool day_first(taker& in, reading_of& into) noexcept {
  auto& at = into.shown;
  if (!in.figures(2, at.day)) return false;
  const char between = in.here();
  if ((between != '/' && between != '-' && between != ' ') || !in.skip(between) || !in.month(at.month) || !in.skip(between) ||
      !in.figures(4, at.year) || (!in.skip(':') && !in.skip(' ')) || !in.clock(at)) {
    return false;
  }
  take_offset(in, into);
  return true;
}

/// "Jan 2 03:04:05": syslog. With a weekday before and a year after it, optionally after "UTC": ctime, Apache's error log,
/// date.
bool month_first(taker& in, reading_of& into) noexcept {
  auto& at = into.shown;
  const bool has_weekday = in.weekday();
  if (!in.month(at.month) || !in.skip(' ') || !in.day(at.day) || !in.skip(' ')) return false;
  if (auto ahead = in; ahead.figures(4, at.year) && ahead.skip(' ')) {  // "Jan  2 2026 03:04:05"
    in = ahead;
    return in.clock(at);
  }
  if (!in.clock(at)) return false;
  auto ahead = in;
  auto zoned = into;
  take_offset(ahead, zoned);
  // After a syslog time, four digits belong to the message. After a ctime time, which has a weekday, they are the year.
  if (has_weekday && ahead.skip(' ') && ahead.figures(4, zoned.shown.year) && !ascii::is_digit(ahead.here()) &&
      zoned.shown.year >= 1970) {
    in = ahead;
    into = zoned;
  } else {
    into.has_year = false;
  }
  return true;
}

/// "I0102 03:04:05.123456": glog and klog.
bool lettered(taker& in, reading_of& into) noexcept {
  auto& at = into.shown;
  ++in.at;
  into.has_year = false;
  auto dated = in;
  if (dated.figures(8, at.year) && dated.skip(' ')) {  // with --log_year_in_prefix
    at.day = at.year % 100;
    at.month = at.year / 100 % 100;
    at.year /= 10000;
    into.has_year = true;
    in = dated;
    return in.clock(at) && at.micros >= 0;
  }
  return in.figures(2, at.month) && in.figures(2, at.day) && in.skip(' ') && in.clock(at);
}

/// Seconds, milliseconds, microseconds or nanoseconds since 1970. The number of digits decides.
std::optional<time_stamp> counted(std::string_view text) noexcept {
  std::size_t size = 0;
  instant whole = 0;
  while (size < text.size() && size < 20 && ascii::is_digit(text[size])) {
    if (size < 18 || (size == 18 && whole < std::numeric_limits<instant>::max() / 10)) whole = whole * 10 + (text[size] - '0');
    ++size;
  }
  if (size != 10 && size != 13 && size != 16 && size != 19) return std::nullopt;
  if (text[0] == '0') return std::nullopt;
  instant micros = size == 10 ? whole * one_second : size == 13 ? whole * 1000 : size == 16 ? whole : whole / 1000;
  if ((size == 10 || size == 13) && size + 1 < text.size() && text[size] == '.' && ascii::is_digit(text[size + 1])) {
    instant scale = (size == 10 ? one_second : 1000) / 10;
    for (++size; size < text.size() && ascii::is_digit(text[size]); ++size, scale /= 10) micros += (text[size] - '0') * scale;
  }
  constexpr std::string_view ends = " \t,;:|]\")}\r\n";
  if (size < text.size() && ends.find(text[size]) == std::string_view::npos) return std::nullopt;
  return time_stamp{micros, 0, size};
}

bool is_name_of_time(std::string_view name) noexcept {
  constexpr std::array<std::string_view, 11> names{"time",      "ts",        "timestamp", "@timestamp", "t",        "datetime",
                                                   "eventTime", "eventtime", "date",      "asctime",    "Timestamp"};
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

std::optional<time_stamp> time_reader::at_front(std::string_view text) const noexcept {
  if (text.size() < 10) return std::nullopt;
  text = text.substr(0, 64);
  taker in{text};
  reading_of read;
  bool is_one = false;
  if (ascii::is_digit(text[0])) {
    is_one = iso(in, read);
    if (!is_one) {
      in.at = 0;
      read = {};
      is_one = day_first(in, read);
    }
    if (!is_one) return counted(text);
  } else if (std::string_view("IWEFD").find(text[0]) != std::string_view::npos && ascii::is_digit(text[1])) {
    is_one = lettered(in, read);
  } else if (ascii::is_letter(text[0])) {
    is_one = month_first(in, read);
  }
  if (!is_one) return std::nullopt;
  const auto where = [this, &read] {
    if (!read.offset) return zone_.instant_at(read.shown);
    return instant_of(read.shown) - *read.offset * 60 * one_second;
  };
  if (read.has_year) {
    if (!is_sound(read.shown)) return std::nullopt;
    return time_stamp{where(), 0, in.at};
  }
  // The last year in which the time is at most a day after the latest time. For a leap day, there is one within eight years.
  using namespace std::chrono;
  const auto day_there = floor<days>(microseconds(std::max<instant>(latest_, 0)) + microseconds(day_long));
  const int newest = static_cast<int>(year_month_day(sys_days(day_there)).year());
  for (int year = newest + 1; year >= newest - 8; --year) {
    read.shown.year = year;
    if (!is_sound(read.shown)) continue;
    if (const auto found = where(); found <= latest_ + day_long) return time_stamp{found, 0, in.at};
  }
  return std::nullopt;
}

std::optional<time_stamp> time_reader::of_line(std::string_view line) const {
  line = line.substr(0, std::min(line.size(), looked_at_of_json));
  line = line.substr(0, line.find('\n'));
  auto begin = skipped_escapes(line);
  if (begin >= line.size()) return std::nullopt;
  if (line[begin] == '{') {
    std::optional<time_stamp> found;
    const auto look = [&](std::string_view name, std::string_view raw) {
      if (!is_name_of_time(name)) return true;
      const bool is_quoted = raw.starts_with('"');
      const auto value = is_quoted ? raw.substr(1, raw.size() - (raw.size() > 1 && raw.back() == '"' ? 2 : 1)) : raw;
      const auto time = of_value(value);
      if (!time) return true;
      const auto at = static_cast<std::size_t>(value.data() - line.data());
      found = time_stamp{*time, at, at + value.size()};
      return false;
    };
    each_field(line.substr(begin), std::cref(look));
    return found;
  }
  line = line.substr(0, looked_at);
  if (line[begin] == ' ' || line[begin] == '\t') return std::nullopt;
  const auto at = [&](std::size_t where) -> std::optional<time_stamp> {
    auto found = at_front(line.substr(where));
    if (found) {
      found->begin += where;
      found->end += where;
    }
    return found;
  };
  begin += priority_at(line.substr(begin)).size;
  while (begin < line.size() && (line[begin] == '[' || line[begin] == '"' || line[begin] == '(')) ++begin;
  if (auto found = at(begin)) return found;
  // After a few words: a level, a thread, the address of a client.
  constexpr std::size_t most_words = 6;
  constexpr std::size_t most_bytes = 160;
  std::size_t words = 0;
  for (auto i = begin; i < line.size() && i < begin + most_bytes && words < most_words; ++i) {
    const char c = line[i];
    if (c == ' ' || c == '\t') ++words;
    if (c != ' ' && c != '\t' && c != '[' && c != '(' && c != '|' && c != '"' && c != '=') continue;
    if (i + 1 >= line.size() || !ascii::is_digit(line[i + 1])) continue;
    if (c == '=') {
      auto name = line.substr(begin, i - begin);
      name.remove_prefix(std::min(name.find_last_of(" \t") + 1, name.size()));
      if (!is_name_of_time(name)) continue;
      if (auto found = at(i + 1)) return found;
      continue;
    }
    auto found = at(i + 1);
    // In the middle of a line, only times with a colon count: ordinary numbers are frequent there.
    if (found && found->end - found->begin > 10 &&
        line.substr(found->begin, found->end - found->begin).find(':') != line.npos) {
      return found;
    }
  }
  return std::nullopt;
}

std::optional<instant> time_reader::of_value(std::string_view text) const noexcept {
  if (const auto found = at_front(text); found && found->end == text.size()) return found->time;
  // Numbers with an exponent, or with fewer digits than the current time, are not times.
  if (const auto found = counted(text); found && found->end == text.size()) return found->time;
  return std::nullopt;
}

}  // namespace hondana::records
