/// Parses the forms in which programs write dates and times.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "sources/logs/records/time_zone.hpp"

namespace hondana::records {

/// A date and time as written. It may not exist in the calendar.
struct written_time {
  civil_time local{};
  std::optional<parsed_zone> zone{};
  bool has_year = true;
  bool has_century = true;  ///< False: the year has two digits, and the order of the date's parts is uncertain.
  std::size_t size = 0;     ///< Length in the text.
};
/// Parses a date and time at the beginning of a text, in one of these forms. False: there is none, and `written`, which must be
/// new, has no defined contents.
///
/// * ISO 8601 and RFC 3339: with T or a blank, '.' or ',' before fractions, also without separators or seconds. Also with
/// slashes
///   or dots, parts of one digit, and as "2026年1月2日 3時4分5秒".
/// * "02/Jan/2026:03:04:05 +0900", "2 Jan 2026 03:04:05", "02.01.2026 03:04:05", "Fri, 02 Jan 2026 03:04:05 GMT".
/// * "Jan  2 03:04:05", "Fri Jan  2 03:04:05 JST 2026", "January 2, 2026 3:04:05 PM".
/// * "26/01/02 03:04:05", "260102  3:04:05", "260102 030405", "01-02 03:04:05.678", "I0102 03:04:05.678901".
/// The hours of a clock may have one digit, and AM, PM, 午前 or 午後.
[[nodiscard]] bool parse_written_time(std::string_view text, written_time& written);

}  // namespace hondana::records
