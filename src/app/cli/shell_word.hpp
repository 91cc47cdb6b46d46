/// Words as a shell takes them.
#pragma once

#include <string>
#include <string_view>

namespace hondana::cli {

/// In single quotes where it needs any.
[[nodiscard]] std::string shell_word(std::string_view word);

}  // namespace hondana::cli
