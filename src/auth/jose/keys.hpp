/// Keys that check signatures, and sets of them as issuers publish them.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>
#include <hondana/value.hpp>

#include "auth/jose/algorithm.hpp"

namespace hondana::jose {

/// Checks signatures by one algorithm, whatever a token says. Copies share the key. Threads: any.
class public_key {
 public:
  /// Takes a JSON Web Key. Errors: unsupported for a type, curve, use or algorithm that is none of ours; invalid_argument for a
  /// malformed or weak one (RSA below 2048 bits), naming the member. Spec: RFC 7517 section 4, RFC 7518 section 6, RFC 8037.
  [[nodiscard]] static result<public_key> of_jwk(const value& jwk);

  [[nodiscard]] algorithm by() const noexcept { return by_; }
  /// Empty when it has none.
  [[nodiscard]] const std::string& id() const noexcept { return id_; }
  [[nodiscard]] bool verifies(std::string_view text, std::string_view signature) const;

 private:
  struct inner;
  public_key(algorithm by, std::string id, std::shared_ptr<const inner> key) noexcept
      : by_(by), id_(std::move(id)), key_(std::move(key)) {}

  algorithm by_;
  std::string id_;
  std::shared_ptr<const inner> key_;
};

/// A JSON Web Key Set. Threads: any, as for a const object.
class key_set {
 public:
  static constexpr std::size_t most_bytes = 256 * 1024;
  static constexpr std::size_t most_keys = 100;

  key_set() = default;
  /// Keys of no use to us are left out, as RFC 7517 section 5 wants. Errors: invalid_argument for what is no set, for one of
  /// more than `most_bytes` or `most_keys`, and for two keys of one id and algorithm.
  [[nodiscard]] static result<key_set> parse(std::string_view text);

  /// Those that may have signed: of this algorithm and, when `id` is not empty, of this id.
  [[nodiscard]] std::vector<public_key> candidates(algorithm by, std::string_view id) const;
  [[nodiscard]] bool has(std::string_view id) const noexcept;
  [[nodiscard]] std::size_t size() const noexcept { return all_.size(); }

 private:
  std::vector<public_key> all_;
};

}  // namespace hondana::jose
