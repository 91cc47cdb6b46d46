/// Inline markup of Markdown: links, pictures, emphasis and code.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "text/markup/pieces.hpp"

namespace hondana::markup {

/// Link targets by label, as `normalize_label` returns labels.
using link_definitions = std::unordered_map<std::string, std::string>;

/// The label with folded case and single spaces; empty if it is longer than a label may be.
[[nodiscard]] std::string normalize_label(std::string_view text);

/// Reads `[label]: target` from a line without its indentation. Returns false if the line is not a definition.
[[nodiscard]] bool read_definition(std::string_view line, std::string& label, std::string& target);

/// The text of inline markup, and its links.
struct inline_text {
  std::string text{};  ///< As people read it, on one line.
  std::vector<link> links{};
};
/// `line`: the number of the line in which `text` begins.
[[nodiscard]] inline_text read_inline(std::string_view text, std::size_t line, const link_definitions& definitions);

/// Reads a target in parentheses, from its `(` at `position`: `(<a b> "title")`. Returns the position after its `)`; 0: not a
/// target.
std::size_t read_destination(std::string_view text, std::size_t position, std::string& target);

/// Reads a link with its target in parentheses, from its `[` at `position`: `[text](<a b> "title")`. Returns the position after
/// it; 0: not a link. `link_text`: the text in the brackets, with markup. At most thirty nested brackets.
std::size_t read_link(std::string_view text, std::size_t position, std::string_view& link_text);

/// The end of a bare URL that begins at `position`; `position` if there is none. Japanese punctuation ends it, and punctuation
/// that ends a sentence does not belong to it.
[[nodiscard]] std::size_t end_of_url(std::string_view text, std::size_t position) noexcept;

}  // namespace hondana::markup
