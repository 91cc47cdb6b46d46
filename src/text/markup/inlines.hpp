/// Inline markup of Markdown: links, pictures, emphasis and code.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "text/markup/pieces.hpp"

namespace hondana::markup {

/// Targets by their labels, as `label_of` makes them.
using definitions = std::unordered_map<std::string, std::string>;

/// Case folded and with single spaces; empty: longer than a label may be.
[[nodiscard]] std::string label_of(std::string_view text);

/// Reads `[label]: target` at the front of a line without its indentation. Nothing: it is none.
[[nodiscard]] bool read_definition(std::string_view line, std::string& label, std::string& target);

struct inline_text {
  std::string text{};  ///< As people read it, in one line.
  std::vector<link> links{};
};
/// `line`: that in which `text` begins.
[[nodiscard]] inline_text read_inline(std::string_view text, std::size_t line, const definitions& defined);

/// A target in parentheses, from its `(` at `at`: `(<a b> "title")`. Returns what is behind its `)`; 0: it is none.
std::size_t read_destination(std::string_view text, std::size_t at, std::string& target);

/// A link from its `[` at `at`, with its target in parentheses: `[text](<a b> "title")`. Returns what is behind it; 0: it is
/// none. `shown`: what stands in its brackets, with its marks. Thirty brackets may stand in one another.
std::size_t read_link(std::string_view text, std::size_t at, std::string_view& shown);

/// Where a bare URL that begins at `at` ends; `at`: it is none. Japanese punctuation ends it, and what ends a sentence is not
/// of it.
[[nodiscard]] std::size_t end_of_url(std::string_view text, std::size_t at) noexcept;

}  // namespace hondana::markup
