/// How else the beginning of a URI may be written.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "search/store.hpp"

namespace hondana::search {

/// The beginning of a URI as it was asked for, and then as sources may list what a read of that spelling reaches: canonical but
/// for its end, the delimiters of its path and query plain, or escaped, its letters as they are or composed (NFC). Each once,
/// five at most. What is no beginning of a URI with its scheme is given back alone. Time: linear.
[[nodiscard]] std::vector<std::string> spellings_of_prefix(std::string_view asked);

/// Of all of them.
[[nodiscard]] std::vector<std::string> in_all_spellings(const std::vector<std::string>& prefixes);

/// Lets only what begins so be found, however it is spelled.
void begin_with(document_filter& which, std::string_view prefix);

}  // namespace hondana::search
