/// What `pdfinfo` writes of a file.
#pragma once

#include <string_view>

#include "text/rendering/rendering.hpp"

namespace hondana::rendering {

/// Title, author and pages; nothing else is set. Lines that say nothing of these are passed over, and what the file itself can
/// make look like such lines (a title of several) counts for no more than the title does.
[[nodiscard]] document pdf_facts_in(std::string_view text);

}  // namespace hondana::rendering
