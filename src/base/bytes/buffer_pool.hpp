/// Text buffers of each thread, kept for the next message.
#pragma once

#include <cstddef>
#include <string>

namespace hondana::bytes {

/// How many a thread keeps, and the longest of them.
inline constexpr std::size_t most_spare_texts = 16;
inline constexpr std::size_t longest_spare_text = std::size_t{16} << 10;

/// An empty text with a buffer of this thread, if there is one. Threads: any, each has its own.
[[nodiscard]] std::string take_spare_text() noexcept;
/// Keeps the buffer of `text` for `take_spare_text` on this thread. One too many, or a longer one, is freed.
void keep_spare_text(std::string text) noexcept;

}  // namespace hondana::bytes
