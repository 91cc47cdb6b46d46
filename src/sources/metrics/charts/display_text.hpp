/// Makes text from outside safe to display: control characters, invisible characters and invalid UTF-8.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hondana::charts {

/// Makes a text safe to display. Linear time.
/// * Control characters become their symbols (U+2400 and following). Invalid UTF-8 and noncharacters become U+FFFD.
/// * Invisible characters that can hide or reorder text are removed: directional marks, embeddings, overrides and isolates. So
/// are tags, soft hyphens and invisible operators. Joiners stay, since scripts and emoji need them.
/// * If there are more than `max_characters` code points, those in the middle become `…`.
/// The result is valid UTF-8 of characters that XML 1.0 allows, at most four bytes each.
[[nodiscard]] std::string display_text(std::string_view text, std::size_t max_characters = 400);

}  // namespace hondana::charts
