/// Private keys for signing and public keys for verifying, in PEM and as JSON Web Keys.
#include "auth/jose/keys.hpp"

#include <openssl/core_names.h>
#include <openssl/pem.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "auth/jose/openssl_signature.hpp"
#include "base/json/base64.hpp"

namespace hondana::jose {

struct public_key::impl {
  key_pointer key;
};

namespace {

constexpr std::size_t min_rsa_bytes = 2048 / 8;
constexpr std::size_t max_rsa_bytes = 8192 / 8;
constexpr std::size_t max_exponent_bytes = 8;
constexpr std::size_t ed25519_bytes = 32;
constexpr std::size_t max_id_bytes = 256;

tl::unexpected<failure> malformed(std::string_view member, std::string_view reason) {
  return fail(errc::invalid_argument, "the key's " + std::string(member) + ": " + std::string(reason));
}

result<std::string> decode_member(const value& jwk, std::string_view name, std::size_t min_bytes, std::size_t max_bytes) {
  const auto* member = jwk.find(name);
  const auto* text = member == nullptr ? nullptr : member->as_string();
  if (text == nullptr) return malformed(name, "missing, or not a string");
  if (text->size() > 2 * max_rsa_bytes) return malformed(name, "too long");
  auto bytes = json::decode_base64url(*text);
  if (!bytes) return malformed(name, "not base64url without padding");
  if (bytes->size() < min_bytes || bytes->size() > max_bytes)
    return malformed(name, std::to_string(bytes->size()) + " bytes; expected " + std::to_string(min_bytes) +
                               (min_bytes == max_bytes ? std::string() : " to " + std::to_string(max_bytes)));
  return std::move(*bytes);
}

const unsigned char* raw(const std::string& bytes) { return reinterpret_cast<const unsigned char*>(bytes.data()); }

result<key_pointer> make_key(const char* type, const parameter_builder& builder) {
  const parameters params(OSSL_PARAM_BLD_to_param(builder.get()));
  const key_context context(EVP_PKEY_CTX_new_from_name(nullptr, type, nullptr));
  EVP_PKEY* key = nullptr;
  if (!params || !context || EVP_PKEY_fromdata_init(context.get()) != 1 ||
      EVP_PKEY_fromdata(context.get(), &key, EVP_PKEY_PUBLIC_KEY, params.get()) != 1)
    return fail(errc::invalid_argument, "the key's numbers are not valid");
  key_pointer out(key);
  const key_context check_context(EVP_PKEY_CTX_new_from_pkey(nullptr, out.get(), nullptr));
  if (!check_context || EVP_PKEY_public_check_quick(check_context.get()) != 1)
    return fail(errc::invalid_argument, "the key's numbers are not valid");
  return out;
}

result<key_pointer> rsa_key(const value& jwk) {
  HONDANA_TRY(const auto modulus, decode_member(jwk, "n", min_rsa_bytes, max_rsa_bytes));
  const auto exponent = decode_member(jwk, "e", 1, max_exponent_bytes);
  if (!exponent) return tl::unexpected(exponent.error());
  const bignum n(BN_bin2bn(raw(modulus), static_cast<int>(modulus.size()), nullptr));
  const bignum e(BN_bin2bn(raw(*exponent), static_cast<int>(exponent->size()), nullptr));
  if (n && BN_num_bits(n.get()) < static_cast<int>(8 * min_rsa_bytes)) return malformed("n", "fewer than 2048 bits");
  if (e && (!BN_is_odd(e.get()) || BN_is_one(e.get()))) return malformed("e", "not a valid exponent");
  const parameter_builder builder(OSSL_PARAM_BLD_new());
  if (!n || !e || !builder || OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_N, n.get()) != 1 ||
      OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_E, e.get()) != 1)
    return fail(errc::internal, "out of memory for a key");
  return make_key("RSA", builder);
}

result<key_pointer> p256_key(const value& jwk) {
  HONDANA_TRY(const auto x, decode_member(jwk, "x", es256_component_bytes, es256_component_bytes));
  HONDANA_TRY(const auto y, decode_member(jwk, "y", es256_component_bytes, es256_component_bytes));
  const auto point = '\x04' + x + y;  // uncompressed point
  const parameter_builder builder(OSSL_PARAM_BLD_new());
  if (!builder || OSSL_PARAM_BLD_push_utf8_string(builder.get(), OSSL_PKEY_PARAM_GROUP_NAME, "P-256", 0) != 1 ||
      OSSL_PARAM_BLD_push_octet_string(builder.get(), OSSL_PKEY_PARAM_PUB_KEY, point.data(), point.size()) != 1)
    return fail(errc::internal, "out of memory for a key");
  return make_key("EC", builder);
}

result<key_pointer> ed25519_key(const value& jwk) {
  const auto x = decode_member(jwk, "x", ed25519_bytes, ed25519_bytes);
  if (!x) return tl::unexpected(x.error());
  key_pointer out(EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, raw(*x), x->size()));
  if (!out) return malformed("x", "not a point on the curve");
  return out;
}

/// The algorithm of a key, by its type and curve.
result<algorithm> read_algorithm(const value& jwk) {
  const auto text = [&jwk](std::string_view name) { return jwk.string_at(name).value_or(""); };
  const auto type = text("kty");
  const auto curve = text("crv");
  std::optional<algorithm> out;
  if (type == "RSA") out = algorithm::rs256;
  if (type == "EC" && curve == "P-256") out = algorithm::es256;
  if (type == "OKP" && curve == "Ed25519") out = algorithm::eddsa;
  if (!out) return fail(errc::unsupported, "the key's type or curve is not supported");
  if (const auto* member = jwk.find("alg"); member != nullptr && text("alg") != name_of(*out))
    return fail(errc::unsupported, "the key's algorithm is not supported");
  if (const auto* use = jwk.find("use"); use != nullptr && text("use") != "sig")
    return fail(errc::unsupported, "the key is not for signatures");
  if (const auto* uses = jwk.find("key_ops"); uses != nullptr) {
    const auto* operations = uses->as_array();
    const auto is_verify = [](const value& operation) {
      return operation.as_string() != nullptr && *operation.as_string() == "verify";
    };
    if (operations == nullptr || std::none_of(operations->begin(), operations->end(), is_verify))
      return fail(errc::unsupported, "the key is not for verifying signatures");
  }
  return *out;
}

}  // namespace

result<public_key> public_key::from_jwk(const value& jwk) {
  if (jwk.as_object() == nullptr) return fail(errc::invalid_argument, "a key must be an object");
  HONDANA_TRY(const auto alg, read_algorithm(jwk));
  std::string id;
  if (const auto* member = jwk.find("kid"); member != nullptr) {
    if (member->as_string() == nullptr || member->as_string()->size() > max_id_bytes)
      return malformed("kid", "expected a string of at most " + std::to_string(max_id_bytes) + " bytes");
    id = *member->as_string();
  }
  const error_queue_guard errors;
  HONDANA_TRY(auto key, alg == algorithm::rs256 ? rsa_key(jwk) : alg == algorithm::es256 ? p256_key(jwk) : ed25519_key(jwk));
  return public_key(alg, std::move(id), std::make_shared<const impl>(impl{std::move(key)}));
}

bool public_key::verifies(std::string_view text, std::string_view signature) const {
  const error_queue_guard errors;
  std::string der;
  if (alg_ == algorithm::es256) {
    auto converted = jose_to_der(signature);
    if (!converted) return false;
    der = std::move(*converted);
    signature = der;
  }
  const digest_context context(EVP_MD_CTX_new());
  const auto* digest = alg_ == algorithm::eddsa ? nullptr : EVP_sha256();
  return context && EVP_DigestVerifyInit(context.get(), nullptr, digest, nullptr, key_->key.get()) == 1 &&
         EVP_DigestVerify(context.get(), reinterpret_cast<const unsigned char*>(signature.data()), signature.size(),
                          reinterpret_cast<const unsigned char*>(text.data()), text.size()) == 1;
}

result<key_set> key_set::parse(std::string_view text) {
  const auto parsed = value::parse(text, {.max_bytes = max_bytes, .max_values = 20 * max_keys});
  if (!parsed)
    return fail(errc::invalid_argument, "the key set is not valid JSON, or too large: " + parsed.error().public_text);
  const auto* keys = parsed->find("keys");
  const auto* entries = keys == nullptr ? nullptr : keys->as_array();
  if (entries == nullptr) return fail(errc::invalid_argument, "the key set has no array \"keys\"");
  if (entries->size() > max_keys)
    return fail(errc::invalid_argument, "the key set has more than " + std::to_string(max_keys) + " keys");
  key_set out;
  for (const auto& jwk : *entries) {
    auto key = public_key::from_jwk(jwk);
    if (!key) continue;  // keys of other algorithms are ignored
    const auto is_same = [&key](const public_key& other) {
      return !key->id().empty() && other.id() == key->id() && other.alg() == key->alg();
    };
    if (std::any_of(out.keys_.begin(), out.keys_.end(), is_same))
      return fail(errc::invalid_argument, "the key set has two keys with the same id");
    out.keys_.push_back(std::move(*key));
  }
  return out;
}

std::vector<public_key> key_set::candidates(algorithm alg, std::string_view id) const {
  std::vector<public_key> out;
  std::copy_if(keys_.begin(), keys_.end(), std::back_inserter(out),
               [&](const public_key& key) { return key.alg() == alg && (id.empty() || key.id() == id); });
  return out;
}

bool key_set::contains(std::string_view id) const noexcept {
  return std::any_of(keys_.begin(), keys_.end(), [id](const public_key& key) { return key.id() == id; });
}

struct signing_key::impl {
  key_pointer key;
};

namespace {

constexpr std::size_t max_pem_bytes = 64 * 1024;
constexpr int min_rsa_bits = 2048;

/// A password callback that fails, so that OpenSSL does not prompt on the terminal for an encrypted key.
int no_password(char*, int, int, void*) { return -1; }

std::optional<algorithm> algorithm_of(const EVP_PKEY* key) {
  if (EVP_PKEY_is_a(key, "ED25519") == 1) return algorithm::eddsa;
  if (EVP_PKEY_is_a(key, "RSA") == 1 && EVP_PKEY_get_bits(key) >= min_rsa_bits) return algorithm::rs256;
  if (EVP_PKEY_is_a(key, "EC") != 1) return {};
  char name[32] = {};
  std::size_t size = 0;
  if (EVP_PKEY_get_group_name(key, name, sizeof name, &size) != 1) return {};
  const std::string_view curve(name, size);
  return curve == "prime256v1" || curve == "P-256" ? std::optional(algorithm::es256) : std::nullopt;
}

/// A number of the key in base64url, padded to `size` bytes; 0: not padded.
std::optional<std::string> number_text(const EVP_PKEY* key, const char* name, std::size_t size) {
  BIGNUM* raw_component = nullptr;
  if (EVP_PKEY_get_bn_param(key, name, &raw_component) != 1) return {};
  const bignum component(raw_component);
  if (size == 0) size = static_cast<std::size_t>(BN_num_bytes(component.get()));
  std::string bytes(size, '\0');
  if (BN_bn2binpad(component.get(), reinterpret_cast<unsigned char*>(bytes.data()), static_cast<int>(size)) < 0) return {};
  return json::encode_base64url(bytes);
}

std::optional<std::string> raw_public(const EVP_PKEY* key) {
  std::size_t size = 0;
  if (EVP_PKEY_get_raw_public_key(key, nullptr, &size) != 1) return {};
  std::string bytes(size, '\0');
  if (EVP_PKEY_get_raw_public_key(key, reinterpret_cast<unsigned char*>(bytes.data()), &size) != 1) return {};
  return json::encode_base64url(bytes);
}

}  // namespace

result<signing_key> signing_key::from_pem(std::string_view pem) {
  if (pem.size() > max_pem_bytes) return fail(errc::invalid_argument, "the file is too large for a private key in PEM");
  const error_queue_guard errors;
  const bio_pointer pem_file(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  key_pointer key(pem_file ? PEM_read_bio_PrivateKey(pem_file.get(), nullptr, no_password, nullptr) : nullptr);
  if (!key)
    return fail(errc::invalid_argument,
                "expected an unencrypted private key in PEM; create one with 'openssl genpkey -algorithm ed25519'");
  const auto alg = algorithm_of(key.get());
  if (!alg)
    return fail(errc::invalid_argument, "the private key's kind is not supported; use RSA from 2048 bits, P-256 or Ed25519");
  return signing_key(*alg, std::make_shared<const impl>(impl{std::move(key)}));
}

result<std::string> signing_key::sign(const value& claims, std::string_view id) const {
  value::object header{{"alg", std::string(name_of(alg_))}, {"typ", "JWT"}};
  if (!id.empty()) header.emplace_back("kid", std::string(id));
  auto text = json::encode_base64url(value(std::move(header)).to_text()) + '.' + json::encode_base64url(claims.to_text());
  const error_queue_guard errors;
  const digest_context context(EVP_MD_CTX_new());
  const auto* digest = alg_ == algorithm::eddsa ? nullptr : EVP_sha256();
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  std::size_t size = 0;
  if (!context || EVP_DigestSignInit(context.get(), nullptr, digest, nullptr, key_->key.get()) != 1 ||
      EVP_DigestSign(context.get(), nullptr, &size, bytes, text.size()) != 1)
    return fail(errc::internal, "signing with the key failed");
  std::string signature(size, '\0');
  if (EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(signature.data()), &size, bytes, text.size()) != 1)
    return fail(errc::internal, "signing with the key failed");
  signature.resize(size);
  if (alg_ == algorithm::es256) {
    auto pair = der_to_jose(signature);
    if (!pair) return fail(errc::internal, "signing with the key failed");
    signature = std::move(*pair);
  }
  return text + '.' + json::encode_base64url(signature);
}

result<value> signing_key::public_jwk(std::string_view id) const {
  const error_queue_guard errors;
  value::object out{{"alg", std::string(name_of(alg_))}, {"use", "sig"}};
  if (!id.empty()) out.emplace_back("kid", std::string(id));
  bool is_complete = true;
  const auto add = [&](std::string name, std::optional<std::string> text) {
    is_complete = is_complete && text;
    out.emplace_back(std::move(name), text.value_or(""));
  };
  const auto* key = key_->key.get();
  switch (alg_) {
    case algorithm::rs256:
      add("kty", "RSA");
      add("n", number_text(key, OSSL_PKEY_PARAM_RSA_N, 0));
      add("e", number_text(key, OSSL_PKEY_PARAM_RSA_E, 0));
      break;
    case algorithm::es256:
      add("kty", "EC");
      add("crv", "P-256");
      add("x", number_text(key, OSSL_PKEY_PARAM_EC_PUB_X, es256_component_bytes));
      add("y", number_text(key, OSSL_PKEY_PARAM_EC_PUB_Y, es256_component_bytes));
      break;
    case algorithm::eddsa:
      add("kty", "OKP");
      add("crv", "Ed25519");
      add("x", raw_public(key));
      break;
  }
  if (!is_complete) return fail(errc::internal, "the public key cannot be read from the private key");
  return value(std::move(out));
}

}  // namespace hondana::jose
