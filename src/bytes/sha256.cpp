/// Over Nettle's implementation.
#include "bytes/sha256.hpp"

#include <array>

namespace hondana::bytes {

void sha256::feed(std::string_view bytes) noexcept {
  sha256_update(&state_, bytes.size(), reinterpret_cast<const std::uint8_t*>(bytes.data()));
}

std::string sha256::finish() {
  std::array<std::uint8_t, SHA256_DIGEST_SIZE> raw{};
  sha256_digest(&state_, raw.size(), raw.data());
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text = "sha256:";
  for (const auto byte : raw) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

}  // namespace hondana::bytes
