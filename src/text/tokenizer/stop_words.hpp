/// Words that would find everything.
#pragma once

#include <string_view>

namespace hondana::tokenizer {

/// Whether a folded English word is one of those.
[[nodiscard]] bool is_english_stop_word(std::string_view word) noexcept;
/// Whether a Japanese base form is one of those; what its part of speech shows is not listed.
[[nodiscard]] bool is_japanese_stop_word(std::string_view base) noexcept;

}  // namespace hondana::tokenizer
