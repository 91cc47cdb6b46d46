/// What is said of sheets that there are not, and who may read those that there are.
#pragma once

#include <string>
#include <vector>

#include <hondana/error.hpp>
#include <hondana/provider.hpp>
#include <hondana/resource.hpp>

#include "sources/gdrive/fetching.hpp"

namespace hondana::gdrive {

/// The error for a sheet that a workbook of this name does not have. It names those that there are, but not to peers with
/// rules.
[[nodiscard]] tl::unexpected<failure> no_such_sheet(const std::string& name, const std::vector<part>& sheets,
                                                    const std::string& asked, const caller& who);
/// Whether a part of a file may be read, however the file was found: rules go by `wholes`, the entries of the file, of which
/// all have to let it be read.
[[nodiscard]] bool may_read_sheet(const caller& who, const std::vector<resource>& wholes, const std::string& sheet);
[[nodiscard]] bool may_read_sheets(const caller& who, const std::vector<resource>& wholes, const std::vector<std::string>& all);
[[nodiscard]] bool may_read_original(const caller& who, const std::vector<resource>& wholes);

}  // namespace hondana::gdrive
