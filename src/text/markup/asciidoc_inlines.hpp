/// Inline markup of AsciiDoc.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "text/markup/asciidoc_attributes.hpp"
#include "text/markup/inlines.hpp"

namespace hondana::markup {

/// Reads the links of a paragraph: `link:`, `xref:`, `image:`, `<<id>>` and bare URLs. `line`: the number of the line in which
/// `text` begins. In the text of the result, links are replaced by their texts; other markup stays.
[[nodiscard]] inline_text read_asciidoc_links(std::string_view text, std::size_t line, const asciidoc_attributes& attributes);

/// Reads the title of a section. Text and links have no markup, and attribute references are replaced. `is_compatible`: in
/// the compatibility mode of Asciidoctor, `'text'` is emphasis and `+text+` is code.
[[nodiscard]] inline_text read_asciidoc_title(std::string_view raw, std::size_t line, const asciidoc_attributes& attributes,
                                              bool is_compatible);

}  // namespace hondana::markup
