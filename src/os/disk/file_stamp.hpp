/// The state of a file by its inode, and the version made from it.
#pragma once

#include <sys/stat.h>

#include <chrono>
#include <cstdint>
#include <limits>
#include <string>

#include "base/bytes/digest.hpp"

namespace hondana::disk {

/// The time of what lies further from 1970 than 64 bits of nanoseconds reach; negative for the past.
inline constexpr std::int64_t time_beyond_count = std::numeric_limits<std::int64_t>::max();

/// Changes whenever the file system notices a change of the file. Times are nanoseconds since 1970.
struct stamp {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t size = 0;
  std::int64_t modified = 0;
  std::int64_t changed = 0;  ///< The inode's ctime, which no program can set.

  bool operator==(const stamp&) const = default;
};

[[nodiscard]] stamp stamp_of(const struct stat& facts) noexcept;

/// For tests: the times of all stamps made from now on are rounded down to multiples of so many nanoseconds, so that quick
/// changes leave equal ones. 1: as the system gives them. Threads: any.
void coarsen_times_for_tests(std::int64_t length) noexcept;

[[nodiscard]] bytes::digest digest_of(const stamp& state);

/// The version of a file that is not racy: its stamp's digest in hexadecimal.
[[nodiscard]] std::string version_of(const stamp& state);

/// Whether the file changed within 50 ms of now (or seems to in the future): a further change may leave the stamp as it is,
/// since time stamps move in ticks. On file systems that keep whole seconds, within two seconds. `now` is what `wall_clock`
/// says.
[[nodiscard]] bool is_racy(const stamp& state, std::int64_t now) noexcept;

/// Nanoseconds since 1970.
[[nodiscard]] std::int64_t wall_clock() noexcept;

/// For tests: `wall_clock` says `time` from now on, so that files count as changed just now however slow the machine is. 0: the
/// time of the system. Threads: any.
void set_wall_clock_for_tests(std::int64_t time) noexcept;

}  // namespace hondana::disk
