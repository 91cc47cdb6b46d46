/// URIs of `search:///`, taken apart.
#pragma once

#include <string>
#include <string_view>

#include <hondana/error.hpp>

#include "search/index/engine.hpp"

namespace hondana::search {

inline constexpr std::string_view search_uri = "search:///";
inline constexpr std::string_view search_template =
    "search:///{?q,limit,lang,scheme,uriPrefix,minPriority,audience,modifiedSince,owner}";
inline constexpr std::string_view waiting_template = "search:///{?wait}";

/// What a URI asks.
struct address {
  question what{};     ///< With an empty `q`: how the index is doing.
  bool waits = false;  ///< `?wait=complete`: when all is indexed that is there now.
};

/// `uri` is canonical. Errors: resource_not_found for a path; invalid_argument for parameters that there are not, are there
/// twice or have a value that they cannot have: "limit: expected a number from 1 to 50."
[[nodiscard]] result<address> parse_address(std::string_view uri);

}  // namespace hondana::search
