/// One answer that is far bigger than the memory it may cost.
#pragma once

#include <cstdint>
#include <string>

#include "../process/child.hpp"

namespace stdio_bench {

struct big_cost {
  double seconds = 0;
  double processor_seconds = 0;  ///< Of the server.
  double growth_mebibytes = 0;   ///< The most that was resident, less what was before.
};

/// Reads one resource of at least `content_bytes` bytes from a server that has been greeted. A slow peer takes 64 KiB every 2
/// ms of the first 64 MiB. Throws when the answer is shorter than its content in base64.
[[nodiscard]] big_cost read_big(const bench::child& server, const std::string& uri, std::uint64_t content_bytes, bool is_slow);

/// Writes a file of `bytes` bytes that look like chance. Throws when it does not fit.
void write_big(const std::string& path, std::uint64_t bytes);

}  // namespace stdio_bench
