/// How else the beginning of a URI may be written.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hondana::catalog {

/// The beginning of a URI as it was asked for, and then as sources may list what a read of that spelling reaches: canonical but
/// for its end, the delimiters of its path and query plain, or escaped, its letters as they are or composed (NFC). Each once,
/// five at most. What is no beginning of a URI with its scheme is given back alone. Time: linear.
[[nodiscard]] std::vector<std::string> spellings_of_prefix(std::string_view asked);

/// Of all of them.
[[nodiscard]] std::vector<std::string> in_all_spellings(const std::vector<std::string>& prefixes);

}  // namespace hondana::catalog
