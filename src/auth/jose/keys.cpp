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

struct public_key::inner {
  key_pointer key;
};

namespace {

constexpr std::size_t least_rsa_bytes = 2048 / 8;
constexpr std::size_t most_rsa_bytes = 8192 / 8;
constexpr std::size_t most_exponent_bytes = 8;
constexpr std::size_t ed25519_bytes = 32;
constexpr std::size_t longest_id = 256;

tl::unexpected<failure> malformed(std::string_view member, std::string_view what) {
  return fail(errc::invalid_argument, "the key's " + std::string(member) + ": " + std::string(what));
}

result<std::string> bytes_member(const value& jwk, std::string_view name, std::size_t least, std::size_t most) {
  const auto* member = jwk.find(name);
  const auto* text = member == nullptr ? nullptr : member->as_string();
  if (text == nullptr) return malformed(name, "missing, or not a string");
  if (text->size() > 2 * most_rsa_bytes) return malformed(name, "too long");
  auto bytes = json::decode_base64url(*text);
  if (!bytes) return malformed(name, "not base64url without padding");
  if (bytes->size() < least || bytes->size() > most)
    return malformed(name, std::to_string(bytes->size()) + " bytes; expected " + std::to_string(least) +
                               (least == most ? std::string() : " to " + std::to_string(most)));
  return std::move(*bytes);
}

const unsigned char* raw(const std::string& bytes) { return reinterpret_cast<const unsigned char*>(bytes.data()); }

result<key_pointer> made(const char* type, const parameter_builder& from) {
  const parameters all(OSSL_PARAM_BLD_to_param(from.get()));
  const key_context context(EVP_PKEY_CTX_new_from_name(nullptr, type, nullptr));
  EVP_PKEY* key = nullptr;
  if (!all || !context || EVP_PKEY_fromdata_init(context.get()) != 1 ||
      EVP_PKEY_fromdata(context.get(), &key, EVP_PKEY_PUBLIC_KEY, all.get()) != 1)
    return fail(errc::invalid_argument, "the key's numbers are not valid");
  key_pointer out(key);
  const key_context checking(EVP_PKEY_CTX_new_from_pkey(nullptr, out.get(), nullptr));
  if (!checking || EVP_PKEY_public_check_quick(checking.get()) != 1)
    return fail(errc::invalid_argument, "the key's numbers are not valid");
  return out;
}

result<key_pointer> rsa_key(const value& jwk) {
  HONDANA_TRY(const auto modulus, bytes_member(jwk, "n", least_rsa_bytes, most_rsa_bytes));
  const auto exponent = bytes_member(jwk, "e", 1, most_exponent_bytes);
  if (!exponent) return tl::unexpected(exponent.error());
  const number n(BN_bin2bn(raw(modulus), static_cast<int>(modulus.size()), nullptr));
  const number e(BN_bin2bn(raw(*exponent), static_cast<int>(exponent->size()), nullptr));
  if (n && BN_num_bits(n.get()) < static_cast<int>(8 * least_rsa_bytes)) return malformed("n", "fewer than 2048 bits");
  if (e && (!BN_is_odd(e.get()) || BN_is_one(e.get()))) return malformed("e", "not a valid exponent");
  const parameter_builder all(OSSL_PARAM_BLD_new());
  if (!n || !e || !all || OSSL_PARAM_BLD_push_BN(all.get(), OSSL_PKEY_PARAM_RSA_N, n.get()) != 1 ||
      OSSL_PARAM_BLD_push_BN(all.get(), OSSL_PKEY_PARAM_RSA_E, e.get()) != 1)
    return fail(errc::internal, "out of memory for a key");
  return made("RSA", all);
}

result<key_pointer> p256_key(const value& jwk) {
  HONDANA_TRY(const auto x, bytes_member(jwk, "x", es256_half, es256_half));
  HONDANA_TRY(const auto y, bytes_member(jwk, "y", es256_half, es256_half));
  const auto point = '\x04' + x + y;  // uncompressed point
  const parameter_builder all(OSSL_PARAM_BLD_new());
  if (!all || OSSL_PARAM_BLD_push_utf8_string(all.get(), OSSL_PKEY_PARAM_GROUP_NAME, "P-256", 0) != 1 ||
      OSSL_PARAM_BLD_push_octet_string(all.get(), OSSL_PKEY_PARAM_PUB_KEY, point.data(), point.size()) != 1)
    return fail(errc::internal, "out of memory for a key");
  return made("EC", all);
}

result<key_pointer> ed25519_key(const value& jwk) {
  const auto x = bytes_member(jwk, "x", ed25519_bytes, ed25519_bytes);
  if (!x) return tl::unexpected(x.error());
  key_pointer out(EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, raw(*x), x->size()));
  if (!out) return malformed("x", "not a point on the curve");
  return out;
}

/// The algorithm of a key, by its type and curve.
result<algorithm> kind_of(const value& jwk) {
  const auto text = [&jwk](std::string_view name) { return jwk.string_at(name).value_or(""); };
  const auto type = text("kty");
  const auto curve = text("crv");
  std::optional<algorithm> out;
  if (type == "RSA") out = algorithm::rs256;
  if (type == "EC" && curve == "P-256") out = algorithm::es256;
  if (type == "OKP" && curve == "Ed25519") out = algorithm::eddsa;
  if (!out) return fail(errc::unsupported, "the key's type or curve is not supported");
  if (const auto* named = jwk.find("alg"); named != nullptr && text("alg") != name_of(*out))
    return fail(errc::unsupported, "the key's algorithm is not supported");
  if (const auto* use = jwk.find("use"); use != nullptr && text("use") != "sig")
    return fail(errc::unsupported, "the key is not for signatures");
  if (const auto* uses = jwk.find("key_ops"); uses != nullptr) {
    const auto* all = uses->as_array();
    const auto checks = [](const value& one) { return one.as_string() != nullptr && *one.as_string() == "verify"; };
    if (all == nullptr || std::none_of(all->begin(), all->end(), checks))
      return fail(errc::unsupported, "the key is not for verifying signatures");
  }
  return *out;
}

}  // namespace

result<public_key> public_key::of_jwk(const value& jwk) {
  if (jwk.as_object() == nullptr) return fail(errc::invalid_argument, "a key must be an object");
  HONDANA_TRY(const auto by, kind_of(jwk));
  std::string id;
  if (const auto* named = jwk.find("kid"); named != nullptr) {
    if (named->as_string() == nullptr || named->as_string()->size() > longest_id)
      return malformed("kid", "expected a string of at most " + std::to_string(longest_id) + " bytes");
    id = *named->as_string();
  }
  const quiet errors;
  HONDANA_TRY(auto key, by == algorithm::rs256 ? rsa_key(jwk) : by == algorithm::es256 ? p256_key(jwk) : ed25519_key(jwk));
  return public_key(by, std::move(id), std::make_shared<const inner>(inner{std::move(key)}));
}

bool public_key::verifies(std::string_view text, std::string_view signature) const {
  const quiet errors;
  std::string der;
  if (by_ == algorithm::es256) {
    auto made = der_of(signature);
    if (!made) return false;
    der = std::move(*made);
    signature = der;
  }
  const digest_context context(EVP_MD_CTX_new());
  const auto* digest = by_ == algorithm::eddsa ? nullptr : EVP_sha256();
  return context && EVP_DigestVerifyInit(context.get(), nullptr, digest, nullptr, key_->key.get()) == 1 &&
         EVP_DigestVerify(context.get(), reinterpret_cast<const unsigned char*>(signature.data()), signature.size(),
                          reinterpret_cast<const unsigned char*>(text.data()), text.size()) == 1;
}

result<key_set> key_set::parse(std::string_view text) {
  const auto parsed = value::parse(text, {.bytes = most_bytes, .values = 20 * most_keys});
  if (!parsed)
    return fail(errc::invalid_argument, "the key set is not valid JSON, or too large: " + parsed.error().public_text);
  const auto* keys = parsed->find("keys");
  const auto* all = keys == nullptr ? nullptr : keys->as_array();
  if (all == nullptr) return fail(errc::invalid_argument, "the key set has no array \"keys\"");
  if (all->size() > most_keys)
    return fail(errc::invalid_argument, "the key set has more than " + std::to_string(most_keys) + " keys");
  key_set out;
  for (const auto& one : *all) {
    auto key = public_key::of_jwk(one);
    if (!key) continue;  // keys of other algorithms are ignored
    const auto is_same = [&key](const public_key& other) {
      return !key->id().empty() && other.id() == key->id() && other.by() == key->by();
    };
    if (std::any_of(out.all_.begin(), out.all_.end(), is_same))
      return fail(errc::invalid_argument, "the key set has two keys with the same id");
    out.all_.push_back(std::move(*key));
  }
  return out;
}

std::vector<public_key> key_set::candidates(algorithm by, std::string_view id) const {
  std::vector<public_key> out;
  std::copy_if(all_.begin(), all_.end(), std::back_inserter(out),
               [&](const public_key& one) { return one.by() == by && (id.empty() || one.id() == id); });
  return out;
}

bool key_set::has(std::string_view id) const noexcept {
  return std::any_of(all_.begin(), all_.end(), [id](const public_key& one) { return one.id() == id; });
}

struct signing_key::inner {
  key_pointer key;
};

namespace {

constexpr std::size_t longest_pem = 64 * 1024;
constexpr int least_rsa_bits = 2048;

/// A password callback that fails, so that OpenSSL does not prompt on the terminal for an encrypted key.
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

/// A number of the key in base64url, padded to `size` bytes; 0: not padded.
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
