/// What a store has kept when the process that wrote it is killed.
#pragma once

#include <cstdint>
#include <string>

namespace metrics_bench {

struct kills {
  int times = 0;
  std::uint64_t acknowledged = 0;  ///< Batches of which `append` had said that they are kept.
  std::uint64_t lost = 0;          ///< Of these.
  std::uint64_t more = 0;          ///< Batches that were kept although nobody had been told yet.
  std::uint64_t partial = 0;       ///< Batches of which not all series are there, or with other values.
  int set_aside = 0;               ///< Times that the file was found damaged.
  std::uint64_t samples = 0;       ///< In the store at the end.
  double slowest_open = 0;         ///< Milliseconds.
};

/// A child process appends batch after batch to the store at `path` and tells each one that is kept; it is killed with SIGKILL
/// at some moment, the store is opened and compared with what was told, and the next child goes on in it. Throws.
[[nodiscard]] kills kill_again_and_again(const std::string& path, int times);

}  // namespace metrics_bench
