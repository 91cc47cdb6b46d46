/// How many descriptors this process may have, and the errors of a process that has run out of them.
#pragma once

#include <cerrno>
#include <cstddef>
#include <system_error>

namespace hondana::disk {

/// Raises this process's limit of open descriptors as far as it may without privileges. Affects the whole process and its
/// children: called by programs, never by the library itself. Does nothing where the limit cannot be raised.
void raise_descriptor_limit() noexcept;

/// The limit as it is now, 131 072 at most: where it is that of the whole system, memory ends before it.
[[nodiscard]] std::size_t descriptor_limit() noexcept;

/// Whether none, or no more than a few, are left for other files: what needs several at once may have failed for that. Threads:
/// any.
[[nodiscard]] bool lacks_descriptors() noexcept;

/// Whether `error` means that there are no descriptors or no memory at the moment.
[[nodiscard]] constexpr bool is_shortage(int error) noexcept { return error == EMFILE || error == ENFILE || error == ENOMEM; }

/// Throws std::system_error for such an error, so that no caller mistakes it for a file that does not exist.
inline void throw_if_short(int error) {
  if (is_shortage(error)) throw std::system_error(error, std::generic_category());
}

}  // namespace hondana::disk
