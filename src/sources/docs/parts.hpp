/// Parts of documents: sections and pages.
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>

#include <hondana/error.hpp>

#include "sources/docs/facts.hpp"

namespace hondana::docs {

/// The section with this id, or else the first whose heading or id is the same but for NFC and NFD, width, case and marks
/// around it. Errors: invalid_argument; the text names the nearest headings.
[[nodiscard]] result<markup::section> section_called(const prose& of, std::string_view wanted);

/// Some of its pages, without the form feeds between. Errors: invalid_argument for a document without pages, and where there
/// are fewer.
[[nodiscard]] result<std::string> pages_of(const prose& of, std::pair<std::size_t, std::size_t> wanted);

}  // namespace hondana::docs
