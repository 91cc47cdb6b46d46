/// Chunkers for each kind of text: prose, HTML, code, JSON, tables and logs.
#pragma once

#include <string_view>

#include "search/chunking/passage_packer.hpp"
#include "text/markup/outline.hpp"

namespace hondana::chunking {

/// Splits prose at headings and paragraphs. Form feeds separate pages. Reads `markup_format::html` as plain text.
[[nodiscard]] chunked_text chunk_prose(markup::markup_format format, std::string_view text, const chunking_options& options);
/// Splits HTML. The lines and bytes of a passage are those of whole source lines.
[[nodiscard]] chunked_text chunk_html(std::string_view html, const chunking_options& options);

/// A group of languages with the same syntax of declarations.
enum class family : std::uint8_t {
  c_like,     ///< Functions without a keyword, bodies in braces.
  keyword,    ///< A keyword before each name.
  shell,      ///< `name() {`, or a keyword.
  assigned,   ///< `name <- function`, `name :: type`
  lisp,       ///< `(defn name`
  sections,   ///< `[name]`
  members,    ///< `name:`, as in YAML and Makefiles.
  selectors,  ///< CSS.
  lines       ///< No declarations are recognized.
};
/// Splits code at declarations.
[[nodiscard]] chunked_text chunk_code(family syntax, std::string_view text, const chunking_options& options);
/// Splits JSON at members and elements. Accepts comments and syntax errors.
[[nodiscard]] chunked_text chunk_json(std::string_view text, const chunking_options& options);
/// Splits a table such as CSV at rows. Each passage begins with the first row, the header.
[[nodiscard]] chunked_text chunk_rows(std::string_view text, char separator, const chunking_options& options);
/// Splits a log or JSON Lines at lines.
[[nodiscard]] chunked_text chunk_records(std::string_view text, const chunking_options& options);

}  // namespace hondana::chunking
