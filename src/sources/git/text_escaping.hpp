/// Escapes text from a repository: quotes in messages, and Markdown.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hondana::git {

/// Puts text in double quotes, for messages. Cuts it after `max_bytes` bytes. Control characters become `?`, and invalid UTF-8
/// becomes U+FFFD.
[[nodiscard]] std::string quote(std::string_view text, std::size_t max_bytes = 100);

/// Escapes text as part of one line of Markdown. Line ends and other control characters become spaces, and invalid UTF-8
/// becomes U+FFFD. Do not use the result at the beginning of a line: list and heading markers are not escaped.
[[nodiscard]] std::string escape_markdown(std::string_view text);

/// Makes an inline code span. Line ends and other control characters become spaces, and invalid UTF-8 becomes U+FFFD.
[[nodiscard]] std::string code_span(std::string_view text);

/// Makes a fenced code block, with a line end after it. NUL and invalid UTF-8 become U+FFFD. `language`: is not escaped.
[[nodiscard]] std::string code_block(std::string_view text, std::string_view language = {});

/// Makes a link. `label`: Markdown. `uri`: must not contain `<`, `>` or line ends.
[[nodiscard]] std::string markdown_link(std::string_view label, std::string_view uri);

}  // namespace hondana::git
