/// Makes text from outside safe to display: control characters, invisible characters and invalid UTF-8.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hondana::charts {

/// Control characters become their pictures (U+2400 ff.), what is no UTF-8 or no character becomes U+FFFD. What is invisible
/// and can hide or turn text is dropped: directional marks, embeddings, overrides and isolates, tags, soft hyphens, invisible
/// operators. Joiners stay, since scripts and emoji need them. Of more than `most` characters those in the middle become `…`.
/// The result is well-formed UTF-8 of characters that XML 1.0 admits, at most four bytes each. Linear time.
[[nodiscard]] std::string shown_text(std::string_view text, std::size_t most = 400);

}  // namespace hondana::charts
