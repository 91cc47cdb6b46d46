/// SHA-256 digests, as bytes and as texts.
#include "base/bytes/sha256.hpp"

#include "base/bytes/random_token.hpp"

namespace hondana::bytes {

void sha256::update(std::string_view bytes) noexcept {
  sha256_update(&state_, bytes.size(), reinterpret_cast<const std::uint8_t*>(bytes.data()));
}

sha256_bytes sha256::finish_raw() noexcept {
  sha256_bytes raw{};
  sha256_digest(&state_, raw.size(), raw.data());
  return raw;
}

std::string sha256::finish() { return "sha256:" + to_hex(finish_raw()); }

sha256_bytes sha256_of(std::string_view bytes) noexcept {
  sha256 hash;
  hash.update(bytes);
  return hash.finish_raw();
}

std::string to_hex(const sha256_bytes& raw) {
  return to_hex(std::string_view(reinterpret_cast<const char*>(raw.data()), raw.size()));
}

}  // namespace hondana::bytes
