/// A fast 128-bit digest that detects changes between two passes over the same content.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace hondana::bytes {

/// A 128-bit digest. Equal contents have equal digests. It does not protect against crafted collisions.
using digest = std::array<std::uint64_t, 2>;

/// Computes a digest of bytes that are fed in pieces.
class digester {
 public:
  digester();
  ~digester();
  digester(digester&&) noexcept;
  digester& operator=(digester&&) noexcept;

  void update(std::string_view bytes);
  [[nodiscard]] digest value() const;
  void reset();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

[[nodiscard]] digest digest_of(std::string_view bytes);
/// Formats a digest as 32 lower-case hexadecimal digits.
[[nodiscard]] std::string to_hex(const digest& value);

}  // namespace hondana::bytes
