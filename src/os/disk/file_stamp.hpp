/// Stamps: the state of a file according to its inode. Also the version of a file, which is derived from its stamp.
#pragma once

#include <sys/stat.h>

#include <chrono>
#include <cstdint>
#include <limits>
#include <string>

#include "base/bytes/digest.hpp"

namespace hondana::disk {

/// Represents times that are too late for 64 bits of nanoseconds since 1970. Times that are too early are its negative.
inline constexpr std::int64_t time_out_of_range = std::numeric_limits<std::int64_t>::max();

/// The state of a file. Differs after each change, unless the file is racy (`is_racy`). Times are nanoseconds since 1970.
struct stamp {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t size = 0;
  std::int64_t modified = 0;  ///< mtime
  std::int64_t changed = 0;   ///< The inode's ctime, which programs cannot set.

  bool operator==(const stamp&) const = default;
};

[[nodiscard]] stamp stamp_of(const struct stat& attributes) noexcept;

/// For tests: makes `stamp_of` round times down to multiples of `length` nanoseconds, so that quick changes give equal stamps.
/// 1: no rounding. Threads: any.
void coarsen_times_for_tests(std::int64_t length) noexcept;

[[nodiscard]] bytes::digest digest_of(const stamp& state);

/// The version of a file: the digest of its stamp in hexadecimal. If the file is racy, its content can change without the
/// version.
[[nodiscard]] std::string version_of(const stamp& state);

/// Whether a file is racy: it changed so shortly before `now` that a further change might leave its stamp the same.
/// This is the case for 50 ms after a change, or 2.1 s if the file system stores whole seconds. `now`: a result of
/// `wall_clock`.
[[nodiscard]] bool is_racy(const stamp& state, std::int64_t now) noexcept;

/// The current time in nanoseconds since 1970.
[[nodiscard]] std::int64_t wall_clock() noexcept;

/// For tests: makes `wall_clock` return `time`, so that files are racy even on slow machines. 0: the system time. Threads: any.
void set_wall_clock_for_tests(std::int64_t time) noexcept;

}  // namespace hondana::disk
