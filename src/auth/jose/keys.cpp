/// Keys from JSON.
#include "auth/jose/keys.hpp"

#include <openssl/core_names.h>

#include <algorithm>
#include <utility>

#include "auth/jose/openssl.hpp"
#include "auth/jose/signature.hpp"
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
  const auto point = '\x04' + x + y;  // uncompressed
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

/// Which algorithm a key is for, by its type and curve.
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
    if (!key) continue;  // others may be for other programs
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

}  // namespace hondana::jose
