/// Names of facts that every provider can state in `resource::metadata`.
#pragma once

#include <string_view>

namespace hondana::inline v0 {

/// The owner of a resource: an e-mail address, or a name if there is no address. Several owners are separated by
/// `between_owners`. Searches can filter by owner (docs/search.md).
inline constexpr std::string_view owner_fact = "dev.hondana/owner";
inline constexpr std::string_view between_owners = ", ";

}  // namespace hondana::inline v0
