/// Recognizes timestamps in log lines.
#include "sources/logs/records/timestamp.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <limits>
#include <string>

#include "base/ascii/ascii.hpp"
#include "sources/logs/records/fields.hpp"
#include "sources/logs/records/time_forms.hpp"

namespace hondana::records {
namespace {

constexpr instant one_day = 86'400 * one_second;

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
  constexpr std::array<std::string_view, 24> names{"time",
                                                   "ts",
                                                   "timestamp",
                                                   "@timestamp",
                                                   "t",
                                                   "@t",
                                                   "datetime",
                                                   "eventTime",
                                                   "eventtime",
                                                   "event_time",
                                                   "date",
                                                   "asctime",
                                                   "Timestamp",
                                                   "Time",
                                                   "DateTime",
                                                   "timeMillis",
                                                   "instant",
                                                   "timeUnixNano",
                                                   "observedTimeUnixNano",
                                                   "time_unix_nano",
                                                   "time_iso8601",
                                                   "time_local",
                                                   "__REALTIME_TIMESTAMP",
                                                   "resourceLogs"};
  const bool is_likely =
      !name.empty() && (ascii::to_lower(name[0]) == 't' || std::string_view("@deaioD_r").find(name[0]) != name.npos);
  return is_likely && std::find(names.begin(), names.end(), name) != names.end();
}

/// The length of what Cisco's devices write before a time: a sequence number, and a mark of a clock that is not synchronized.
/// "000123: *".
std::size_t skip_cisco_prefix(std::string_view line) noexcept {
  std::size_t size = 0;
  while (size < line.size() && ascii::is_digit(line[size])) ++size;
  if (size != 0) size = line.substr(size).starts_with(": ") ? size + 2 : 0;
  if (size < line.size() && (line[size] == '*' || line[size] == '.')) ++size;
  return size;
}

std::string_view without_quotes(std::string_view raw) noexcept {
  if (!raw.starts_with('"')) return raw;
  return raw.substr(1, raw.size() - (raw.size() > 1 && raw.back() == '"' ? 2 : 1));
}

}  // namespace

std::optional<instant> timestamp_parser::resolve(const written_time& written) const {
  auto local = written.local;
  const auto to_utc = [&] {
    if (!written.zone) return zone_.to_utc(local);
    if (written.zone->rules != nullptr) return written.zone->rules->to_utc(local);
    auto minutes = written.zone->minutes;
    if (!written.zone->abbreviation.empty())
      minutes = zone_.offset_of(written.zone->abbreviation, local.year).value_or(minutes);
    return to_instant(local) - minutes * 60 * one_second;
  };
  if (written.has_year) {
    constexpr int century = 2000;
    if (!written.has_century) local.year += century;
    if (!is_valid(local)) return std::nullopt;
    const auto time = to_utc();
    return written.has_century || time <= latest_ + one_day ? std::optional(time) : std::nullopt;
  }
  // The last year in which the time is at most a day after the latest time. For a leap day, there is one within eight years.
  using namespace std::chrono;
  const auto latest_day = floor<days>(microseconds(std::max<instant>(latest_, 0)) + microseconds(one_day));
  const int newest = static_cast<int>(year_month_day(sys_days(latest_day)).year());
  for (int year = newest + 1; year >= newest - 8; --year) {
    local.year = year;
    if (!is_valid(local)) continue;
    if (const auto time = to_utc(); time <= latest_ + one_day) return time;
  }
  return std::nullopt;
}

std::optional<timestamp> timestamp_parser::parse_prefix(std::string_view text) const {
  if (written_time written; parse_written_time(text, written)) {
    const auto time = resolve(written);
    return time ? std::optional(timestamp{*time, 0, written.size}) : std::nullopt;
  }
  return parse_epoch(text);
}

std::optional<instant> timestamp_parser::parse_json_value(std::string_view raw) const {
  if (!raw.starts_with('{')) return parse_value(without_quotes(raw));
  if (auto date = find_field(raw, "$date")) {
    if (date->starts_with('{')) date = find_field(*date, "$numberLong");
    return date ? parse_value(*date) : std::nullopt;
  }
  for (const auto& [seconds_name, nanoseconds_name] :
       {std::pair("seconds", "nanos"), std::pair("epochSecond", "nanoOfSecond")}) {
    const auto seconds = find_field(raw, seconds_name);
    const auto time = seconds ? parse_value(*seconds) : std::nullopt;
    if (!time) continue;
    const auto nanoseconds = find_field(raw, nanoseconds_name).value_or("0");
    constexpr std::size_t max_fraction_digits = 9;
    instant subsecond = 0;
    if (nanoseconds.size() <= max_fraction_digits && std::all_of(nanoseconds.begin(), nanoseconds.end(), ascii::is_digit))
      for (const char c : nanoseconds) subsecond = subsecond * 10 + (c - '0');
    return *time + subsecond / 1000;
  }
  return std::nullopt;
}

std::optional<instant> timestamp_parser::find_otlp_time(std::string_view line) const {
  for (const auto* const path :
       {"resourceLogs.scopeLogs.logRecords.timeUnixNano", "resourceLogs.scopeLogs.logRecords.observedTimeUnixNano"}) {
    const auto value = find_field(line, path);
    const auto time = value ? parse_value(*value) : std::nullopt;
    if (time) return time;
  }
  return std::nullopt;
}

std::optional<timestamp> timestamp_parser::find_in_json(std::string_view line, std::size_t begin) const {
  std::optional<timestamp> match;
  const auto inspect = [&](std::string_view name, std::string_view raw) {
    if (!is_time_field(name)) return true;
    const auto time = name == "resourceLogs" ? find_otlp_time(line.substr(begin)) : parse_json_value(raw);
    if (!time) return true;
    const auto value = without_quotes(raw);
    const auto value_begin = static_cast<std::size_t>(value.data() - line.data());
    match = timestamp{*time, value_begin, value_begin + value.size()};
    return false;
  };
  for_each_field(line.substr(begin), std::cref(inspect));
  return match;
}

std::optional<timestamp> timestamp_parser::find_after_words(std::string_view line, std::size_t begin) const {
  constexpr std::size_t max_words = 6;
  constexpr std::size_t max_bytes = 160;
  std::size_t words = 0;
  for (auto i = begin; i < line.size() && i < begin + max_bytes && words < max_words; ++i) {
    const char c = line[i];
    if (c == ' ' || c == '\t') ++words;
    if (c != ' ' && c != '\t' && c != '[' && c != '(' && c != '|' && c != '"' && c != '=' && c != ':') continue;
    auto value_begin = i + 1;
    if (c == ':' && value_begin < line.size() && line[value_begin] == '[') ++value_begin;
    if (value_begin >= line.size() || !ascii::is_digit(line[value_begin])) continue;
    const bool is_field = c == '=' || c == ':';
    if (is_field) {
      auto name = line.substr(begin, i - begin);
      name.remove_prefix(std::min(name.find_last_of(" \t") + 1, name.size()));
      if (!is_time_field(name)) continue;
    }
    auto candidate = parse_prefix(line.substr(value_begin));
    if (!candidate) continue;
    candidate->begin += value_begin;
    candidate->end += value_begin;
    // In the middle of a line, only times with a colon count: ordinary numbers are frequent there.
    const auto written = line.substr(candidate->begin, candidate->end - candidate->begin);
    if (is_field || (written.size() > 10 && written.find(':') != std::string_view::npos)) return candidate;
    // "- 1117838570 2005.06.03 R02-M1-N0": after a label of an alert, with the date again.
    const auto rest = line.substr(candidate->end);
    constexpr std::size_t date_end = 11;
    if (words == 1 && c == ' ' && rest.size() > date_end && rest[0] == ' ' && rest[5] == '.' && rest[8] == '.' &&
        rest[date_end] == ' ')
      return candidate;
  }
  return std::nullopt;
}

std::optional<timestamp> timestamp_parser::find_in_line(std::string_view line) const {
  line = line.substr(0, std::min(line.size(), max_json_bytes));
  const auto text = line;
  line = line.substr(0, line.find('\n'));
  auto begin = skip_escapes(line);
  if (begin >= line.size()) return std::nullopt;
  if (line[begin] == '{') return find_in_json(line, begin);
  line = line.substr(0, max_line_bytes);
  if (line[begin] == ' ' || line[begin] == '\t') return std::nullopt;
  begin += parse_priority(line.substr(begin)).size;
  while (begin < line.size() && (line[begin] == '[' || line[begin] == '"' || line[begin] == '(')) ++begin;
  const auto parse_at = [&](std::size_t offset) -> std::optional<timestamp> {
    auto parsed = parse_prefix(line.substr(offset));
    if (parsed) {
      parsed->begin += offset;
      parsed->end += offset;
    }
    return parsed;
  };
  if (auto leading = parse_at(begin)) return leading;
  if (const auto cisco = skip_cisco_prefix(line.substr(begin)); cisco != 0) {
    if (auto parsed = parse_at(begin + cisco)) return parsed;
  }
  if (auto parsed = find_after_words(line, begin)) return parsed;
  if (!line.starts_with("# User@Host:")) return std::nullopt;
  constexpr std::string_view statement = "\nSET timestamp=";
  const auto position = text.find(statement);
  if (position == std::string_view::npos || text.substr(0, position).find("\n# User@Host:") != std::string_view::npos)
    return std::nullopt;
  const auto value_begin = position + statement.size();
  const auto parsed = parse_epoch(text.substr(value_begin));
  if (!parsed) return std::nullopt;
  return timestamp{parsed->time, value_begin, value_begin + parsed->end};
}

std::optional<instant> timestamp_parser::parse_value(std::string_view text) const {
  if (const auto timestamp = parse_prefix(text); timestamp && timestamp->end == text.size()) return timestamp->time;
  // Numbers with an exponent, or with fewer digits than the current time, are not times.
  if (const auto epoch_time = parse_epoch(text); epoch_time && epoch_time->end == text.size()) return epoch_time->time;
  return std::nullopt;
}

}  // namespace hondana::records
