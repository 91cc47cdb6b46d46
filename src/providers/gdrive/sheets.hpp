/// What is said of sheets that there are not.
#pragma once

#include <string>
#include <vector>

#include <hondana/error.hpp>
#include <hondana/provider.hpp>

#include "providers/gdrive/fetching.hpp"

namespace hondana::gdrive {

/// A spreadsheet that was read.
struct workbook {
  const std::string& name;
  const std::string& uri;  ///< That of its sheets without `?sheet=`.
  const std::vector<part>& sheets;
};

/// The error for a sheet that a workbook does not have. It names those that `who` may read.
[[nodiscard]] tl::unexpected<failure> no_such_sheet(const workbook& of, const std::string& asked, const caller& who);

}  // namespace hondana::gdrive
