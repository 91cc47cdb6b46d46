/// The manual page hondana(1).
#pragma once

#include <string>

namespace hondana::cli {

/// The page in roff with the man macros.
[[nodiscard]] std::string manual_page();

}  // namespace hondana::cli
