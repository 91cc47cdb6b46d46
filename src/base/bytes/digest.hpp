/// A fast digest of 128 bits, which tells two passes over the same content apart.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace hondana::bytes {

/// 128 bits; equal contents have equal digests. Not a defence against an adversary who crafts collisions.
using digest = std::array<std::uint64_t, 2>;

/// Takes bytes in pieces.
class digester {
 public:
  digester();
  ~digester();
  digester(digester&&) noexcept;
  digester& operator=(digester&&) noexcept;

  void feed(std::string_view bytes);
  [[nodiscard]] digest value() const;
  void reset();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

[[nodiscard]] digest digest_of(std::string_view bytes);
/// 32 lower-case hexadecimal digits.
[[nodiscard]] std::string to_hex(const digest& value);

}  // namespace hondana::bytes
