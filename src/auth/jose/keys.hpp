/// Private keys for signing and public keys for verifying, in PEM and as JSON Web Keys.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>
#include <hondana/value.hpp>

namespace hondana::jose {

/// Signature algorithms: RSA, ECDSA with P-256, Ed25519. "none" and algorithms with shared secrets are not supported. Spec: RFC
/// 7518 section 3.1, RFC 8037 section 3.1.
enum class algorithm : std::uint8_t { rs256, es256, eddsa };

/// Returns the `alg` of tokens and keys: "RS256", "ES256", "EdDSA".
[[nodiscard]] constexpr std::string_view name_of(algorithm alg) noexcept {
  switch (alg) {
    case algorithm::rs256:
      return "RS256";
    case algorithm::es256:
      return "ES256";
    case algorithm::eddsa:
      break;
  }
  return "EdDSA";
}

/// Parses an `alg`; empty for other names.
[[nodiscard]] constexpr std::optional<algorithm> parse_algorithm(std::string_view name) noexcept {
  for (const auto alg : {algorithm::rs256, algorithm::es256, algorithm::eddsa}) {
    if (name_of(alg) == name) return alg;
  }
  return {};
}

/// Verifies signatures with one fixed algorithm. Copies share the key. Threads: any.
class public_key {
 public:
  /// Parses a JSON Web Key. Errors: unsupported for other types, curves, uses or algorithms; invalid_argument, naming the
  /// member, for a malformed key, or RSA below 2048 or above 8192 bits. Spec: RFC 7517 section 4, RFC 7518 section 6, RFC 8037.
  [[nodiscard]] static result<public_key> from_jwk(const value& jwk);

  [[nodiscard]] algorithm alg() const noexcept { return alg_; }
  /// `kid`; empty if absent.
  [[nodiscard]] const std::string& id() const noexcept { return id_; }
  /// Whether `signature` is a signature of `text` by this key's private key. It has the decoded form of tokens.
  [[nodiscard]] bool verifies(std::string_view text, std::string_view signature) const;

 private:
  struct impl;
  public_key(algorithm alg, std::string id, std::shared_ptr<const impl> key) noexcept
      : alg_(alg), id_(std::move(id)), key_(std::move(key)) {}

  algorithm alg_;
  std::string id_;
  std::shared_ptr<const impl> key_;
};

/// A JSON Web Key Set. Threads: any, because it has only const functions.
class key_set {
 public:
  static constexpr std::size_t max_bytes = 256 * 1024;
  static constexpr std::size_t max_keys = 100;

  key_set() = default;
  /// Parses a set; ignores the keys that `public_key::from_jwk` rejects (RFC 7517 section 5). Errors: invalid_argument for a
  /// malformed set, for more than `max_bytes` or `max_keys`, and for two keys with the same id and algorithm.
  [[nodiscard]] static result<key_set> parse(std::string_view text);

  /// The keys with this algorithm and, unless `id` is empty, this id.
  [[nodiscard]] std::vector<public_key> candidates(algorithm alg, std::string_view id) const;
  /// Whether a key has this id.
  [[nodiscard]] bool contains(std::string_view id) const noexcept;
  [[nodiscard]] std::size_t size() const noexcept { return keys_.size(); }

 private:
  std::vector<public_key> keys_;
};

/// Signs tokens with a private key. Copies share the key. Threads: any.
class signing_key {
 public:
  /// Parses an unencrypted private key in PEM. Errors: invalid_argument for anything else, for unsupported algorithms, and for
  /// RSA below 2048 bits.
  [[nodiscard]] static result<signing_key> from_pem(std::string_view pem);

  [[nodiscard]] algorithm alg() const noexcept { return alg_; }
  /// Returns the signed token with these claims, an object. `id`: the key's `kid`; empty: none. Errors: internal.
  [[nodiscard]] result<std::string> sign(const value& claims, std::string_view id = {}) const;
  /// Returns the public key as a JSON Web Key. `id`: its `kid`; empty: none. Errors: internal.
  [[nodiscard]] result<value> public_jwk(std::string_view id = {}) const;

 private:
  struct impl;
  signing_key(algorithm alg, std::shared_ptr<const impl> key) noexcept : alg_(alg), key_(std::move(key)) {}

  algorithm alg_;
  std::shared_ptr<const impl> key_;
};

}  // namespace hondana::jose
