/// Formats sizes, times and numbers for people.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace hondana::cli {

/// "0 B", "1023 B", "1.0 KiB", "64 MiB", "1.5 GiB": at most four characters and the unit.
[[nodiscard]] std::string human_size(std::uint64_t bytes);
/// "0 s", "59 s", "1 min", "47 h", "2 days": rounded down.
[[nodiscard]] std::string human_age(std::chrono::seconds age);
/// "2026-11-22 04:15" in the local time zone.
[[nodiscard]] std::string human_time(std::chrono::sys_time<std::chrono::milliseconds> time);
/// "2026-11-22T04:15:33.120Z", in UTC.
[[nodiscard]] std::string iso_time(std::chrono::sys_time<std::chrono::milliseconds> time);
/// "0.9", "1", "0.25": the shortest text that parses to the same number.
[[nodiscard]] std::string short_number(double number);

}  // namespace hondana::cli
