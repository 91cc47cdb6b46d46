/// Text of HTML put together whatever stands between.
#pragma once

#include <string>
#include <string_view>

namespace hondana::docs {

/// All text of a page, hidden or not, with scripts and the text of comments: without tags and what does not print, entities
/// decoded. Tags that end a word are the end of a line. For whoever looks for secrets. Costs a pass.
[[nodiscard]] std::string joined_text_of_html(std::string_view page);

}  // namespace hondana::docs
