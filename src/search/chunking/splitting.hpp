/// Where a text is cut that is too long: sentences, lines, words, characters.
#pragma once

#include <cstddef>
#include <string_view>

namespace hondana::chunking {

/// Behind the sentence that begins at `from`, with the marks that close it (`."`, `。」`) and without the space behind; the end
/// of the text, if no sentence ends before. Looks at no more than `most` bytes; then it is `from + most` at a character.
[[nodiscard]] std::size_t sentence_end(std::string_view text, std::size_t from, std::size_t most) noexcept;

/// At most `most` bytes from `from`, at the best place in the last three quarters of these: a sentence's end, a line's, white
/// space, or what separates words in Japanese and in data; else between two characters, and not before a combining mark.
[[nodiscard]] std::size_t best_cut(std::string_view text, std::size_t from, std::size_t most) noexcept;

}  // namespace hondana::chunking
