/// Writing a text to its end, whatever interrupts.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <string_view>

namespace hondana::disk {

/// Errors: errno; then a part may have been written. 0: none.
[[nodiscard]] inline int write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto count = ::write(file, bytes.data(), bytes.size());
    if (count == 0) return ENOSPC;
    if (count < 0 && errno != EINTR) return errno;
    if (count > 0) bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return 0;
}

}  // namespace hondana::disk
