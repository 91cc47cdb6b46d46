/// The limit of file descriptors of this process, and errors caused by a lack of descriptors.
#pragma once

#include <cerrno>
#include <cstddef>
#include <system_error>

namespace hondana::disk {

/// Raises the limit of open descriptors of this process as far as is possible without privileges.
/// Affects the whole process and its children. Called by programs, never by the library. Does nothing if the limit cannot be
/// raised.
void raise_descriptor_limit() noexcept;

/// The current limit, at most 131 072. If the configured limit is the system-wide maximum, memory is exhausted earlier.
[[nodiscard]] std::size_t descriptor_limit() noexcept;

/// Whether at most a few descriptors are left. Operations that need several at once may have failed for that reason.
/// Threads: any.
[[nodiscard]] bool lacks_descriptors() noexcept;

/// Whether `error` means that descriptors or memory are temporarily exhausted.
[[nodiscard]] constexpr bool is_exhaustion_error(int error) noexcept {
  return error == EMFILE || error == ENFILE || error == ENOMEM;
}

/// Throws std::system_error for such an error, so that no caller mistakes it for a missing file.
inline void throw_if_exhausted(int error) {
  if (is_exhaustion_error(error)) throw std::system_error(error, std::generic_category());
}

}  // namespace hondana::disk
