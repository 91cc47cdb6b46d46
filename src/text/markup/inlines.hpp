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

/// Returns a label of a link definition with folded case and single spaces. Empty if it is longer than a label may be.
[[nodiscard]] std::string normalize_label(std::string_view text);

/// Reads the link definition `[label]: target` from a line without its indentation. Sets `label` normalized and `target`
/// decoded. Returns false if the line is not a definition.
[[nodiscard]] bool read_definition(std::string_view line, std::string& label, std::string& target);

/// The text of inline markup, and its links.
struct inline_text {
  std::string text{};  ///< As people read it, on one line.
  std::vector<link> links{};
};
/// Reads inline markup. `line`: the number of the line in which `text` begins.
[[nodiscard]] inline_text read_inline(std::string_view text, std::size_t line, const link_definitions& definitions);

/// Reads a target in parentheses, `(<a b> "title")`, from its `(` at `position`. Sets `target`, decoded. Returns the position
/// after its `)`; 0: it is not a target.
std::size_t read_destination(std::string_view text, std::size_t position, std::string& target);

/// Reads a link with its target in parentheses, `[text](<a b> "title")`, from its `[` at `position`. Sets `link_text` to the
/// text in the brackets, with markup. Returns the position after the link; 0: it is not a link. At most thirty nested brackets.
std::size_t read_link(std::string_view text, std::size_t position, std::string_view& link_text);

/// Returns the end of a bare URL that begins at `position`; `position` if there is none. Japanese punctuation ends it, and
/// punctuation that ends a sentence does not belong to it.
[[nodiscard]] std::size_t end_of_url(std::string_view text, std::size_t position) noexcept;

}  // namespace hondana::markup
