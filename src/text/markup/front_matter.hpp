/// YAML at the front of a document.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "text/markup/pieces.hpp"

namespace hondana::markup {

/// The front matter as a piece whose `end` is where the text begins behind it; its heading is the member `title`, if that is
/// a text. Nothing: there is none, since no line closes it within 64 KiB, or what stands there is YAML, but no mapping: two
/// rules with a paragraph between them. YAML that is broken is front matter all the same.
[[nodiscard]] std::optional<piece> front_matter_of(std::string_view text);

}  // namespace hondana::markup
