/// Seals values that a client must send back, so that it cannot change them, share them, or use them after they expire.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <hondana/error.hpp>
#include <hondana/value.hpp>

namespace hondana::seal {

/// The request that a sealed value belongs to. `unseal` rejects the value for any other request.
struct binding {
  std::string_view caller;      ///< Identity of the caller that received it.
  std::string_view method;      ///< Method of the request that it continues.
  std::string_view parameters;  ///< Parameters of that request in a canonical form: equal parameters have equal text.
};

using clock = std::chrono::system_clock;

/// Seals and encrypts with one key. A seal is an HMAC-SHA256 over the value, its expiry and its binding. Threads: any.
class sealer {
 public:
  /// Makes a sealer with a key of 32 or more bytes. Errors: invalid_argument for a shorter key.
  [[nodiscard]] static result<std::shared_ptr<const sealer>> with_key(std::string key);
  /// Makes a sealer with a key from the system's generator. Errors: internal if that fails.
  [[nodiscard]] static result<std::shared_ptr<const sealer>> with_random_key();

  /// Seals `content`, which the client can read but not change. The result is Base64url.
  /// Errors: invalid_argument if its JSON has more than `max_bytes` bytes.
  [[nodiscard]] result<std::string> seal(const value& content, const binding& context, clock::time_point expires_at) const;
  /// Returns the sealed value. Errors: invalid_argument if `sealed` is not a result of `seal` with this key, is bound to
  /// another request, or has expired. The text starts with "requestState".
  [[nodiscard]] result<value> unseal(std::string_view sealed, const binding& context, clock::time_point now) const;

  /// Encrypts `text` so that only `decrypt` with the same key and the same `associated_data` can read it. The result is bytes.
  /// Deterministic: equal arguments have equal results. The size of the result reveals the size of `text`, rounded to 64
  /// bytes.
  [[nodiscard]] std::string encrypt(std::string_view text, std::string_view associated_data) const;
  /// Returns the text; nullopt if `encrypted` was not made by `encrypt` with this key for `associated_data`.
  [[nodiscard]] std::optional<std::string> decrypt(std::string_view encrypted, std::string_view associated_data) const;
  /// The maximum size of the result of `encrypt` for a text of `bytes` bytes.
  [[nodiscard]] static constexpr std::size_t max_encrypted_bytes(std::size_t bytes) noexcept { return bytes + 128; }

  /// The maximum size of the JSON of a value for `seal`.
  static constexpr std::size_t max_bytes = 16 * 1024;

 private:
  explicit sealer(std::string key) : key_(std::move(key)) {}
  std::string key_;
};

}  // namespace hondana::seal
