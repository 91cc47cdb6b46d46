/// Times, and which fields are asked for.
#include "sources/gdrive/drive/entries.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>

namespace hondana::drive {
namespace {

constexpr std::string_view googles_types = "application/vnd.google-apps.";

/// Digits alone; -1 for anything else.
int digits_in(std::string_view text) noexcept {
  int out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size() && out >= 0 && text.front() != '-' ? out : -1;
}

/// "Z", "+09:00", "-03:30".
std::optional<std::chrono::minutes> offset_in(std::string_view text) noexcept {
  if (text == "Z" || text == "z") return std::chrono::minutes(0);
  if (text.size() != 6 || (text[0] != '+' && text[0] != '-') || text[3] != ':') return {};
  const int hours = digits_in(text.substr(1, 2)), minutes = digits_in(text.substr(4, 2));
  if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59) return {};
  const std::chrono::minutes out(hours * 60 + minutes);
  return text[0] == '+' ? out : -out;
}

}  // namespace

bool file::is_native() const noexcept {
  return mime_type.starts_with(googles_types) && mime_type != folder_type && mime_type != shortcut_type;
}

std::string_view file_fields() noexcept {
  return "id,name,mimeType,parents,driveId,size,version,headRevisionId,md5Checksum,modifiedTime,createdTime,"
         "owners(displayName,emailAddress),webViewLink,resourceKey,"
         "shortcutDetails(targetId,targetMimeType,targetResourceKey),trashed,starred,capabilities(canDownload)";
}

std::optional<time> time_of(std::string_view text) noexcept {
  if (text.size() < 20 || text.size() > 40 || text[4] != '-' || text[7] != '-' || (text[10] != 'T' && text[10] != 't') ||
      text[13] != ':' || text[16] != ':')
    return {};
  const int year = digits_in(text.substr(0, 4)), month = digits_in(text.substr(5, 2)), day = digits_in(text.substr(8, 2)),
            hour = digits_in(text.substr(11, 2)), minute = digits_in(text.substr(14, 2)),
            second = digits_in(text.substr(17, 2));
  if (year < 0 || month < 0 || day < 0 || hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60)
    return {};
  const std::chrono::year_month_day date(std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day)));
  if (!date.ok()) return {};
  text.remove_prefix(19);
  int thousandths = 0;
  if (text.front() == '.') {
    const auto end = std::min(text.find_first_not_of("0123456789", 1), text.size());
    if (end == 1 || end > 10) return {};
    std::string three(text.substr(1, std::min<std::size_t>(end - 1, 3)));
    three.resize(3, '0');
    thousandths = digits_in(three);
    text.remove_prefix(end);
  }
  const auto offset = offset_in(text);
  if (!offset) return {};
  return time(std::chrono::sys_days(date) + std::chrono::hours(hour) + std::chrono::minutes(minute) +
              std::chrono::seconds(second) + std::chrono::milliseconds(thousandths) - *offset);
}

std::string spelled(time when) {
  const auto day = std::chrono::floor<std::chrono::days>(when);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss<std::chrono::milliseconds> of_day(when - day);
  char out[64];
  std::snprintf(out, sizeof out, "%04d-%02u-%02uT%02d:%02d:%02d.%03dZ", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                static_cast<int>(of_day.hours().count()), static_cast<int>(of_day.minutes().count()),
                static_cast<int>(of_day.seconds().count()), static_cast<int>(of_day.subseconds().count()));
  return out;
}

}  // namespace hondana::drive
