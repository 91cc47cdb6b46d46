/// Writes and reads numbers of any bit length in a string of bytes.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace hondana::samples {

/// Zigzag encoding: maps signed numbers of small magnitude to small unsigned numbers.
[[nodiscard]] constexpr std::uint64_t unsigned_of(std::int64_t number) noexcept {
  return (static_cast<std::uint64_t>(number) << 1) ^ static_cast<std::uint64_t>(number >> 63);
}
[[nodiscard]] constexpr std::int64_t signed_of(std::uint64_t number) noexcept {
  return static_cast<std::int64_t>((number >> 1) ^ (~(number & 1) + 1));
}
/// Differences and sums of times are modulo 2^64: they cannot overflow, and each difference can be reversed.
[[nodiscard]] constexpr std::int64_t wrapped_difference(std::int64_t a, std::int64_t b) noexcept {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}
[[nodiscard]] constexpr std::int64_t wrapped_sum(std::int64_t a, std::int64_t b) noexcept {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

/// Appends bits to a string. `finish` pads the last byte with zeros.
class bit_writer {
 public:
  explicit bit_writer(std::string& to) noexcept : to_(to) {}

  /// Appends the lowest `count` bits, at most 64.
  void put(std::uint64_t bits, unsigned count) {
    if (count > 32) {
      put_few(static_cast<std::uint32_t>(bits >> 32), count - 32);
      count = 32;
    }
    put_few(static_cast<std::uint32_t>(bits), count);
  }
  /// Appends a number in `cost(number, k)` bits. With `high = number >> k`: the bit width of `high` in unary, as zeros and a
  /// one. Then the bits of `high` below its leading one, and the lowest `k` bits of `number`.
  void put_number(std::uint64_t number, unsigned k) {
    const std::uint64_t high = number >> k;
    const auto length = static_cast<unsigned>(std::bit_width(high));
    put(0, length);
    put(1, 1);
    if (length > 1) put(high, length - 1);
    put(number, k);
  }
  [[nodiscard]] static unsigned cost(std::uint64_t number, unsigned k) noexcept {
    const auto length = static_cast<unsigned>(std::bit_width(number >> k));
    return length + 1 + (length > 1 ? length - 1 : 0) + k;
  }
  void finish() {
    if (held_ > 0) to_.push_back(static_cast<char>(bits_ << (8 - held_)));
    held_ = 0;
  }

 private:
  void put_few(std::uint32_t bits, unsigned count) {
    if (count == 0) return;
    bits_ = (bits_ << count) | (bits & (0xffffffffu >> (32 - count)));
    held_ += count;
    while (held_ >= 8) {
      held_ -= 8;
      to_.push_back(static_cast<char>(bits_ >> held_));
    }
  }

  std::string& to_;
  std::uint64_t bits_ = 0;
  unsigned held_ = 0;  // fewer than 8 between calls
};

/// Reads the output of `bit_writer`. Beyond the end, it reads zeros and sets `is_beyond`.
class bit_reader {
 public:
  explicit bit_reader(std::string_view from) noexcept : from_(from) {}

  [[nodiscard]] std::uint64_t take(unsigned count) noexcept {
    if (count > 32) {
      const std::uint64_t high = take_few(count - 32);
      return (high << 32) | take_few(32);
    }
    return take_few(count);
  }
  [[nodiscard]] std::uint64_t take_number(unsigned k) noexcept {
    unsigned length = 0;
    while (take_few(1) == 0) {
      if (++length > 64 || is_beyond_) {
        is_beyond_ = true;
        return 0;
      }
    }
    std::uint64_t high = 0;
    if (length == 1) high = 1;
    if (length > 1) high = (std::uint64_t{1} << (length - 1)) | take(length - 1);
    return (k == 0 ? high : high << k) | take(k);
  }
  [[nodiscard]] bool is_beyond() const noexcept { return is_beyond_; }
  /// Bytes read so far, including a partly read one.
  [[nodiscard]] std::size_t used() const noexcept { return at_; }

 private:
  std::uint64_t take_few(unsigned count) noexcept {
    if (count == 0) return 0;
    while (held_ < count) {
      if (at_ < from_.size()) {
        bits_ = (bits_ << 8) | static_cast<unsigned char>(from_[at_++]);
      } else {
        bits_ <<= 8;
        is_beyond_ = true;
      }
      held_ += 8;
    }
    held_ -= count;
    return (bits_ >> held_) & (0xffffffffu >> (32 - count));
  }

  std::string_view from_;
  std::size_t at_ = 0;
  std::uint64_t bits_ = 0;
  unsigned held_ = 0;
  bool is_beyond_ = false;
};

/// Appends a variable-length number: seven bits per byte, lowest bits first.
inline void put_varint(std::string& to, std::uint64_t number) {
  while (number >= 0x80) {
    to.push_back(static_cast<char>(number | 0x80));
    number >>= 7;
  }
  to.push_back(static_cast<char>(number));
}
/// Returns false if the number is incomplete or exceeds 64 bits.
[[nodiscard]] inline bool take_varint(std::string_view& from, std::uint64_t& number) noexcept {
  number = 0;
  for (unsigned shift = 0; shift < 64 && !from.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(from.front());
    from.remove_prefix(1);
    if (shift == 63 && byte > 1) return false;
    number |= std::uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

}  // namespace hondana::samples
