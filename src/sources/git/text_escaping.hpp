/// Escapes text from a repository: quotes in messages, and Markdown.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hondana::git {

/// The text in double quotes: valid UTF-8 without control characters, cut after `max_bytes` bytes.
[[nodiscard]] std::string quote(std::string_view text, std::size_t max_bytes = 100);

/// The text on one line, with a backslash before characters that CommonMark and its usual extensions interpret. Line ends and
/// other control characters become spaces, and invalid UTF-8 becomes U+FFFD. Not for the beginning of a line.
[[nodiscard]] std::string escape_markdown(std::string_view text);

/// An inline code span, with more backticks as delimiters than the text has in a row.
[[nodiscard]] std::string code_span(std::string_view text);

/// A fenced code block, with more backticks as delimiters than the text has in a row. Ends with a line end. NUL and invalid
/// UTF-8 become U+FFFD. `language` must not come from a repository.
[[nodiscard]] std::string code_block(std::string_view text, std::string_view language = {});

/// A link to a URI of this source. `label` is already Markdown.
[[nodiscard]] std::string markdown_link(std::string_view label, std::string_view uri);

}  // namespace hondana::git
