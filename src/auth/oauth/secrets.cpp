/// Texts of random bytes and digests.
#include "auth/oauth/secrets.hpp"

#include <openssl/crypto.h>

#include "base/bytes/random.hpp"
#include "base/bytes/sha256.hpp"
#include "base/json/base64.hpp"

namespace hondana::oauth {

result<std::string> random_text() {
  HONDANA_TRY(const auto raw, bytes::random_bytes(32));
  return json::base64url(raw);
}

std::string code_challenge(std::string_view verifier) {
  const auto digest = bytes::sha256_of(verifier);
  return json::base64url({reinterpret_cast<const char*>(digest.data()), digest.size()});
}

bool equal_in_constant_time(std::string_view a, std::string_view b) noexcept {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace hondana::oauth
