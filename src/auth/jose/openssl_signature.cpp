/// Pointers to OpenSSL objects, and conversion of ECDSA signatures between JSON Web Tokens and OpenSSL.
#include "auth/jose/openssl_signature.hpp"

namespace hondana::jose {
namespace {

const unsigned char* bytes_of(std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); }

}  // namespace

std::optional<std::string> jose_to_der(std::string_view pair) {
  if (pair.size() != 2 * es256_component_bytes) return {};
  const error_queue_guard errors;
  bignum r(BN_bin2bn(bytes_of(pair), static_cast<int>(es256_component_bytes), nullptr));
  bignum s(BN_bin2bn(bytes_of(pair) + es256_component_bytes, static_cast<int>(es256_component_bytes), nullptr));
  const ecdsa_signature signature(ECDSA_SIG_new());
  if (!r || !s || !signature || ECDSA_SIG_set0(signature.get(), r.get(), s.get()) != 1) return {};
  // The signature owns them now.
  static_cast<void>(r.release());
  static_cast<void>(s.release());
  const int size = i2d_ECDSA_SIG(signature.get(), nullptr);
  if (size <= 0) return {};
  std::string out(static_cast<std::size_t>(size), '\0');
  auto* position = reinterpret_cast<unsigned char*>(out.data());
  if (i2d_ECDSA_SIG(signature.get(), &position) != size) return {};
  return out;
}

std::optional<std::string> der_to_jose(std::string_view der) {
  const error_queue_guard errors;
  const auto* position = bytes_of(der);
  const ecdsa_signature signature(d2i_ECDSA_SIG(nullptr, &position, static_cast<long>(der.size())));
  if (!signature) return {};
  std::string out(2 * es256_component_bytes, '\0');
  auto* output = reinterpret_cast<unsigned char*>(out.data());
  constexpr int size = static_cast<int>(es256_component_bytes);
  if (BN_bn2binpad(ECDSA_SIG_get0_r(signature.get()), output, size) != size ||
      BN_bn2binpad(ECDSA_SIG_get0_s(signature.get()), output + size, size) != size)
    return {};
  return out;
}

}  // namespace hondana::jose
