/// Words of letters and digits, and the parts of identifiers.
#pragma once

#include <cstddef>
#include <string_view>

#include "text/tokenizer/found.hpp"
#include "text/tokenizer/stemmer.hpp"

namespace hondana::tokenizer {

/// Cuts the word that begins at byte `at` of the folded part, and answers where it ends. `text` is the whole text as it is
/// written.
///
/// Names joined by `_` or `.` (snake_case, main.cpp, 1.2.3) are words as a whole, and their parts are, too; so are CamelCase
/// words and their parts of two characters or more. An apostrophe belongs to the word only before a short ending ('s, 't).
[[nodiscard]] std::size_t take_latin_word(found& into, std::string_view text, std::size_t at, stemmer& by);

}  // namespace hondana::tokenizer
