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

/// Computes the digest of content that is added in pieces.
class digester {
 public:
  digester();
  ~digester();
  digester(digester&&) noexcept;
  digester& operator=(digester&&) noexcept;

  /// Adds a piece.
  void update(std::string_view bytes);
  /// The digest of the pieces so far.
  [[nodiscard]] digest value() const;
  /// Begins a new content.
  void reset();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

[[nodiscard]] digest digest_of(std::string_view bytes);
/// Formats a digest as 32 lower-case hexadecimal digits.
[[nodiscard]] std::string to_hex(const digest& value);

}  // namespace hondana::bytes
