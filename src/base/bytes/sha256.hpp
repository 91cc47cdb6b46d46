/// SHA-256 digests, as bytes and as texts.
#pragma once

#include <nettle/sha2.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace hondana::bytes {

using sha256_bytes = std::array<std::uint8_t, SHA256_DIGEST_SIZE>;

/// Computes the SHA-256 digest of content that is added in pieces.
class sha256 {
 public:
  sha256() noexcept { sha256_init(&state_); }
  /// Adds a piece.
  void update(std::string_view bytes) noexcept;
  /// Returns "sha256:" and 64 lower-case hexadecimal digits, and begins a new content.
  [[nodiscard]] std::string finish();
  /// Returns the 32 bytes of the digest, and begins a new content.
  [[nodiscard]] sha256_bytes finish_raw() noexcept;

 private:
  sha256_ctx state_{};
};

[[nodiscard]] sha256_bytes sha256_of(std::string_view bytes) noexcept;
/// Formats a digest as 64 lower-case hexadecimal digits.
[[nodiscard]] std::string to_hex(const sha256_bytes& raw);

}  // namespace hondana::bytes
