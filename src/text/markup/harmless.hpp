/// Text that was made of HTML must not become markup again.
#pragma once

#include <string>
#include <string_view>

namespace hondana::markup {

/// `<` as `&lt;` where a reader of Markdown or HTML could take it for the begin of a tag, and targets such as `javascript:` set
/// off from what would make them links. `<vector>` and `a < b` stay. Lines stay lines.
[[nodiscard]] std::string harmless(std::string_view text);

}  // namespace hondana::markup
