/// Foreign text in Markdown.
#pragma once

#include <string>
#include <string_view>

namespace hondana::logs {

/// As code, with as many backticks around it as it takes; control characters become blanks.
[[nodiscard]] std::string as_code(std::string_view text);

}  // namespace hondana::logs
