/// The system's random bytes and OpenSSL's digest.
#include "oauth/secrets.hpp"

#include <openssl/crypto.h>
#include <openssl/sha.h>
#include <sys/random.h>

#include <array>

#include "json/base64.hpp"

namespace hondana::oauth {

result<std::string> random_text() {
  std::array<char, 32> bytes{};
  // So few come whole or not at all. Source: getrandom(2).
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    return fail(errc::internal, "the system has no random bytes");
  return json::base64url({bytes.data(), bytes.size()});
}

std::string code_challenge(std::string_view verifier) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256(reinterpret_cast<const unsigned char*>(verifier.data()), verifier.size(), digest.data());
  return json::base64url({reinterpret_cast<const char*>(digest.data()), digest.size()});
}

bool equal_in_constant_time(std::string_view a, std::string_view b) noexcept {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace hondana::oauth
