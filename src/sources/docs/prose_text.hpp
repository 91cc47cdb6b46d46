/// Lines for lists out of the text of documents.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "text/markup/outline.hpp"

namespace hondana::docs {

/// A text on one line: runs of white space as one blank, control characters left out, cut behind whole characters and with an
/// ellipsis where it has more than `most` code points.
[[nodiscard]] std::string one_line(std::string_view text, std::size_t most);

/// The first paragraph that is prose, on one line and without the commonest marks: no heading, list of settings, table, code,
/// picture or comment. `text`: UTF-8 behind its front matter. Empty: there is none in its first 16 KiB.
[[nodiscard]] std::string first_paragraph(markup::format how, std::string_view text);

/// The first line of a plain text, when it stands alone above more and is no sentence: its title. Part of `text`, which is
/// UTF-8; empty: there is none.
[[nodiscard]] std::string_view title_line(std::string_view text) noexcept;

/// A text for a Markdown link: on one line, with brackets and backslashes escaped.
[[nodiscard]] std::string in_brackets(std::string_view text);

}  // namespace hondana::docs
