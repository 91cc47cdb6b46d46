/// Keys that sign.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <hondana/error.hpp>
#include <hondana/value.hpp>

#include "auth/jose/algorithm.hpp"

namespace hondana::jose {

/// Signs tokens. Copies share the key. Threads: any.
class signing_key {
 public:
  /// Reads a private key in PEM, not encrypted. Errors: invalid_argument for what is no such key or for one of no algorithm of
  /// ours, and for an RSA key below 2048 bits.
  [[nodiscard]] static result<signing_key> of_pem(std::string_view pem);

  [[nodiscard]] algorithm by() const noexcept { return by_; }
  /// A token with these claims, an object; `id`, if any, is its `kid`. Errors: internal.
  [[nodiscard]] result<std::string> sign(const value& claims, std::string_view id = {}) const;
  /// The key that checks what this one signs, as a JSON Web Key. Errors: internal.
  [[nodiscard]] result<value> public_jwk(std::string_view id = {}) const;

 private:
  struct inner;
  signing_key(algorithm by, std::shared_ptr<const inner> key) noexcept : by_(by), key_(std::move(key)) {}

  algorithm by_;
  std::shared_ptr<const inner> key_;
};

}  // namespace hondana::jose
