/// The programs of Poppler: their paths, their permissions, and the output of pdfinfo.
#pragma once

#include <string>
#include <string_view>

#include "os/sandbox/sandbox.hpp"
#include "text/rendering/renderer.hpp"

namespace hondana::rendering {

/// The absolute path of a program in the usual folders; "" when there is none.
[[nodiscard]] std::string program_at(std::string_view name);
/// What it may do: read libraries and the tables for characters of Asian scripts, and be run, by itself and the loader.
[[nodiscard]] sandbox::permissions permissions_for(const std::string& program);

/// As many pages as are rendered.
inline constexpr std::size_t most_pdf_pages = 5'000;

/// Title, author and pages; nothing else is set. Lines that say nothing of these are passed over, and what the file itself can
/// make look like such lines (a title of several) counts for no more than the title does.
[[nodiscard]] document pdf_facts_in(std::string_view text);

}  // namespace hondana::rendering
