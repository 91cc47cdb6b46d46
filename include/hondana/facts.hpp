/// Facts that any provider may state among `resource::metadata`, and what comes of them.
#pragma once

#include <string_view>

namespace hondana::inline v0 {

/// Whose a resource is: a text with the e-mail address of who owns it, or the name where there is no address; of several
/// owners each, with `between_owners` between. Searches can ask for one of them (docs/search.md).
inline constexpr std::string_view owner_fact = "dev.hondana/owner";
inline constexpr std::string_view between_owners = ", ";

}  // namespace hondana::inline v0
