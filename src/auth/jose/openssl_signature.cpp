/// OpenSSL objects for keys and numbers, and ECDSA signatures in both of their forms.
#include "auth/jose/openssl_signature.hpp"

namespace hondana::jose {
namespace {

const unsigned char* bytes_of(std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); }

}  // namespace

std::optional<std::string> der_of(std::string_view pair) {
  if (pair.size() != 2 * es256_half) return {};
  const quiet errors;
  number r(BN_bin2bn(bytes_of(pair), static_cast<int>(es256_half), nullptr));
  number s(BN_bin2bn(bytes_of(pair) + es256_half, static_cast<int>(es256_half), nullptr));
  const ecdsa_signature both(ECDSA_SIG_new());
  if (!r || !s || !both || ECDSA_SIG_set0(both.get(), r.get(), s.get()) != 1) return {};
  // The signature owns them now.
  static_cast<void>(r.release());
  static_cast<void>(s.release());
  const int size = i2d_ECDSA_SIG(both.get(), nullptr);
  if (size <= 0) return {};
  std::string out(static_cast<std::size_t>(size), '\0');
  auto* at = reinterpret_cast<unsigned char*>(out.data());
  if (i2d_ECDSA_SIG(both.get(), &at) != size) return {};
  return out;
}

std::optional<std::string> pair_of(std::string_view der) {
  const quiet errors;
  const auto* at = bytes_of(der);
  const ecdsa_signature both(d2i_ECDSA_SIG(nullptr, &at, static_cast<long>(der.size())));
  if (!both) return {};
  std::string out(2 * es256_half, '\0');
  auto* into = reinterpret_cast<unsigned char*>(out.data());
  constexpr int half = static_cast<int>(es256_half);
  if (BN_bn2binpad(ECDSA_SIG_get0_r(both.get()), into, half) != half ||
      BN_bn2binpad(ECDSA_SIG_get0_s(both.get()), into + half, half) != half)
    return {};
  return out;
}

}  // namespace hondana::jose
