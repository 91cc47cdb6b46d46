/// Parses the forms in which programs write dates and times.
#include "sources/logs/records/time_forms.hpp"

#include <algorithm>
#include <array>

#include "base/ascii/ascii.hpp"

namespace hondana::records {
namespace {

/// Parses parts of a time from a position on. Its functions return false if the text does not match.
struct time_scanner {
  std::string_view text;
  std::size_t offset = 0;

  [[nodiscard]] char peek(std::size_t ahead = 0) const noexcept {
    return offset + ahead < text.size() ? text[offset + ahead] : '\0';
  }
  [[nodiscard]] std::size_t count_digits() const noexcept {
    std::size_t count = 0;
    while (ascii::is_digit(peek(count))) ++count;
    return count;
  }
  bool skip(char c) noexcept {
    if (peek() != c) return false;
    ++offset;
    return true;
  }
  bool skip(std::string_view word) noexcept {
    if (!text.substr(std::min(offset, text.size())).starts_with(word)) return false;
    offset += word.size();
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
  /// "02" or "2".
  bool parse_one_or_two_digits(int& number) noexcept { return parse_digits(2, number) || parse_digits(1, number); }
  /// "02", " 2" or "2".
  bool parse_day(int& number) noexcept {
    skip(' ');
    return parse_one_or_two_digits(number);
  }
  /// "Jan" or "January", in any case.
  bool parse_month(int& number) noexcept {
    constexpr std::array<std::string_view, 12> names{"january", "february", "march",     "april",   "may",      "june",
                                                     "july",    "august",   "september", "october", "november", "december"};
    constexpr std::size_t abbreviation_bytes = 3;
    const auto pack = [](std::string_view letters) {
      return ascii::to_lower(letters[0]) << 16 | ascii::to_lower(letters[1]) << 8 | ascii::to_lower(letters[2]);
    };
    if (offset + abbreviation_bytes > text.size()) return false;
    const auto abbreviation = pack(text.substr(offset, abbreviation_bytes));
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (abbreviation != pack(names[i])) continue;
      offset += abbreviation_bytes;
      if (ascii::is_letter(peek()) && ascii::starts_with_ignore_case(text.substr(offset), names[i].substr(abbreviation_bytes)))
        offset += names[i].size() - abbreviation_bytes;
      number = static_cast<int>(i) + 1;
      return true;
    }
    return false;
  }
  /// "Fri ", "Fri, " or "Friday, ".
  bool skip_weekday() noexcept {
    constexpr std::string_view names = "MonTueWedThuFriSatSun";
    const auto abbreviation = text.substr(std::min(offset, text.size()), 3);
    const auto position = abbreviation.size() == 3 ? names.find(abbreviation) : std::string_view::npos;
    if (position == std::string_view::npos || position % 3 != 0) return false;
    auto end = offset + 3;
    while (end < text.size() && ascii::is_lower(text[end])) ++end;
    if (end != offset + 3 && !text.substr(offset, end - offset).ends_with("day")) return false;
    offset = end;
    skip(',');
    return skip(' ');
  }
  /// "03:04:05" or "3:04:05", with fractions after '.' or ',', and AM or PM. The seconds may be missing if `may_lack_seconds`.
  bool parse_clock(civil_time& time, bool may_lack_seconds = false) noexcept {
    if (!parse_one_or_two_digits(time.hour) || !skip(':') || !parse_digits(2, time.minute)) return false;
    if (peek() == ':') {
      ++offset;
      if (!parse_digits(2, time.second)) return false;
      parse_fraction(time);
    } else if (!may_lack_seconds) {
      return false;
    }
    return end_clock(time);
  }
  /// After the seconds and their fractions.
  bool end_clock(civil_time& time) noexcept {
    parse_half_of_day(time);
    return !ascii::is_digit(peek()) && (peek() != ':' || !ascii::is_digit(peek(1)));
  }
  /// "030405", also with fractions.
  bool parse_compact_clock(civil_time& time) noexcept {
    if (!parse_digits(2, time.hour) || !parse_digits(2, time.minute) || !parse_digits(2, time.second)) return false;
    parse_fraction(time);
    return !ascii::is_digit(peek());
  }
  void parse_fraction(civil_time& time) noexcept {
    const char separator = peek();
    if ((separator != '.' && separator != ',' && separator != ':') || !ascii::is_digit(peek(1))) return;
    // After a colon, only milliseconds with all their digits.
    if (separator == ':' &&
        (!ascii::is_digit(peek(2)) || !ascii::is_digit(peek(3)) || ascii::is_digit(peek(4)) || peek(4) == ':'))
      return;
    ++offset;
    int scale = 100'000;
    for (std::size_t count = 0; ascii::is_digit(peek()) && count < 12; ++count, ++offset) {
      time.microsecond += (peek() - '0') * scale;
      scale /= 10;
    }
  }
  /// "AM" or "PM", after a blank or none.
  void parse_half_of_day(civil_time& time) noexcept {
    const auto letter = static_cast<unsigned char>(peek(peek() == ' ' ? 1 : 0));
    if (letter < 0x80 && letter != 'A' && letter != 'P' && letter != 'a' && letter != 'p') return;
    auto ahead = *this;
    if (!ahead.skip(' ') && !ahead.skip("\u202F")) ahead.skip("\u00A0");
    const auto is_afternoon = ahead.skip_half_of_day();
    if (!is_afternoon) return;
    set_half_of_day(time, *is_afternoon);
    offset = ahead.offset;
  }
  /// Whether it is "PM". nullopt: there is none.
  std::optional<bool> skip_half_of_day() noexcept {
    if (skip("午前")) return false;
    if (skip("午後")) return true;
    const char letter = ascii::to_lower(peek());
    if (letter != 'a' && letter != 'p') return std::nullopt;
    const bool is_dotted = peek(1) == '.' && peek(3) == '.';
    if (ascii::to_lower(peek(is_dotted ? 2 : 1)) != 'm' || ascii::is_alphanumeric(peek(is_dotted ? 4 : 2))) return std::nullopt;
    offset += is_dotted ? 4 : 2;
    return letter == 'p';
  }
  static void set_half_of_day(civil_time& time, bool is_afternoon) noexcept {
    if (time.hour > 12) return;
    time.hour = time.hour % 12 + (is_afternoon ? 12 : 0);
  }
};

/// A zone, optionally after a blank. Another zone in letters may follow an offset: "+0900 JST".
void parse_written_zone(time_scanner& scanner, written_time& written) {
  const char first = scanner.peek(scanner.peek() == ' ' ? 1 : 0);
  if (first != '+' && first != '-' && !ascii::is_upper(first) && first != 'z') return;
  const auto begin = scanner.offset;
  const bool has_blank = scanner.skip(' ');
  const auto parsed = parse_zone(scanner.text.substr(scanner.offset));
  // After a blank, a number is an offset only if it has two digits at least.
  if (!parsed) {
    scanner.offset = begin;
    return;
  }
  written.zone = parsed;
  const bool is_offset = !ascii::is_letter(scanner.peek());
  scanner.offset += parsed->size;
  if (!is_offset || !has_blank || scanner.peek() != ' ' || !ascii::is_upper(scanner.peek(1))) return;
  if (const auto name = parse_zone(scanner.text.substr(scanner.offset + 1))) scanner.offset += 1 + name->size;
}

/// "年" and the like, after which blanks may follow.
bool skip_unit(time_scanner& scanner, std::string_view unit) noexcept {
  if (!scanner.skip(unit)) return false;
  scanner.skip(' ');
  return true;
}

/// The clock after "2026年1月2日": "03:04:05", "3時4分5秒", also after 午前 or 午後.
bool parse_japanese_clock(time_scanner& scanner, civil_time& local) noexcept {
  scanner.skip(' ');
  const auto is_afternoon = scanner.skip_half_of_day();
  scanner.skip(' ');
  auto ahead = scanner;
  if (ahead.parse_clock(local, true)) {
    scanner = ahead;
  } else {
    if (!scanner.parse_one_or_two_digits(local.hour) || !skip_unit(scanner, "時") ||
        !scanner.parse_one_or_two_digits(local.minute) || !skip_unit(scanner, "分"))
      return false;
    ahead = scanner;
    if (ahead.parse_one_or_two_digits(local.second) && ahead.skip("秒")) scanner = ahead;
  }
  if (is_afternoon) time_scanner::set_half_of_day(local, *is_afternoon);
  return true;
}

/// The most frequent form, with all its digits: "2026-01-02T03:04:05". False: the text has another one; the results are
/// undefined.
bool parse_fixed_width(time_scanner& scanner, civil_time& local) noexcept {
  constexpr std::size_t size = 19;
  if (scanner.text.size() < scanner.offset + size) return false;
  const auto* const text = scanner.text.data() + scanner.offset;
  if ((text[4] != '-' && text[4] != '/') || text[7] != text[4] || text[13] != ':' || text[16] != ':' ||
      (text[10] != 'T' && text[10] != ' ' && text[10] != '_'))
    return false;
  unsigned highest = 0;
  const auto digit = [&](std::size_t position) {
    const auto value = static_cast<unsigned>(static_cast<unsigned char>(text[position])) - '0';
    highest = std::max(highest, value);
    return static_cast<int>(value);
  };
  const auto pair = [&](std::size_t position) { return digit(position) * 10 + digit(position + 1); };
  const civil_time parsed{pair(0) * 100 + pair(2), pair(5), pair(8), pair(11), pair(14), pair(17), 0};
  if (highest > 9) return false;
  local = parsed;
  scanner.offset += size;
  scanner.parse_fraction(local);
  return scanner.end_clock(local);
}

/// "2026-01-02T03:04:05", also with a blank or '_', with slashes or dots, or "2026-01-02-03.04.05.678901".
bool parse_year_first(time_scanner& scanner, written_time& written) {
  auto& local = written.local;
  if (!scanner.parse_digits(4, local.year)) return false;
  const char separator = scanner.peek();
  if (separator == '-' || separator == '/' || separator == '.') {
    scanner.skip(separator);
    if (!scanner.parse_one_or_two_digits(local.month) || !scanner.skip(separator) ||
        !scanner.parse_one_or_two_digits(local.day))
      return false;
    if (separator == '-' && scanner.peek() == '-' && scanner.peek(3) == '.' && scanner.peek(6) == '.') {
      scanner.skip('-');
      if (!scanner.parse_digits(2, local.hour) || !scanner.skip('.') || !scanner.parse_digits(2, local.minute) ||
          !scanner.skip('.') || !scanner.parse_digits(2, local.second))
        return false;
      scanner.parse_fraction(local);
    } else {
      if (!scanner.skip(' ') && !scanner.skip('T') && !scanner.skip('t') && !scanner.skip('_') && !scanner.skip('-'))
        return false;
      if (!ascii::is_digit(scanner.peek()) ? !parse_japanese_clock(scanner, local) : !scanner.parse_clock(local, true))
        return false;
    }
  } else if (skip_unit(scanner, "年")) {
    if (!scanner.parse_one_or_two_digits(local.month) || !skip_unit(scanner, "月") ||
        !scanner.parse_one_or_two_digits(local.day) || !scanner.skip("日") || !parse_japanese_clock(scanner, local))
      return false;
  } else {
    return false;
  }
  parse_written_zone(scanner, written);
  return true;
}

/// "20260102T030405", "20260102 03:04:05", "20260102030405", and with years of two digits "260102  3:04:05", "260102 030405".
bool parse_without_separators(time_scanner& scanner, written_time& written, std::size_t digits) {
  auto& local = written.local;
  written.has_century = digits != 6;
  if (!scanner.parse_digits(written.has_century ? 4 : 2, local.year) || !scanner.parse_digits(2, local.month) ||
      !scanner.parse_digits(2, local.day))
    return false;
  if (digits == 14) {
    if (!scanner.parse_compact_clock(local)) return false;
  } else {
    if (!scanner.skip(' ') && !scanner.skip('T') && (!written.has_century || (!scanner.skip('-') && !scanner.skip('_'))))
      return false;
    if (!written.has_century) scanner.skip(' ');
    if (scanner.count_digits() == 6 ? !scanner.parse_compact_clock(local) : !scanner.parse_clock(local)) return false;
  }
  parse_written_zone(scanner, written);
  return true;
}

/// Forms that begin with one or two digits; see `parse_written_time`.
bool parse_short_number_first(time_scanner& scanner, written_time& written) {
  auto& local = written.local;
  const auto begin = scanner.offset;
  int first = 0;
  if (!scanner.parse_one_or_two_digits(first)) return false;
  const char separator = scanner.peek();
  if (static_cast<unsigned char>(separator) >= 0x80 &&
      skip_unit(scanner, "月")) {  // "1月 2, 2026 3:04:05 午前", of java.util.logging
    local.month = first;
    if (!scanner.parse_one_or_two_digits(local.day) || !scanner.skip(',') || !scanner.skip(' ') ||
        !scanner.parse_digits(4, local.year) || !scanner.skip(' ') || !scanner.parse_clock(local))
      return false;
  } else if (separator != '/' && separator != '-' && separator != ' ' && separator != '.') {
    return false;
  } else if (scanner.skip(separator); ascii::is_letter(scanner.peek())) {
    local.day = first;
    if (!scanner.parse_month(local.month) || !scanner.skip(separator) || !scanner.parse_digits(4, local.year)) return false;
    scanner.skip(',');
    if ((!scanner.skip(':') && !scanner.skip(' ')) || !scanner.parse_clock(local)) return false;
  } else if (separator == '.') {
    local.day = first;
    if (!scanner.parse_one_or_two_digits(local.month) || !scanner.skip('.') || !scanner.parse_digits(4, local.year))
      return false;
    scanner.skip(',');
    if (!scanner.skip(' ') || !scanner.parse_clock(local, true)) return false;
  } else if (separator == '/' && begin + 3 == scanner.offset) {
    local.year = first;
    written.has_century = false;
    if (!scanner.parse_digits(2, local.month) || !scanner.skip('/') || !scanner.parse_digits(2, local.day) ||
        !scanner.skip(' ') || !scanner.parse_clock(local))
      return false;
  } else if (separator == '-') {
    local.month = first;
    written.has_year = false;
    // Without milliseconds, the day could also come first.
    if (!scanner.parse_digits(2, local.day) || !scanner.skip(' ') || scanner.peek(8) != '.' || !scanner.parse_clock(local))
      return false;
  } else {
    return false;
  }
  parse_written_zone(scanner, written);
  return true;
}

/// "Jan 2 03:04:05": syslog. With a weekday before and a year after it, optionally after a zone: ctime, Apache's error log,
/// date.
bool parse_month_first(time_scanner& scanner, written_time& written) {
  auto& local = written.local;
  const bool has_weekday = scanner.skip_weekday();
  if (has_weekday && ascii::is_digit(scanner.peek())) return parse_short_number_first(scanner, written);
  if (!scanner.parse_month(local.month) || !scanner.skip(' ') || !scanner.parse_day(local.day)) return false;
  scanner.skip(',');
  if (!scanner.skip(' ')) return false;
  if (auto ahead = scanner; ahead.parse_digits(4, local.year) && (ahead.skip(' ') || ahead.skip(", "))) {
    scanner = ahead;  // "Jan  2 2026 03:04:05"
    if (!scanner.parse_clock(local)) return false;
    parse_written_zone(scanner, written);
    return true;
  }
  if (!scanner.parse_clock(local)) return false;
  parse_written_zone(scanner, written);
  auto ahead = scanner;
  int year = 0;
  // After a syslog time, four digits belong to the message. After a ctime time, which has a weekday, they are the year.
  written.has_year =
      has_weekday && ahead.skip(' ') && ahead.parse_digits(4, year) && !ascii::is_digit(ahead.peek()) && year >= 1970;
  if (written.has_year) {
    scanner = ahead;
    local.year = year;
  }
  return true;
}

/// "I0102 03:04:05.123456": glog and klog.
bool parse_glog(time_scanner& scanner, written_time& written) noexcept {
  auto& local = written.local;
  ++scanner.offset;
  written.has_year = scanner.count_digits() == 8;  // with --log_year_in_prefix
  if (written.has_year && !scanner.parse_digits(4, local.year)) return false;
  return scanner.parse_digits(2, local.month) && scanner.parse_digits(2, local.day) && scanner.skip(' ') &&
         scanner.parse_clock(local);
}

bool parse_any_form(time_scanner& scanner, written_time& written) {
  const char first = scanner.peek();
  if (ascii::is_digit(first)) {
    if (parse_fixed_width(scanner, written.local)) {
      parse_written_zone(scanner, written);
      return true;
    }
    scanner.offset = 0;
    written.local = {};
    const auto digits = scanner.count_digits();
    if (digits == 4) return parse_year_first(scanner, written);
    if (digits <= 2) return parse_short_number_first(scanner, written);
    return (digits == 6 || digits == 8 || digits == 14) && parse_without_separators(scanner, written, digits);
  }
  if (std::string_view("IWEFD").find(first) != std::string_view::npos && ascii::is_digit(scanner.peek(1)))
    return parse_glog(scanner, written);
  return ascii::is_letter(first) && parse_month_first(scanner, written);
}

}  // namespace

bool parse_written_time(std::string_view text, written_time& written) {
  constexpr std::size_t min_bytes = 12, max_bytes = 96;
  if (text.size() < min_bytes) return false;
  time_scanner scanner{text.substr(0, max_bytes)};
  if (!parse_any_form(scanner, written)) return false;
  written.size = scanner.offset;
  return true;
}

}  // namespace hondana::records
