/// Dates and times of calendars and clocks, and time zones: of the host, by offset, by abbreviation and of the time zone
/// database.
#include "sources/logs/records/time_zone.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <ctime>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/ascii/ascii.hpp"
#include "os/disk/file_descriptor.hpp"

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

std::optional<int> time_zone::offset_of(std::string_view abbreviation, int year) const noexcept {
  if (minutes_) return std::nullopt;
  struct known_year {
    struct season {
      std::array<char, 8> name{};
      int minutes = 0;
    };
    int year = -1;
    std::array<season, 2> seasons{};
  };
  thread_local constinit known_year cache{};
  if (cache.year != year) {
    cache.year = year;
    for (std::size_t i = 0; i < 2; ++i) {
      const auto middle = static_cast<std::time_t>(to_instant({year, i == 0 ? 1 : 7, 15, 0, 0, 0, 0}) / one_second);
      std::tm broken_down{};
      auto& season = cache.seasons[i];
      season.name = {};
      if (::localtime_r(&middle, &broken_down) == nullptr || broken_down.tm_zone == nullptr) continue;
      std::strncpy(season.name.data(), broken_down.tm_zone, season.name.size() - 1);
      season.minutes = static_cast<int>(broken_down.tm_gmtoff / 60);
    }
  }
  for (const auto& season : cache.seasons) {
    if (abbreviation == season.name.data()) return season.minutes;
  }
  return std::nullopt;
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

/// Parses the POSIX form of a zone in the footer of a TZif file: "CET-1CEST,M3.5.0,M10.5.0/3".
class posix_zone_parser {
 public:
  explicit posix_zone_parser(std::string_view text) noexcept : text_(text) {}

  /// Sets the members of `rules` about the time after the last transition. False: malformed.
  bool parse_into(zone_rules& rules) {
    if (!skip_name() || !parse_duration(rules.standard_offset_)) return false;
    rules.standard_offset_ = -rules.standard_offset_;
    rules.has_footer_ = true;
    if (text_.empty()) return true;
    auto summer = rules.standard_offset_ + 3600;
    if (!skip_name()) return false;
    if (!text_.starts_with(',')) {
      if (!parse_duration(summer)) return false;
      summer = -summer;
    }
    rules.summer_offset_ = summer;
    return parse_change(rules.changes_[0]) && parse_change(rules.changes_[1]) && text_.empty();
  }

 private:
  bool skip(char c) noexcept {
    if (!text_.starts_with(c)) return false;
    text_.remove_prefix(1);
    return true;
  }
  bool skip_name() noexcept {
    std::size_t size = 0;
    if (skip('<')) {
      size = text_.find('>');
      if (size == std::string_view::npos) return false;
      text_.remove_prefix(size + 1);
      return size >= 3;
    }
    while (size < text_.size() && ascii::is_letter(text_[size])) ++size;
    text_.remove_prefix(size);
    return size >= 3;
  }
  template <class Number>
  bool parse_number(Number& number, Number max) noexcept {
    if (text_.empty() || !ascii::is_digit(text_[0])) return false;
    number = 0;
    while (!text_.empty() && ascii::is_digit(text_[0]) && number <= max) {
      number = number * 10 + (text_[0] - '0');
      text_.remove_prefix(1);
    }
    return number <= max;
  }
  /// "9", "-3:30", "+24:00:00", in seconds.
  bool parse_duration(std::int64_t& seconds) noexcept {
    constexpr std::int64_t max_hours = 167, max_part = 59;
    const bool is_negative = skip('-');
    if (!is_negative) skip('+');
    std::int64_t hours = 0, minutes = 0, rest = 0;
    if (!parse_number(hours, max_hours)) return false;
    if (skip(':') && (!parse_number(minutes, max_part) || (skip(':') && !parse_number(rest, max_part)))) return false;
    seconds = (hours * 60 + minutes) * 60 + rest;
    if (is_negative) seconds = -seconds;
    return true;
  }
  bool parse_change(zone_rules::yearly_change& change) noexcept {
    using kind = zone_rules::yearly_change::day_kind;
    if (!skip(',')) return false;
    if (skip('M')) {
      change.kind = kind::month_week_day;
      if (!parse_number(change.month, 12) || !skip('.') || !parse_number(change.week, 5) || !skip('.') ||
          !parse_number(change.day, 6) || change.month == 0 || change.week == 0)
        return false;
    } else {
      change.kind = skip('J') ? kind::day_without_leap : kind::day_of_year;
      if (!parse_number(change.day, 365) || (change.kind == kind::day_without_leap && change.day == 0)) return false;
    }
    return !skip('/') || parse_duration(change.second_of_day);
  }

  std::string_view text_;
};

std::int64_t zone_rules::yearly_change::in_year(int year) const noexcept {
  std::int64_t date = 0;
  if (kind == day_kind::month_week_day) {
    date = days_since_epoch(year, month, 1);
    const auto weekday = ((date + 4) % 7 + 7) % 7;  // 1970 began on a Thursday
    date += (day - weekday + 7) % 7 + 7 * (week - 1);
    const auto next_month = month == 12 ? days_since_epoch(year + 1, 1, 1) : days_since_epoch(year, month + 1, 1);
    while (date >= next_month) date -= 7;
  } else {
    date = days_since_epoch(year, 1, 1) + day;
    const bool is_leap = std::chrono::year(year).is_leap();
    constexpr int last_february_day = 59;
    if (kind == day_kind::day_without_leap) date += is_leap && day > last_february_day ? 0 : -1;
  }
  return date * 86'400 + second_of_day;
}

std::optional<zone_rules> zone_rules::parse(std::string_view tzif) {
  constexpr std::size_t header_bytes = 44;
  const auto number = [&tzif](std::size_t offset, std::size_t size) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i) value = value << 8 | static_cast<unsigned char>(tzif[offset + i]);
    return size == 4 ? static_cast<std::int64_t>(static_cast<std::int32_t>(value)) : static_cast<std::int64_t>(value);
  };
  if (tzif.size() > max_file_bytes) return std::nullopt;
  // From version 2 on, the data follow a second time, with times of 64 bits.
  for (std::size_t time_bytes = 4;; time_bytes = 8) {
    if (tzif.size() < header_bytes || !tzif.starts_with("TZif")) return std::nullopt;
    std::array<std::size_t, 6> counts{};  // UT indicators, standard indicators, leap seconds, transitions, types, letters
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const auto count = number(20 + 4 * i, 4);
      if (count < 0 || count > static_cast<std::int64_t>(max_file_bytes)) return std::nullopt;
      counts[i] = static_cast<std::size_t>(count);
    }
    const auto [ut_count, standard_count, leap_count, transition_count, type_count, letter_count] = counts;
    const auto types_begin = header_bytes + transition_count * (time_bytes + 1);
    const auto end = types_begin + type_count * 6 + letter_count + leap_count * (time_bytes + 4) + standard_count + ut_count;
    if (end > tzif.size() || type_count == 0) return std::nullopt;
    if (time_bytes == 4 && tzif[4] >= '2') {
      tzif.remove_prefix(end);
      continue;
    }
    zone_rules rules;
    rules.offsets_.push_back(number(types_begin, 4));
    for (std::size_t i = 0; i < transition_count; ++i) {
      const auto type = static_cast<unsigned char>(tzif[header_bytes + transition_count * time_bytes + i]);
      const auto time = number(header_bytes + i * time_bytes, time_bytes);
      if (type >= type_count || (i != 0 && time <= rules.transitions_.back())) return std::nullopt;
      rules.transitions_.push_back(time);
      rules.offsets_.push_back(number(types_begin + type * 6u, 4));
    }
    constexpr std::int64_t max_offset = 26 * 3600;
    if (std::any_of(rules.offsets_.begin(), rules.offsets_.end(),
                    [](std::int64_t offset) { return offset < -max_offset || offset > max_offset; }))
      return std::nullopt;
    auto footer = tzif.substr(end);
    if (time_bytes == 8 && footer.size() > 2 && footer.front() == '\n') {
      footer = footer.substr(1, std::min(footer.find('\n', 1), footer.size()) - 1);
      if (!posix_zone_parser(footer).parse_into(rules)) return std::nullopt;
    }
    return rules;
  }
}

std::int64_t zone_rules::offset_at(std::int64_t time) const noexcept {
  const auto next = std::upper_bound(transitions_.begin(), transitions_.end(), time);
  if (next != transitions_.end() || !has_footer_) return offsets_[static_cast<std::size_t>(next - transitions_.begin())];
  if (!summer_offset_) return standard_offset_;
  using namespace std::chrono;
  const auto date = floor<days>(sys_seconds(seconds(time + standard_offset_)));
  const auto year = static_cast<int>(year_month_day(date).year());
  const auto summer_begin = changes_[0].in_year(year) - standard_offset_;
  const auto summer_end = changes_[1].in_year(year) - *summer_offset_;
  const bool is_summer =
      summer_begin < summer_end ? time >= summer_begin && time < summer_end : time >= summer_begin || time < summer_end;
  return is_summer ? *summer_offset_ : standard_offset_;
}

instant zone_rules::to_utc(const civil_time& local) const noexcept {
  constexpr std::int64_t one_day = 86'400;
  const auto shown = to_instant(local);
  const auto seconds = shown / one_second;
  const auto offset_before = offset_at(seconds - one_day);
  const auto offset_after = offset_at(seconds + one_day);
  const auto offset = offset_at(seconds - offset_before) == offset_before ? offset_before : offset_after;
  return shown - offset * one_second;
}

namespace {

constexpr std::size_t max_abbreviation_bytes = 5;

constexpr std::uint64_t pack(std::string_view letters) noexcept {
  std::uint64_t packed = 0;
  for (const char c : letters) packed = packed << 8 | static_cast<unsigned char>(c);
  return packed;
}

struct zone_abbreviation {
  std::uint64_t name;
  int minutes;

  constexpr zone_abbreviation(std::string_view letters, int hours, int rest = 0) noexcept
      : name(pack(letters)), minutes(hours * 60 + rest) {}
};
/// If zones share an abbreviation, the one that most people use.
constexpr std::array zone_abbreviations{
    zone_abbreviation{"UTC", 0},     zone_abbreviation{"GMT", 0},       zone_abbreviation{"UT", 0},
    zone_abbreviation{"JST", 9},     zone_abbreviation{"EST", -5},      zone_abbreviation{"EDT", -4},
    zone_abbreviation{"CST", -6},    zone_abbreviation{"CDT", -5},      zone_abbreviation{"MST", -7},
    zone_abbreviation{"MDT", -6},    zone_abbreviation{"PST", -8},      zone_abbreviation{"PDT", -7},
    zone_abbreviation{"CET", 1},     zone_abbreviation{"CEST", 2},      zone_abbreviation{"EET", 2},
    zone_abbreviation{"EEST", 3},    zone_abbreviation{"WET", 0},       zone_abbreviation{"WEST", 1},
    zone_abbreviation{"MET", 1},     zone_abbreviation{"MEST", 2},      zone_abbreviation{"BST", 1},
    zone_abbreviation{"IST", 5, 30}, zone_abbreviation{"MSK", 3},       zone_abbreviation{"MSD", 4},
    zone_abbreviation{"SAST", 2},    zone_abbreviation{"EAT", 3},       zone_abbreviation{"WAT", 1},
    zone_abbreviation{"CAT", 2},     zone_abbreviation{"PKT", 5},       zone_abbreviation{"NPT", 5, 45},
    zone_abbreviation{"WIB", 7},     zone_abbreviation{"WITA", 8},      zone_abbreviation{"WIT", 9},
    zone_abbreviation{"ICT", 7},     zone_abbreviation{"HKT", 8},       zone_abbreviation{"SGT", 8},
    zone_abbreviation{"MYT", 8},     zone_abbreviation{"PHT", 8},       zone_abbreviation{"KST", 9},
    zone_abbreviation{"AWST", 8},    zone_abbreviation{"ACST", 9, 30},  zone_abbreviation{"ACDT", 10, 30},
    zone_abbreviation{"AEST", 10},   zone_abbreviation{"AEDT", 11},     zone_abbreviation{"NZST", 12},
    zone_abbreviation{"NZDT", 13},   zone_abbreviation{"AKST", -9},     zone_abbreviation{"AKDT", -8},
    zone_abbreviation{"HST", -10},   zone_abbreviation{"HDT", -9},      zone_abbreviation{"AST", -4},
    zone_abbreviation{"ADT", -3},    zone_abbreviation{"NST", -3, -30}, zone_abbreviation{"NDT", -2, -30},
    zone_abbreviation{"BRT", -3},    zone_abbreviation{"BRST", -2},     zone_abbreviation{"CLT", -4},
    zone_abbreviation{"CLST", -3},   zone_abbreviation{"COT", -5},      zone_abbreviation{"IDT", 3},
    zone_abbreviation{"TRT", 3},     zone_abbreviation{"ChST", 10},
};

std::optional<int> minutes_of_abbreviation(std::string_view letters) noexcept {
  // Other words in capitals follow times more often, such as INFO, ERROR and DEBUG.
  if (letters.size() < 2 || letters.size() > max_abbreviation_bytes ||
      std::string_view("TCKDBA").find(letters.back()) == std::string_view::npos)
    return std::nullopt;
  const auto packed = pack(letters);
  const auto* const match = std::find_if(zone_abbreviations.begin(), zone_abbreviations.end(),
                                         [packed](const zone_abbreviation& entry) { return entry.name == packed; });
  if (match == zone_abbreviations.end()) return std::nullopt;
  return match->minutes;
}

constexpr std::size_t max_zone_name_bytes = 40;

constexpr bool is_zone_name_char(char c) noexcept {
  return ascii::is_letter(c) || ascii::is_digit(c) || c == '_' || c == '/' || c == '-' || c == '+';
}

/// Whether a name can be that of a zone, so that reading its file is worthwhile.
bool is_zone_name(std::string_view name, char next) noexcept {
  constexpr std::array<std::string_view, 16> areas{"Africa/",    "America/", "Antarctica/", "Arctic/", "Asia/", "Atlantic/",
                                                   "Australia/", "Brazil/",  "Canada/",     "Chile/",  "Etc/",  "Europe/",
                                                   "Indian/",    "Mexico/",  "Pacific/",    "US/"};
  if (name.find('/') == std::string_view::npos) return next == ']' && name.size() > 1 && !ascii::is_digit(name.back());
  return name.back() != '/' && name.find("//") == std::string_view::npos &&
         std::any_of(areas.begin(), areas.end(), [name](std::string_view area) { return name.starts_with(area); });
}

std::unique_ptr<const zone_rules> load_zone(const std::string& name) {
  const auto path = "/usr/share/zoneinfo/" + name;
  const disk::handle file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat attributes{};
  if (!file.is_open() || ::fstat(file.get(), &attributes) != 0 || !S_ISREG(attributes.st_mode)) return nullptr;
  std::string contents(zone_rules::max_file_bytes + 1, '\0');
  const auto count = disk::read_at(file.get(), contents.data(), contents.size(), 0);
  if (!count) return nullptr;
  auto rules = zone_rules::parse(std::string_view(contents).substr(0, *count));
  return rules ? std::make_unique<const zone_rules>(std::move(*rules)) : nullptr;
}

/// Null: there is no such zone.
const zone_rules* find_zone(std::string_view name) {
  struct recent_name {
    std::array<char, max_zone_name_bytes + 1> name{};
    const zone_rules* rules = nullptr;
  };
  thread_local constinit std::array<recent_name, 8> cache{};
  auto& recent = cache[std::hash<std::string_view>()(name) % cache.size()];
  if (name == recent.name.data()) return recent.rules;
  recent.name = {};
  std::copy(name.begin(), name.end(), recent.name.begin());
  recent.rules = nullptr;
  // Never destroyed, since threads may outlive static objects. It cannot outgrow the database.
  static auto& mutex = *new std::mutex;
  static auto& zones = *new std::map<std::string, std::unique_ptr<const zone_rules>, std::less<>>;
  const std::lock_guard lock(mutex);
  auto match = zones.find(name);
  if (match == zones.end()) {
    auto loaded = load_zone(std::string(name));
    if (!loaded) return nullptr;
    match = zones.emplace(std::string(name), std::move(loaded)).first;
  }
  recent.rules = match->second.get();
  return recent.rules;
}

}  // namespace

std::optional<parsed_zone> parse_zone(std::string_view text) {
  if (text.empty()) return std::nullopt;
  const auto ends_word = [text](std::size_t offset) { return offset >= text.size() || !ascii::is_alphanumeric(text[offset]); };
  if (!ascii::is_letter(text[0]) || (ascii::to_lower(text[0]) == 'z' && ends_word(1))) {
    const auto offset = parse_offset(text);
    if (!offset || !ends_word(offset->size)) return std::nullopt;
    return parsed_zone{offset->minutes, nullptr, {}, offset->size};
  }
  std::size_t size = 1;
  while (size < text.size() && ascii::is_letter(text[size])) ++size;
  // Usually, this is the level of the record.
  const char next = size < text.size() ? text[size] : '\0';
  const auto minutes = minutes_of_abbreviation(text.substr(0, size));
  if (minutes && !ascii::is_digit(next)) {
    parsed_zone zone{*minutes, nullptr, text.substr(0, size), size};
    if (*minutes != 0) return zone;
    // "GMT+09:00", "UTC+9"
    zone.abbreviation = {};
    if (size + 1 >= text.size() || (next != '+' && next != '-') || !ascii::is_digit(text[size + 1])) return zone;
    const bool has_two_digits = size + 2 < text.size() && ascii::is_digit(text[size + 2]);
    const auto offset = has_two_digits ? parse_offset(text.substr(size))
                                       : std::optional(parsed_offset{(next == '-' ? -60 : 60) * (text[size + 1] - '0'), 2});
    if (!offset || !ends_word(size + offset->size)) return zone;
    zone.minutes = offset->minutes;
    zone.size += offset->size;
    return zone;
  }
  if (!ascii::is_upper(text[0]) || (next != '/' && next != ']' && next != '_' && next != '-')) return std::nullopt;
  while (size < text.size() && size <= max_zone_name_bytes && is_zone_name_char(text[size])) ++size;
  if (size > max_zone_name_bytes || !is_zone_name(text.substr(0, size), size < text.size() ? text[size] : '\0'))
    return std::nullopt;
  const auto* const rules = find_zone(text.substr(0, size));
  if (rules == nullptr) return std::nullopt;
  return parsed_zone{0, rules, {}, size};
}

}  // namespace hondana::records
