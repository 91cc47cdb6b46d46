/// A pool of string buffers for each thread, so that messages reuse allocated memory.
#pragma once

#include <cstddef>
#include <string>

namespace hondana::bytes {

/// The maximum number of buffers in the pool of one thread.
inline constexpr std::size_t max_pooled_buffers = 16;
/// The maximum capacity of each buffer in a pool.
inline constexpr std::size_t max_pooled_bytes = std::size_t{16} << 10;

/// Returns an empty string, which reuses a buffer from the pool of the calling thread if there is one.
[[nodiscard]] std::string acquire_buffer() noexcept;
/// Adds `buffer`, which may be any string, to the pool of the calling thread.
/// Frees it instead if the pool is full or the buffer's capacity exceeds `max_pooled_bytes`.
void release_buffer(std::string buffer) noexcept;

}  // namespace hondana::bytes
