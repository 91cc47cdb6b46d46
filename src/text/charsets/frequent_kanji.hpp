/// Kanji that Japanese texts are mostly made of.
#pragma once

namespace hondana::charsets {

/// Whether a character is one of several hundred that newspapers, and documents of computers, write most.
[[nodiscard]] bool is_frequent_kanji(char32_t c) noexcept;

}  // namespace hondana::charsets
