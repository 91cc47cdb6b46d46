/// Finds the part of a log file that can hold records of a time range, by bisection.
#pragma once

#include <cstdint>
#include <optional>

#include <hondana/error.hpp>

#include "sources/logs/records/log_backend.hpp"
#include "sources/logs/records/opened_files.hpp"

namespace hondana::records {

/// A part of a file.
struct byte_range {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  bool has_backward_times = false;  ///< The search found a time that is earlier than one before it.
};

/// Finds the part of a file that can contain records of [since, until): the whole file if it is small. Otherwise samples 64
/// positions, bisects between two of them, and extends the result by `time_slack_bytes` at both ends.
/// Records that are out of order are included if they are within this distance, or if a sampled position is among them. Errors:
/// source_unavailable, cancelled, timed_out.
[[nodiscard]] result<byte_range> find_time_range(const log_file& file, const std::optional<instant>& since,
                                                 const std::optional<instant>& until, const request_context& context);

inline constexpr std::uint64_t time_slack_bytes = 1u << 20;

/// The assumed maximum by which the times in a file go backwards, in microseconds.
inline constexpr instant order_slack = 3'600'000'000ll;

/// Whether the first time in a file is at least `order_slack` after `time`, so that all its records are later than `time`.
/// Ignores a first time long after the file's last modification, since it comes from a wrong clock.
[[nodiscard]] bool begins_after(const log_file& file, instant time);

/// Finds the first time in the beginning of a file; nullopt if there is none. `front`: `opened_file::front`.
[[nodiscard]] std::optional<instant> find_first_time(std::string_view front, const timestamp_parser& timestamps);

}  // namespace hondana::records
