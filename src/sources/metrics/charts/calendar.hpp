/// Days and clocks, of milliseconds that are counted as if there were one zone only.
#pragma once

#include <string>

#include "sources/metrics/series/sample.hpp"

namespace hondana::charts {

inline constexpr series::duration one_second = 1000;
inline constexpr series::duration one_minute = 60 * one_second;
inline constexpr series::duration one_hour = 60 * one_minute;
inline constexpr series::duration one_day = 24 * one_hour;

/// The greatest multiple of `of` that is not greater.
[[nodiscard]] constexpr series::instant floor_to(series::instant value, series::duration of) noexcept {
  const auto rest = value % of;
  return value - (rest < 0 ? rest + of : rest);
}

[[nodiscard]] std::string date_text(series::instant shown);   ///< "2026-11-24"
[[nodiscard]] std::string clock_text(series::instant shown);  ///< "09:30", "09:30:05", "09:30:05.250"
/// Months since the first of year 0, and the instant that one of them begins.
[[nodiscard]] series::instant month_of(series::instant shown) noexcept;
[[nodiscard]] series::instant month_begin(series::instant month) noexcept;

}  // namespace hondana::charts
