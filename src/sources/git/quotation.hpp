/// Foreign words in texts of ours.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hondana::git {

/// In double quotes: well-formed, without controls, and no longer than is of use.
[[nodiscard]] std::string in_quotes(std::string_view word, std::size_t most = 100);

}  // namespace hondana::git
