/// Reading a stretch of a file to its end, whatever interrupts.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>

#include <tl/expected.hpp>

namespace hondana::disk {

/// Fills `into` with up to `size` bytes from `offset`; fewer only where the file ends. Errors: errno.
[[nodiscard]] inline tl::expected<std::size_t, int> read_at(int file, char* into, std::size_t size, std::uint64_t offset) {
  std::size_t filled = 0;
  while (filled < size) {
    const auto count = ::pread(file, into + filled, size - filled, static_cast<off_t>(offset + filled));
    if (count > 0) {
      filled += static_cast<std::size_t>(count);
    } else if (count == 0) {
      break;
    } else if (errno != EINTR) {
      return tl::unexpected(errno);
    }
  }
  return filled;
}

}  // namespace hondana::disk
