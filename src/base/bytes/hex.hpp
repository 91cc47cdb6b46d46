/// Bytes as digits.
#pragma once

#include <string>
#include <string_view>

namespace hondana::bytes {

/// Two lower-case hexadecimal digits a byte.
[[nodiscard]] std::string to_hex(std::string_view raw);

}  // namespace hondana::bytes
