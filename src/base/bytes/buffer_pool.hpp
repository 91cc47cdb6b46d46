/// A pool of string buffers for each thread, so that messages reuse allocated memory.
#pragma once

#include <cstddef>
#include <string>

namespace hondana::bytes {

/// Caps for one thread: the number of buffers in its pool, and the capacity of each in bytes.
inline constexpr std::size_t most_spare_texts = 16;
inline constexpr std::size_t longest_spare_text = std::size_t{16} << 10;

/// Returns an empty string that reuses a pooled buffer of the calling thread, if one is available.
/// Threads: any; each thread has its own pool.
[[nodiscard]] std::string take_spare_text() noexcept;
/// Returns the buffer of `text` to the pool of the calling thread.
/// Frees it instead when the pool is full or the buffer is longer than `longest_spare_text`.
void keep_spare_text(std::string text) noexcept;

}  // namespace hondana::bytes
