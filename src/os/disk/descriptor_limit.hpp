/// The limit of file descriptors of this process, and errors caused by a lack of descriptors.
#pragma once

#include <cerrno>
#include <cstddef>
#include <system_error>

namespace hondana::disk {

/// Raises the limit of open descriptors of this process to 131 072, or as far as is possible without privileges.
/// Ignores failures. Affects the whole process and its children, so only programs may call it, not the library.
void raise_descriptor_limit() noexcept;

/// The current limit of open descriptors, at most 131 072, because with more, memory would be exhausted first. 0: unknown.
[[nodiscard]] std::size_t descriptor_limit() noexcept;

/// Whether fewer than eight more descriptors can be opened. Operations that need several may have failed for that reason.
/// Threads: any.
[[nodiscard]] bool lacks_descriptors() noexcept;

/// Whether an errno means that descriptors or memory are temporarily exhausted.
[[nodiscard]] constexpr bool is_exhaustion_error(int error) noexcept {
  return error == EMFILE || error == ENFILE || error == ENOMEM;
}

/// Throws std::system_error if `is_exhaustion_error`, so that no caller mistakes the errno for a missing file.
inline void throw_if_exhausted(int error) {
  if (is_exhaustion_error(error)) throw std::system_error(error, std::generic_category());
}

}  // namespace hondana::disk
