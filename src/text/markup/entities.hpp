/// Entities of HTML: `&amp;`, `&#12354;`, `&#x3042;`.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hondana::markup {

/// Appends what the entity at `at`, where a `&` stands, means. Returns its bytes; 0: it is none, and stays as it is.
std::size_t decode_entity(std::string_view text, std::size_t at, std::string& out);

[[nodiscard]] std::string decoded(std::string_view text);

}  // namespace hondana::markup
