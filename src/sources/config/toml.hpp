/// TOML texts as tables with lines.
#pragma once

#include <string>
#include <string_view>

#include "sources/config/section.hpp"

namespace hondana::config {

/// Parses a TOML document. Errors: invalid_argument, "FILE:LINE: what is wrong"; nesting beyond 32 is wrong too.
[[nodiscard]] result<section> parse_toml(std::string_view text, const std::string& file);

}  // namespace hondana::config
