/// Files of tests that are opened, or rendered in this process.
#pragma once

#include <string_view>

#include "os/disk/file_descriptor.hpp"
#include "text/rendering/office/office.hpp"
#include "unit/text/rendering/documents.hpp"

namespace hondana_test {

/// An open file of that content, which has no name any more.
[[nodiscard]] hondana::disk::handle file_of(std::string_view content);

/// Rendered in this process.
[[nodiscard]] hondana::result<hondana::rendering::document> office_text(hondana::rendering::format what, std::string_view file,
                                                                        const hondana::rendering::limits& most = {});

/// A workbook cut into its sheets in this process, as a child writes them.
[[nodiscard]] hondana::result<hondana::rendering::document> office_sheets(std::string_view file,
                                                                          const hondana::rendering::limits& most = {});

}  // namespace hondana_test
