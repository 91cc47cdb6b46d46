/// Chunkers for each kind of text: prose, HTML, code, JSON, tables and logs.
#pragma once

#include <string_view>

#include "search/chunking/passage_packer.hpp"
#include "text/markup/outline.hpp"

namespace hondana::chunking {

[[nodiscard]] chunked_text chunk_prose(markup::markup_format format, std::string_view text, const chunking_options& options);
[[nodiscard]] chunked_text chunk_html(std::string_view html, const chunking_options& options);

/// The syntax of declarations in a group of languages.
enum class family : std::uint8_t {
  c_like,     ///< Functions without a keyword, bodies in braces.
  keyword,    ///< A keyword before each name.
  shell,      ///< `name() {`
  assigned,   ///< `name <- function`, `name :: type`
  lisp,       ///< `(defn name`
  sections,   ///< `[name]`
  members,    ///< `name:`, as in YAML and Makefiles.
  selectors,  ///< CSS.
  lines       ///< Unknown syntax.
};
[[nodiscard]] chunked_text chunk_code(family syntax, std::string_view text, const chunking_options& options);
[[nodiscard]] chunked_text chunk_json(std::string_view text, const chunking_options& options);
[[nodiscard]] chunked_text chunk_rows(std::string_view text, char separator, const chunking_options& options);
/// Splits by lines; each line is a record.
[[nodiscard]] chunked_text chunk_records(std::string_view text, const chunking_options& options);

}  // namespace hondana::chunking
