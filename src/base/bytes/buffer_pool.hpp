/// A pool of string buffers for each thread, so that messages reuse allocated memory.
#pragma once

#include <cstddef>
#include <string>

namespace hondana::bytes {

/// Caps for one thread: the number of buffers in its pool, and the capacity of each in bytes.
inline constexpr std::size_t max_pooled_buffers = 16;
inline constexpr std::size_t max_pooled_bytes = std::size_t{16} << 10;

/// Returns an empty string that reuses a pooled buffer of the calling thread, if one is available.
/// Threads: any; each thread has its own pool.
[[nodiscard]] std::string acquire_buffer() noexcept;
/// Returns `buffer` to the pool of the calling thread.
/// Frees it instead when the pool is full or the buffer's capacity exceeds `max_pooled_bytes`.
void release_buffer(std::string buffer) noexcept;

}  // namespace hondana::bytes
