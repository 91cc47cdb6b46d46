/// Office files with what a document, a spreadsheet or a presentation has.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "drive/stand_in/things.hpp"

namespace drive_test {

/// Headings and paragraphs of Markdown.
std::string docx_of(std::string_view markdown);
/// All sheets in their order.
std::string xlsx_of(const std::vector<sheet>& sheets);
/// All slides with their notes.
std::string pptx_of(const std::vector<slide>& slides);
std::string xml_escaped(std::string_view text);

}  // namespace drive_test
