/// How many files this process may have open, and whether that is used up.
#pragma once

#include <cstddef>

namespace hondana::disk {

/// Raises this process's limit of open descriptors as far as it may without privileges. Affects the whole process and its
/// children: called by programs, never by the library itself. Does nothing where the limit cannot be raised.
void raise_descriptor_limit() noexcept;

/// The limit as it is now, 131 072 at most: where it is that of the whole system, memory ends before it.
[[nodiscard]] std::size_t descriptor_limit() noexcept;

/// Whether none, or no more than a few, are left for other files: what needs several at once may have failed for that. Threads:
/// any.
[[nodiscard]] bool lacks_descriptors() noexcept;

}  // namespace hondana::disk
