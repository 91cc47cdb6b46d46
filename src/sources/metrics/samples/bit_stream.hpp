/// Writes and reads numbers of any bit length in a string of bytes.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace hondana::samples {

/// Zigzag encoding: maps signed numbers of small magnitude to small unsigned numbers.
[[nodiscard]] constexpr std::uint64_t zigzag_encode(std::int64_t number) noexcept {
  return (static_cast<std::uint64_t>(number) << 1) ^ static_cast<std::uint64_t>(number >> 63);
}
/// Reverses `zigzag_encode`.
[[nodiscard]] constexpr std::int64_t zigzag_decode(std::uint64_t number) noexcept {
  return static_cast<std::int64_t>((number >> 1) ^ (~(number & 1) + 1));
}
/// Returns `a - b` modulo 2^64, so that it cannot overflow.
[[nodiscard]] constexpr std::int64_t wrapped_difference(std::int64_t a, std::int64_t b) noexcept {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}
/// Returns `a + b` modulo 2^64. Reverses `wrapped_difference`.
[[nodiscard]] constexpr std::int64_t wrapped_sum(std::int64_t a, std::int64_t b) noexcept {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

/// Appends bits to a string, the most significant bit of each byte first. `finish` must be called at the end.
class bit_writer {
 public:
  explicit bit_writer(std::string& output) noexcept : output_(output) {}

  /// Appends the lowest `count` bits of `bits`. `count`: at most 64.
  void write(std::uint64_t bits, unsigned count) {
    if (count > 32) {
      write_few(static_cast<std::uint32_t>(bits >> 32), count - 32);
      count = 32;
    }
    write_few(static_cast<std::uint32_t>(bits), count);
  }
  /// Appends a number in `cost(number, k)` bits. With `high = number >> k`: the bit width of `high` in unary, as zeros and a
  /// one. Then the bits of `high` below its leading one, and the lowest `k` bits of `number`.
  void write_number(std::uint64_t number, unsigned k) {
    const std::uint64_t high = number >> k;
    const auto length = static_cast<unsigned>(std::bit_width(high));
    write(0, length);
    write(1, 1);
    if (length > 1) write(high, length - 1);
    write(number, k);
  }
  /// Returns how many bits `write_number` appends.
  [[nodiscard]] static unsigned cost(std::uint64_t number, unsigned k) noexcept {
    const auto length = static_cast<unsigned>(std::bit_width(number >> k));
    return length + 1 + (length > 1 ? length - 1 : 0) + k;
  }
  /// Pads the last byte with zeros.
  void finish() {
    if (pending_ > 0) output_.push_back(static_cast<char>(bits_ << (8 - pending_)));
    pending_ = 0;
  }

 private:
  void write_few(std::uint32_t bits, unsigned count) {
    if (count == 0) return;
    bits_ = (bits_ << count) | (bits & (0xffffffffu >> (32 - count)));
    pending_ += count;
    while (pending_ >= 8) {
      pending_ -= 8;
      output_.push_back(static_cast<char>(bits_ >> pending_));
    }
  }

  std::string& output_;
  std::uint64_t bits_ = 0;
  unsigned pending_ = 0;  // fewer than 8 between calls
};

/// Reads the output of `bit_writer`. Beyond the end, it reads zeros and sets `is_past_end`.
class bit_reader {
 public:
  explicit bit_reader(std::string_view input) noexcept : input_(input) {}

  /// Reads `count` bits, at most 64.
  [[nodiscard]] std::uint64_t read(unsigned count) noexcept {
    if (count > 32) {
      const std::uint64_t high = read_few(count - 32);
      return (high << 32) | read_few(32);
    }
    return read_few(count);
  }
  /// Reads a number of `bit_writer::write_number` with the same `k`. Returns 0 if it is malformed, and sets `is_past_end`.
  [[nodiscard]] std::uint64_t read_number(unsigned k) noexcept {
    unsigned length = 0;
    while (read_few(1) == 0) {
      if (++length > 64 || is_past_end_) {
        is_past_end_ = true;
        return 0;
      }
    }
    std::uint64_t high = 0;
    if (length == 1) high = 1;
    if (length > 1) high = (std::uint64_t{1} << (length - 1)) | read(length - 1);
    return (k == 0 ? high : high << k) | read(k);
  }
  [[nodiscard]] bool is_past_end() const noexcept { return is_past_end_; }
  /// Bytes read so far, including a partly read one.
  [[nodiscard]] std::size_t consumed_bytes() const noexcept { return position_; }

 private:
  std::uint64_t read_few(unsigned count) noexcept {
    if (count == 0) return 0;
    while (available_ < count) {
      if (position_ < input_.size()) {
        bits_ = (bits_ << 8) | static_cast<unsigned char>(input_[position_++]);
      } else {
        bits_ <<= 8;
        is_past_end_ = true;
      }
      available_ += 8;
    }
    available_ -= count;
    return (bits_ >> available_) & (0xffffffffu >> (32 - count));
  }

  std::string_view input_;
  std::size_t position_ = 0;
  std::uint64_t bits_ = 0;
  unsigned available_ = 0;
  bool is_past_end_ = false;
};

/// Appends a variable-length number: seven bits per byte, lowest bits first.
inline void append_varint(std::string& output, std::uint64_t number) {
  while (number >= 0x80) {
    output.push_back(static_cast<char>(number | 0x80));
    number >>= 7;
  }
  output.push_back(static_cast<char>(number));
}
/// Removes a number of `append_varint` from the beginning of `input`. Returns false if it is incomplete or exceeds 64 bits.
[[nodiscard]] inline bool read_varint(std::string_view& input, std::uint64_t& number) noexcept {
  number = 0;
  for (unsigned shift = 0; shift < 64 && !input.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(input.front());
    input.remove_prefix(1);
    if (shift == 63 && byte > 1) return false;
    number |= std::uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

}  // namespace hondana::samples
