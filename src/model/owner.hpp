/// Whose a resource is, as sources say it.
#pragma once

#include <string_view>

namespace hondana::model {

/// Of `resource::metadata`: a text with the e-mail address of who owns it, or the name where there is no address. Of several
/// owners each, with `between_owners` between. Any source may say it, and searches can ask for it.
inline constexpr std::string_view owner_fact = "dev.hondana/owner";
inline constexpr std::string_view between_owners = ", ";

}  // namespace hondana::model
