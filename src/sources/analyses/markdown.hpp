/// Markdown in which what models and callers wrote cannot pass for what we say.
#pragma once

#include <string>
#include <string_view>

namespace hondana::analyses_source {

/// On one line, with a backslash before what has a meaning in Markdown; controls become spaces, ill-formed UTF-8 U+FFFD.
[[nodiscard]] std::string in_line(std::string_view text);
/// As a quotation that keeps its own Markdown: `> ` before every line; ends with a line end. Controls but for tabs and line
/// ends become U+FFFD.
[[nodiscard]] std::string quotation_of(std::string_view text);
/// A link to one of our URIs; `label` is Markdown already.
[[nodiscard]] std::string link_to(std::string_view label, std::string_view uri);

}  // namespace hondana::analyses_source
