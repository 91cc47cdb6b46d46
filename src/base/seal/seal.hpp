/// Seals small values that pass through a client, so that it cannot change, lend or keep them.
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

/// What a sealed value belongs to; a different one makes it worthless.
struct binding {
  std::string_view caller;      ///< Identity of who was given it.
  std::string_view method;      ///< Of the request it continues.
  std::string_view parameters;  ///< Of that request, as a text that is equal for equal parameters.
};

using clock = std::chrono::system_clock;

/// HMAC-SHA256 over the value, its expiry and its binding, under one key. Threads: any.
class sealer {
 public:
  /// A key of 32 or more bytes. Errors: invalid_argument for a shorter one.
  [[nodiscard]] static result<std::shared_ptr<const sealer>> with_key(std::string key);
  /// A key from the system's generator. Errors: internal when it fails.
  [[nodiscard]] static result<std::shared_ptr<const sealer>> with_random_key();

  /// At most `max_bytes` of JSON. Errors: invalid_argument when `what` is bigger.
  [[nodiscard]] result<std::string> close(const value& what, const binding& to, clock::time_point expires) const;
  /// The value. Errors: invalid_argument; the text starts with "requestState" and says whether it is broken or too old, and
  /// nothing more.
  [[nodiscard]] result<value> open(std::string_view sealed, const binding& of, clock::time_point now) const;

  /// `text` so that only `reveal` can read it, and only for the same `to`; equal for equal arguments. Its length shows that of
  /// the text to 64 bytes and no nearer.
  [[nodiscard]] std::string hide(std::string_view text, std::string_view to) const;
  /// The text. Nothing: `hide` of this key did not make it for `of`.
  [[nodiscard]] std::optional<std::string> reveal(std::string_view hidden, std::string_view of) const;
  /// What `hide` makes of `bytes` bytes has at most so many.
  [[nodiscard]] static constexpr std::size_t hidden_bytes(std::size_t bytes) noexcept { return bytes + 128; }

  static constexpr std::size_t max_bytes = 16 * 1024;

 private:
  explicit sealer(std::string key) : key_(std::move(key)) {}
  std::string key_;
};

}  // namespace hondana::seal
