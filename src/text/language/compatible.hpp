/// Text in one width.
#pragma once

#include <string>
#include <string_view>

namespace hondana::language {

/// NFKC: full and half width, ligatures and circled digits are one; the case of letters stays. Malformed bytes become U+FFFD.
/// Never longer than 18 times the text.
[[nodiscard]] std::string compatible(std::string_view text);

}  // namespace hondana::language
