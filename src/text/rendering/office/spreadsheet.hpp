/// Renders Excel workbooks, with their number formats.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace hondana::rendering {

enum class number_kind : std::uint8_t { plain, percent, date, time, date_and_time };

/// How a workbook displays a number, as far as it matters for text.
struct number_format {
  number_kind kind = number_kind::plain;
  std::size_t decimals = 0;  ///< Decimal places of percents.
};

/// Interprets a format code ("yyyy/m/d", "0.0%", "[$-411]ggge\"年\"m\"月\"").
[[nodiscard]] number_format parse_number_format(std::string_view code);
/// Returns the built-in format with this number. Source: ECMA-376 part 1, 18.8.30.
[[nodiscard]] number_format builtin_format(std::size_t number);
/// Returns a number as displayed: "2024-04-01", "12:30:00", "12.5%", "0.1". Dates count days. `uses_1904_dates`: the date
/// system of workbooks from older Macs.
[[nodiscard]] std::string display_number(double number, const number_format& format, bool uses_1904_dates);
/// Returns the column index, from 0, of a cell reference: "AB12" → 27. `no_column` if the reference is malformed.
[[nodiscard]] std::size_t parse_column(std::string_view reference) noexcept;
inline constexpr std::size_t no_column = static_cast<std::size_t>(-1);

}  // namespace hondana::rendering
