/// How texts are made before they are indexed: what was made otherwise is not found any more, and made anew.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "server/catalog/catalog.hpp"

namespace hondana::search {

/// Of what masks secrets, and of what cuts texts into passages. Raised whenever the same text would become another one, so that
/// what older ones made is made anew.
inline constexpr int version_of_masking = 3;
inline constexpr int version_of_cutting = 2;

/// How the texts of a resource are made now: by whom its secrets are masked, as the source says that has it, and by which
/// versions of the two. At most 300 bytes. Empty: nobody serves it.
[[nodiscard]] std::string making_of(const catalog::catalog& in, std::string_view uri);
/// All ways in which texts are made now.
[[nodiscard]] std::vector<std::string> makings_of(const catalog::catalog& in);

}  // namespace hondana::search
