/// JSON as people write it by hand, made plain.
#pragma once

#include <string>
#include <string_view>

namespace hondana::cli {

/// Comments (`//`, `/* */`) and commas before a closing bracket become spaces, so that places stay what they were. What is no
/// JSON otherwise stays so.
[[nodiscard]] std::string plain_json(std::string_view text);

}  // namespace hondana::cli
