/// The tables [search] and [search.embeddings].
#pragma once

#include <optional>

#include <hondana/error.hpp>
#include <hondana/search.hpp>

#include "sources/config/section.hpp"

namespace hondana::config {

/// Reads and checks `[search]` and `[search.embeddings]`, and makes paths absolute. Errors: invalid_argument, "FILE:LINE:
/// search.KEY: what was expected".
[[nodiscard]] result<search_options> read_search(section table);

/// Whether both are absent, or equal except for `search_options::log`.
[[nodiscard]] bool is_equivalent(const std::optional<search_options>& left, const std::optional<search_options>& right);

}  // namespace hondana::config
