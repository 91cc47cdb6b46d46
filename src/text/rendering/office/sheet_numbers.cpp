/// Codes of formats, days since 1899, and letters of columns.
#include "text/rendering/office/sheet_numbers.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>

namespace hondana::rendering {
namespace {

/// A format's code without what is shown as it is: quoted, escaped, padding, and conditions in brackets but for times that
/// have run ("[h]:mm").
std::string letters_of(std::string_view code) {
  std::string out;
  for (std::size_t i = 0; i < code.size() && code[i] != ';'; ++i) {
    const char c = code[i];
    if (c == '"') {
      i = std::min(code.find('"', i + 1), code.size());
    } else if (c == '\\' || c == '_' || c == '*') {
      ++i;
    } else if (c == '[') {
      const auto end = std::min(code.find(']', i), code.size());
      const auto inner = code.substr(i + 1, end - i - 1);
      if (!inner.empty() && inner.find_first_not_of("hHmMsS") == std::string_view::npos) out += inner;
      i = end;
    } else {
      out += static_cast<char>(c >= 'A' && c <= 'Z' ? c | 0x20 : c);
    }
  }
  return out;
}

std::string plain_number(double number) {
  std::array<char, 64> text{};
  // As many digits as spreadsheets keep.
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), number, std::chars_format::general, 15);
  return error == std::errc() ? std::string(text.data(), end) : std::string();
}

std::string percent(double number, std::size_t decimals) {
  std::array<char, 64> text{};
  const int count =
      std::snprintf(text.data(), text.size(), "%.*f%%", static_cast<int>(std::min<std::size_t>(decimals, 10)), number * 100);
  return count > 0 && static_cast<std::size_t>(count) < text.size() ? std::string(text.data()) : plain_number(number);
}

std::string date_text(std::int64_t days, bool counts_from_1904) {
  using namespace std::chrono;
  // Workbooks of 1900 have a 29 February of that year, which never was.
  const auto base = counts_from_1904 ? sys_days(year(1904) / 1 / 1)
                    : days < 60      ? sys_days(year(1899) / 12 / 31)
                                     : sys_days(year(1899) / 12 / 30);
  const year_month_day on{base + std::chrono::days(days)};
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02u-%02u", static_cast<int>(on.year()), static_cast<unsigned>(on.month()),
                static_cast<unsigned>(on.day()));
  return text.data();
}

std::string time_text(std::int64_t seconds) {
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), "%02lld:%02lld:%02lld", static_cast<long long>(seconds / 3600),
                static_cast<long long>(seconds / 60 % 60), static_cast<long long>(seconds % 60));
  return text.data();
}

}  // namespace

number_format format_in(std::string_view code) {
  const auto letters = letters_of(code);
  if (letters == "general" || letters.find('@') != std::string::npos) return {};
  const auto has = [&letters](std::string_view any) { return letters.find_first_of(any) != std::string::npos; };
  const bool has_time = has("hs");
  // "e" and "g" are years of eras, unless they write a power of ten.
  const bool has_date = has("yd") || (has("m") && !has_time) || (has("ge") && !has("0#?"));
  if (has_date && !has("0#?")) return {has_time ? number_kind::date_and_time : number_kind::date, 0};
  if (has_time) return {has_date ? number_kind::date_and_time : number_kind::time, 0};
  if (!has("%")) return {};
  const auto dot = letters.find('.');
  if (dot == std::string::npos) return {number_kind::percent, 0};
  const auto end = std::min(letters.find_first_not_of("0#?", dot + 1), letters.size());
  return {number_kind::percent, end - dot - 1};
}

number_format builtin_format(std::size_t number) {
  if (number == 9) return {number_kind::percent, 0};
  if (number == 10) return {number_kind::percent, 2};
  if (number == 22) return {number_kind::date_and_time, 0};
  if ((number >= 18 && number <= 21) || (number >= 45 && number <= 47) || (number >= 32 && number <= 35))
    return {number_kind::time, 0};
  if ((number >= 14 && number <= 17) || (number >= 27 && number <= 31) || number == 36 || (number >= 50 && number <= 58))
    return {number_kind::date, 0};
  return {};
}

std::string shown_number(double number, const number_format& as, bool counts_from_1904) {
  constexpr double last_day = 2'958'466;  // of the year 9999
  if (as.kind == number_kind::percent) return percent(number, as.decimals);
  if (as.kind == number_kind::plain || !(number >= 0 && number < last_day)) return plain_number(number);
  const auto seconds = static_cast<std::int64_t>(std::llround(number * 86'400));
  if (as.kind == number_kind::time) return time_text(seconds);
  const auto date = date_text(seconds / 86'400, counts_from_1904);
  return as.kind == number_kind::date ? date : date + ' ' + time_text(seconds % 86'400);
}

std::size_t column_of(std::string_view reference) noexcept {
  std::size_t column = 0;
  for (std::size_t i = 0; i < reference.size(); ++i) {
    const char c = reference[i];
    if (c >= '0' && c <= '9') return i == 0 ? no_column : column - 1;
    if (c < 'A' || c > 'Z' || i > 3) return no_column;
    column = column * 26 + static_cast<std::size_t>(c - 'A') + 1;
  }
  return no_column;
}

}  // namespace hondana::rendering
