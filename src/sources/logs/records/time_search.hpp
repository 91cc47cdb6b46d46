/// Finds the part of a log file that can hold records of a time range, by bisection.
#pragma once

#include <cstdint>
#include <optional>

#include <hondana/error.hpp>

#include "sources/logs/records/log.hpp"
#include "sources/logs/records/opened_files.hpp"

namespace hondana::records {

struct stretch {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  bool goes_back = false;  ///< The clock was found to go back on the way.
};

/// Looks at 64 places far apart, and between two of them by halving: the first place where it is `since` or later, and the last
/// where it is not yet `until`, with `time_slack_bytes` more at either end. Records out of their order are inside when they are
/// that near, or when one of the places that were looked at lies among them. Errors: source_unavailable, cancelled, timed_out.
[[nodiscard]] result<stretch> stretch_of(const member& in, const std::optional<instant>& since,
                                         const std::optional<instant>& until, const call& by);

inline constexpr std::uint64_t time_slack_bytes = 1u << 20;

inline constexpr instant order_slack = 3'600'000'000ll;

/// Whether a member begins so far behind a time, by `order_slack`, that nothing in it is before it. A first time behind the
/// file's last change is a wrong clock's, and says nothing.
[[nodiscard]] bool begins_behind(const member& in, instant when);

/// The first time that the front of a file tells, before it is unpacked.
[[nodiscard]] std::optional<instant> first_time(std::string_view front, const time_reader& times);

}  // namespace hondana::records
