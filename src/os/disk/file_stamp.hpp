/// The state of a file according to its inode, and the version derived from it.
#pragma once

#include <sys/stat.h>

#include <chrono>
#include <cstdint>
#include <limits>
#include <string>

#include "base/bytes/digest.hpp"

namespace hondana::disk {

/// Represents times that do not fit into 64 bits of nanoseconds since 1970; negated for the past.
inline constexpr std::int64_t time_out_of_range = std::numeric_limits<std::int64_t>::max();

/// The state of a file: differs after every change that the file system records. Times are nanoseconds since 1970.
struct stamp {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t size = 0;
  std::int64_t modified = 0;
  std::int64_t changed = 0;  ///< The inode's ctime, which programs cannot set.

  bool operator==(const stamp&) const = default;
};

[[nodiscard]] stamp stamp_of(const struct stat& attributes) noexcept;

/// For tests: rounds the times of all new stamps down to multiples of `length` nanoseconds, so that quick changes give equal
/// stamps. 1: no rounding. Threads: any.
void coarsen_times_for_tests(std::int64_t length) noexcept;

[[nodiscard]] bytes::digest digest_of(const stamp& state);

/// The version of a file that is not racy: the digest of its stamp in hexadecimal.
[[nodiscard]] std::string version_of(const stamp& state);

/// Whether the file changed less than 50 ms before `now`, or after it. For file systems that store whole seconds: two seconds.
/// File times advance in ticks, so another change may leave the stamp of such a file unchanged. `now`: the result of
/// `wall_clock`.
[[nodiscard]] bool is_racy(const stamp& state, std::int64_t now) noexcept;

/// The current time in nanoseconds since 1970.
[[nodiscard]] std::int64_t wall_clock() noexcept;

/// For tests: fixes the result of `wall_clock` to `time`, so that files count as just changed even on slow machines.
/// 0: the system time. Threads: any.
void set_wall_clock_for_tests(std::int64_t time) noexcept;

}  // namespace hondana::disk
