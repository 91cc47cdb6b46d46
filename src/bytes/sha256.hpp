/// SHA-256 as resources and skills announce it.
#pragma once

#include <nettle/sha2.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace hondana::bytes {

/// Takes bytes in pieces.
class sha256 {
 public:
  sha256() noexcept { sha256_init(&state_); }
  void feed(std::string_view bytes) noexcept;
  /// "sha256:" and 64 lower-case hexadecimal digits; begins anew.
  [[nodiscard]] std::string finish();

 private:
  sha256_ctx state_{};
};

}  // namespace hondana::bytes
