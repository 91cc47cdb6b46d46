/// Errors that say nothing of what was asked for.
#pragma once

#include <cerrno>
#include <system_error>

namespace hondana::disk {

/// Whether an errno says that the system lacks descriptors or memory for now.
[[nodiscard]] constexpr bool is_shortage(int error) noexcept { return error == EMFILE || error == ENFILE || error == ENOMEM; }

/// Throws std::system_error for such an error: whoever took it for "there is nothing" would leave things out without a word.
inline void throw_if_short(int error) {
  if (is_shortage(error)) throw std::system_error(error, std::generic_category());
}

}  // namespace hondana::disk
