/// Signing, and the public half.
#include "auth/jose/signing_key.hpp"

#include <openssl/core_names.h>
#include <openssl/pem.h>

#include <optional>
#include <utility>

#include "auth/jose/openssl.hpp"
#include "auth/jose/signature.hpp"
#include "base/json/base64.hpp"

namespace hondana::jose {

struct signing_key::inner {
  key_pointer key;
};

namespace {

constexpr std::size_t longest_pem = 64 * 1024;
constexpr int least_rsa_bits = 2048;

/// No terminal is asked for the password of an encrypted key.
int no_password(char*, int, int, void*) { return -1; }

std::optional<algorithm> algorithm_of(const EVP_PKEY* key) {
  if (EVP_PKEY_is_a(key, "ED25519") == 1) return algorithm::eddsa;
  if (EVP_PKEY_is_a(key, "RSA") == 1 && EVP_PKEY_get_bits(key) >= least_rsa_bits) return algorithm::rs256;
  if (EVP_PKEY_is_a(key, "EC") != 1) return {};
  char name[32] = {};
  std::size_t size = 0;
  if (EVP_PKEY_get_group_name(key, name, sizeof name, &size) != 1) return {};
  const std::string_view curve(name, size);
  return curve == "prime256v1" || curve == "P-256" ? std::optional(algorithm::es256) : std::nullopt;
}

/// A number of the key as base64url, padded to `size` bytes unless that is 0.
std::optional<std::string> number_text(const EVP_PKEY* key, const char* name, std::size_t size) {
  BIGNUM* found = nullptr;
  if (EVP_PKEY_get_bn_param(key, name, &found) != 1) return {};
  const number one(found);
  if (size == 0) size = static_cast<std::size_t>(BN_num_bytes(one.get()));
  std::string bytes(size, '\0');
  if (BN_bn2binpad(one.get(), reinterpret_cast<unsigned char*>(bytes.data()), static_cast<int>(size)) < 0) return {};
  return json::base64url(bytes);
}

std::optional<std::string> raw_public(const EVP_PKEY* key) {
  std::size_t size = 0;
  if (EVP_PKEY_get_raw_public_key(key, nullptr, &size) != 1) return {};
  std::string bytes(size, '\0');
  if (EVP_PKEY_get_raw_public_key(key, reinterpret_cast<unsigned char*>(bytes.data()), &size) != 1) return {};
  return json::base64url(bytes);
}

}  // namespace

result<signing_key> signing_key::of_pem(std::string_view pem) {
  if (pem.size() > longest_pem) return fail(errc::invalid_argument, "the file is too large for a private key in PEM");
  const quiet errors;
  const memory_file from(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  key_pointer key(from ? PEM_read_bio_PrivateKey(from.get(), nullptr, no_password, nullptr) : nullptr);
  if (!key)
    return fail(errc::invalid_argument,
                "expected an unencrypted private key in PEM; create one with 'openssl genpkey -algorithm ed25519'");
  const auto by = algorithm_of(key.get());
  if (!by)
    return fail(errc::invalid_argument, "the private key's kind is not supported; use RSA from 2048 bits, P-256 or Ed25519");
  return signing_key(*by, std::make_shared<const inner>(inner{std::move(key)}));
}

result<std::string> signing_key::sign(const value& claims, std::string_view id) const {
  value::object header{{"alg", std::string(name_of(by_))}, {"typ", "JWT"}};
  if (!id.empty()) header.emplace_back("kid", std::string(id));
  auto text = json::base64url(value(std::move(header)).to_text()) + '.' + json::base64url(claims.to_text());
  const quiet errors;
  const digest_context context(EVP_MD_CTX_new());
  const auto* digest = by_ == algorithm::eddsa ? nullptr : EVP_sha256();
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  std::size_t size = 0;
  if (!context || EVP_DigestSignInit(context.get(), nullptr, digest, nullptr, key_->key.get()) != 1 ||
      EVP_DigestSign(context.get(), nullptr, &size, bytes, text.size()) != 1)
    return fail(errc::internal, "signing with the key failed");
  std::string signature(size, '\0');
  if (EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(signature.data()), &size, bytes, text.size()) != 1)
    return fail(errc::internal, "signing with the key failed");
  signature.resize(size);
  if (by_ == algorithm::es256) {
    auto pair = pair_of(signature);
    if (!pair) return fail(errc::internal, "signing with the key failed");
    signature = std::move(*pair);
  }
  return text + '.' + json::base64url(signature);
}

result<value> signing_key::public_jwk(std::string_view id) const {
  const quiet errors;
  value::object out{{"alg", std::string(name_of(by_))}, {"use", "sig"}};
  if (!id.empty()) out.emplace_back("kid", std::string(id));
  bool is_whole = true;
  const auto add = [&](std::string name, std::optional<std::string> text) {
    is_whole = is_whole && text;
    out.emplace_back(std::move(name), text.value_or(""));
  };
  const auto* key = key_->key.get();
  switch (by_) {
    case algorithm::rs256:
      add("kty", "RSA");
      add("n", number_text(key, OSSL_PKEY_PARAM_RSA_N, 0));
      add("e", number_text(key, OSSL_PKEY_PARAM_RSA_E, 0));
      break;
    case algorithm::es256:
      add("kty", "EC");
      add("crv", "P-256");
      add("x", number_text(key, OSSL_PKEY_PARAM_EC_PUB_X, es256_half));
      add("y", number_text(key, OSSL_PKEY_PARAM_EC_PUB_Y, es256_half));
      break;
    case algorithm::eddsa:
      add("kty", "OKP");
      add("crv", "Ed25519");
      add("x", raw_public(key));
      break;
  }
  if (!is_whole) return fail(errc::internal, "the public key cannot be read from the private key");
  return value(std::move(out));
}

}  // namespace hondana::jose
