/// Sheets one after the other, as a child writes them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

#include "text/rendering/rendering.hpp"

namespace hondana::rendering {

/// A line of JSON (name, bytes, cut), so many bytes, and a line feed.
[[nodiscard]] std::string line_of(const sheet& of);
/// The other way round. What ends in the middle of a sheet gives as much of it as is there, cut; at most 1000 sheets. Errors:
/// source_unavailable: these are no sheets.
[[nodiscard]] result<std::vector<sheet>> sheets_in(std::string_view text);

}  // namespace hondana::rendering
