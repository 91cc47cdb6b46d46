/// Names of what a line of code declares.
#pragma once

#include <string_view>

#include "search/chunking/cutters.hpp"

namespace hondana::chunking {

/// Empty: the line declares nothing that a simple look finds. `content`: the line without its indentation; `is_outermost`: it
/// has none. Looks at the first 400 bytes.
[[nodiscard]] std::string_view declared_in(family how, std::string_view content, bool is_outermost) noexcept;

/// Whether a line only closes what has been opened before, or goes on with it: `}`, `);`, `end`.
[[nodiscard]] bool is_closing(std::string_view content) noexcept;

}  // namespace hondana::chunking
