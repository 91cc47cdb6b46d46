/// File descriptors as the resource that bounds connections.
#pragma once

#include <cstddef>

namespace hondana::transport::http_server {

/// How many connections fit below the present limit when a quarter of it, at least 128, is kept for files and all else; 16 at
/// least.
[[nodiscard]] std::size_t connections_within_descriptors() noexcept;

/// Whether a connection with this descriptor leaves a quarter of the limit, but no more than 128, to the server's own work: the
/// kernel gives the lowest number that is free.
[[nodiscard]] bool leaves_enough(int descriptor) noexcept;

}  // namespace hondana::transport::http_server
