/// How many columns of a terminal a text takes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hondana::cli {

/// Columns of UTF-8 text: 2 for wide characters (East Asian, emoji), 0 for combining marks and what joins. A byte that is not
/// well-formed takes 1.
[[nodiscard]] std::size_t width_of(std::string_view text);

/// `text` in at most `columns`; where something had to go there is an ellipsis, at the end.
[[nodiscard]] std::string cut_at_end(std::string_view text, std::size_t columns);
/// The same with the ellipsis in the middle, so that both ends are seen.
[[nodiscard]] std::string cut_in_middle(std::string_view text, std::size_t columns);

}  // namespace hondana::cli
