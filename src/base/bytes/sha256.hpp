/// SHA-256 digests, as resources and skills announce them.
#pragma once

#include <nettle/sha2.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace hondana::bytes {

using sha256_bytes = std::array<std::uint8_t, SHA256_DIGEST_SIZE>;

/// Takes bytes in pieces.
class sha256 {
 public:
  sha256() noexcept { sha256_init(&state_); }
  void feed(std::string_view bytes) noexcept;
  /// "sha256:" and 64 lower-case hexadecimal digits; begins anew.
  [[nodiscard]] std::string finish();
  /// The bytes themselves; begins anew.
  [[nodiscard]] sha256_bytes finish_raw() noexcept;

 private:
  sha256_ctx state_{};
};

[[nodiscard]] sha256_bytes sha256_of(std::string_view bytes) noexcept;
/// 64 lower-case hexadecimal digits.
[[nodiscard]] std::string to_hex(const sha256_bytes& raw);

}  // namespace hondana::bytes
