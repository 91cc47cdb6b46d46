/// System errors that say nothing about a file: the process lacks a resource.
#pragma once

#include <cerrno>
#include <system_error>

namespace hondana::disk {

/// Whether `error` means that there are no descriptors or no memory at the moment.
[[nodiscard]] constexpr bool is_shortage(int error) noexcept { return error == EMFILE || error == ENFILE || error == ENOMEM; }

/// Throws std::system_error for such an error, so that no caller mistakes it for a file that does not exist.
inline void throw_if_short(int error) {
  if (is_shortage(error)) throw std::system_error(error, std::generic_category());
}

}  // namespace hondana::disk
