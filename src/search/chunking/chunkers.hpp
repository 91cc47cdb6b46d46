/// Chunkers for each kind of text: prose, HTML, code, JSON, tables and logs.
#pragma once

#include <string_view>

#include "search/chunking/passage_packer.hpp"
#include "text/markup/outline.hpp"

namespace hondana::chunking {

[[nodiscard]] cut cut_prose(markup::format how, std::string_view text, const cutting& by);
[[nodiscard]] cut cut_html(std::string_view html, const cutting& by);

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
[[nodiscard]] cut cut_code(family how, std::string_view text, const cutting& by);
[[nodiscard]] cut cut_json(std::string_view text, const cutting& by);
[[nodiscard]] cut cut_rows(std::string_view text, char separator, const cutting& by);
/// Splits by lines; each line is a record.
[[nodiscard]] cut cut_records(std::string_view text, const cutting& by);

}  // namespace hondana::chunking
