/// Escapes text from a repository: quotes in messages, and Markdown.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hondana::git {

/// In double quotes: well-formed, without controls, and no longer than is of use.
[[nodiscard]] std::string in_quotes(std::string_view word, std::size_t most = 100);

/// On one line, with a backslash before whatever CommonMark and its usual extensions give a meaning; line ends and other
/// controls become spaces. Never at the beginning of a line. Ill-formed UTF-8 is shown as U+FFFD.
[[nodiscard]] std::string escaped(std::string_view text);

/// As code within a line, between more backticks than it has in a row.
[[nodiscard]] std::string code(std::string_view text);

/// As a block of code, between more backticks than it has in a row; ends with a line end. NUL and ill-formed UTF-8 become
/// U+FFFD. `language` is ours.
[[nodiscard]] std::string fenced(std::string_view text, std::string_view language = {});

/// A link to one of our URIs; `label` is Markdown already.
[[nodiscard]] std::string link_to(std::string_view label, std::string_view uri);

}  // namespace hondana::git
