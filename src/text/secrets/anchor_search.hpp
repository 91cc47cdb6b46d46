/// A fast search for byte patterns that may begin a secret.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace hondana::secrets {

/// Four sets of bytes, one after the other. A byte matches itself, `[abc]` one of several bytes, `[0-9]` a range.
using anchor = std::string_view;
inline constexpr std::size_t anchor_bytes = 4;
inline constexpr std::size_t most_anchors = 128;

/// A set of anchors, one bit each.
struct anchor_bits {
  std::uint64_t low = 0;
  std::uint64_t high = 0;

  anchor_bits& operator&=(const anchor_bits& other) noexcept {
    low &= other.low;
    high &= other.high;
    return *this;
  }
  friend anchor_bits operator&(anchor_bits a, const anchor_bits& b) noexcept { return a &= b; }
  [[nodiscard]] bool any() const noexcept { return (low | high) != 0; }
  void set(std::size_t number) noexcept { (number < 64 ? low : high) |= std::uint64_t{1} << (number % 64); }
  /// Calls `each` with the numbers of the bits that are set.
  template <class Each>
  void for_each(Each&& each) const {
    for (auto left = low; left != 0; left &= left - 1) each(static_cast<std::size_t>(__builtin_ctzll(left)));
    for (auto left = high; left != 0; left &= left - 1) each(static_cast<std::size_t>(__builtin_ctzll(left)) + 64);
  }
  bool operator==(const anchor_bits&) const = default;
};

/// A position at which anchors match.
struct candidate {
  std::size_t at = 0;
  anchor_bits which;

  bool operator==(const candidate&) const = default;
};

/// Searches for up to `most_anchors` anchors at once. A filter with two table look-ups for each of the four bytes tests 64
/// positions at a time with AVX2. It distinguishes sixteen groups of anchors in text, and eight in binary content, which rarely
/// resembles an anchor. Positions that pass the filter are compared exactly. Threads: any; immutable.
class anchor_search {
 public:
  explicit anchor_search(std::span<const anchor> anchors);

  /// Replaces `into` by every position in `text` at which an anchor matches, in order.
  void find(std::string_view text, std::vector<candidate>& into) const;
  /// Like `find`, but without processor-specific instructions.
  void find_portably(std::string_view text, std::vector<candidate>& into) const;

 private:
  struct nibbles {
    alignas(16) std::array<std::uint8_t, 16> low{};
    alignas(16) std::array<std::uint8_t, 16> high{};
  };

  /// Each group of a set has one bit.
  using group_set = std::array<nibbles, anchor_bytes>;

  template <bool is_wide, std::size_t sets>
  void find_by_vectors(const std::array<group_set, sets>& groups, std::string_view text, std::vector<candidate>& into) const;
  [[nodiscard]] anchor_bits which_at(const char* place) const noexcept {
    static_assert(anchor_bytes == 4);
    const auto with = [this, place](std::size_t i) -> const anchor_bits& {
      return exact_[i][static_cast<unsigned char>(place[i])];
    };
    return with(0) & with(1) & with(2) & with(3);
  }

  std::array<std::array<anchor_bits, 256>, anchor_bytes> exact_{};  // by position and byte: the anchors that match
  std::array<group_set, 2> fine_{};
  std::array<group_set, 1> coarse_{};
  bool is_wide_ = false;  // an anchor has a byte above 127
};

}  // namespace hondana::secrets
