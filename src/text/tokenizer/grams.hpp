/// Runs of characters without spaces as overlapping pieces.
#pragma once

#include <cstddef>

#include "text/tokenizer/found.hpp"

namespace hondana::tokenizer {

/// Three characters at every one of bytes [begin, end) of the folded part, and the shorter ends: a text of any length is found
/// by what it begins with. In queries the ends are left out, and a run of one or two characters is a prefix.
void add_trigrams(found& into, std::size_t begin, std::size_t end);
/// Two characters at every one but the last; one that is alone as it is.
void add_bigrams(found& into, std::size_t begin, std::size_t end);

}  // namespace hondana::tokenizer
