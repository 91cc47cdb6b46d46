/// Writing digits.
#include "base/bytes/hex.hpp"

namespace hondana::bytes {

std::string to_hex(std::string_view raw) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out(2 * raw.size(), '0');
  auto* to = out.data();
  for (const char c : raw) {
    const auto byte = static_cast<unsigned char>(c);
    *to++ = digits[byte >> 4];
    *to++ = digits[byte & 15];
  }
  return out;
}

}  // namespace hondana::bytes
