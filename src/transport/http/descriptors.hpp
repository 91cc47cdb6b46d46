/// File descriptors as the resource that bounds connections.
#pragma once

#include <cstddef>

namespace hondana::transport::http {

/// Raises this process's limit of open descriptors as far as it may without privileges. Affects the whole process and its
/// children: called by programs, never by the library itself. Does nothing where the limit cannot be raised.
void raise_descriptor_limit() noexcept;

/// How many connections fit below the present limit when a quarter of it, at least 128, is kept for files and all else; 16 at
/// least.
[[nodiscard]] std::size_t connections_within_descriptors() noexcept;

}  // namespace hondana::transport::http
