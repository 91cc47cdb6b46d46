/// The programs of Poppler: their paths, their permissions, and the output of pdfinfo.
#pragma once

#include <string>
#include <string_view>

#include "os/sandbox/sandbox.hpp"
#include "text/rendering/renderer.hpp"

namespace hondana::rendering {

/// Returns the absolute path of a program in the usual folders; "" if it is missing.
[[nodiscard]] std::string find_program(std::string_view name);
/// Returns the permissions of a Poppler program: to read libraries and tables of Asian character sets, and to execute itself
/// and the loader. `program`: its path.
[[nodiscard]] sandbox::permissions permissions_for(const std::string& program);

/// Limit of rendered pages; the others are left out.
inline constexpr std::size_t max_pdf_pages = 5'000;

/// Parses the output of pdfinfo. Sets title, author and pages, and sets `extra_text` to title, author, subject and keywords.
/// Ignores other lines. A multi-line title can imitate such lines, but only affects the values that the file controls anyway.
[[nodiscard]] document parse_pdf_info(std::string_view text);

}  // namespace hondana::rendering
