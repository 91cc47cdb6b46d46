/// What is said of sheets that there are not, and who may read those that there are.
#pragma once

#include <string>
#include <vector>

#include <hondana/error.hpp>
#include <hondana/provider.hpp>

#include "providers/gdrive/fetching.hpp"

namespace hondana::gdrive {

/// The error for a sheet that a workbook of this name does not have. It names those that there are, but not to peers with
/// rules.
[[nodiscard]] tl::unexpected<failure> no_such_sheet(const std::string& name, const std::vector<part>& sheets,
                                                    const std::string& asked, const caller& who);
/// Whether a part of a file may be read, however the file was found: rules go by the URI of the list, `whole.uri`.
[[nodiscard]] bool may_read_sheet(const caller& who, const resource& whole, const std::string& sheet);
[[nodiscard]] bool may_read_original(const caller& who, resource whole);

}  // namespace hondana::gdrive
