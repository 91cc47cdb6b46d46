/// How aggregations are spelled, in `agg` and in PromQL.
#pragma once

#include <array>
#include <string_view>

#include "sources/metrics/series/aggregation.hpp"

namespace hondana::series {

struct name_over_time {
  over_time what;
  std::string_view name;
};
/// `raw` is another name of `last`.
inline constexpr std::array<name_over_time, 11> names_over_time{{{over_time::last, "last"},
                                                                 {over_time::last, "raw"},
                                                                 {over_time::rate, "rate"},
                                                                 {over_time::increase, "increase"},
                                                                 {over_time::irate, "irate"},
                                                                 {over_time::delta, "delta"},
                                                                 {over_time::avg, "avg_over_time"},
                                                                 {over_time::min, "min_over_time"},
                                                                 {over_time::max, "max_over_time"},
                                                                 {over_time::sum, "sum_over_time"},
                                                                 {over_time::count, "count_over_time"}}};

struct name_across {
  across what;
  std::string_view name;
};
inline constexpr std::array<name_across, 8> names_across{{{across::sum, "sum"},
                                                          {across::avg, "avg"},
                                                          {across::min, "min"},
                                                          {across::max, "max"},
                                                          {across::count, "count"},
                                                          {across::stddev, "stddev"},
                                                          {across::topk, "topk"},
                                                          {across::bottomk, "bottomk"}}};

[[nodiscard]] inline std::string_view name_of(over_time what) noexcept {
  for (const auto& one : names_over_time)
    if (one.what == what) return one.name;
  return "last";
}
[[nodiscard]] inline std::string_view name_of(across what) noexcept {
  for (const auto& one : names_across)
    if (one.what == what) return one.name;
  return "";
}

}  // namespace hondana::series
