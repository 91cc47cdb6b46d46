/// Where a repository's objects are.
#pragma once

#include <string>
#include <vector>

#include <hondana/error.hpp>

#include "sources/git/enclosure.hpp"
#include "sources/git/place.hpp"

namespace hondana::git {

/// The objects' folder of a repository and those it borrows from by `info/alternates`, theirs included, each once. Alternates
/// that are not there are left out, as git does. Errors: invalid_argument for those outside, too many and too deep;
/// resource_not_found when there is no folder of its own.
[[nodiscard]] result<std::vector<std::string>> object_folders_of(const enclosure& inside, const std::string& common_folder,
                                                                 const screening_limits& limits);

}  // namespace hondana::git
