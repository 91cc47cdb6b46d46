/// Keys that every provider can use in `resource::metadata`.
#pragma once

#include <string_view>

namespace hondana::inline v0 {

/// The owner of a resource: an e-mail address, or a name if there is no address. Searches can filter by owner (docs/search.md).
inline constexpr std::string_view owner_metadata_key = "dev.hondana/owner";
/// Between several owners in the value of `owner_metadata_key`.
inline constexpr std::string_view owner_separator = ", ";

}  // namespace hondana::inline v0
