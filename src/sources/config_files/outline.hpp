/// Texts of configuration without their values, for those that cannot be read.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "text/located/format.hpp"

namespace hondana::config_files {

/// Writes asterisks over all that may be a value: over what stands behind a key, and over lines that are no comments, sections,
/// brackets or keys, or that may go on with the value of a line before. Where it is not certain that something is a key, it is
/// masked. Indentation, dashes of lists, ends of lines and lengths stay. Returns how many places were masked; nothing for a
/// text that is neither UTF-8 nor UTF-16 with a mark of its order, which stays as it is. Time: linear.
[[nodiscard]] std::optional<std::size_t> mask_values(std::string& text, located::format how);

}  // namespace hondana::config_files
